"""Change configurations at random in small steps, as operators and controllers do.

`{p0}` to `{p3}` stand for ports of servers, `{b0}` to `{b2}` for ports of frontends.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

ADDRESSES = [f"127.0.0.{last}" for last in range(2, 6)]
# A further address of checks, to which the names below resolve.
LOOPBACK = "127.0.0.1"
PORTS, BINDS = 4, 3
# The number of servers in the first configuration.
FIRST = 12
# Addresses of servers with the port `{p}`. The socket and the file read those in ODD differently, or refuse them.
PLAIN = [f"{address}:{{p}}" for address in ADDRESSES]
ODD = [
    *["localhost:{p}"] * 6,
    "127.2:{p}",
    "ipv4@127.0.0.2:{p}",
    "[::1]:{p}",
    "::ffff:127.0.0.2:{p}",
    "0.0.0.0:{p}",
    "*:{p}",
    "127.0.0.2:0{p}",
    "127.0.0.2:0",
    "127.0.0.2:+1",
    "127.0.0.2",
    "127.0.0.2:{p}:{p}",
    "127.0.0.2:65536",
    "nosuch.invalid:{p}",
    "nosuch.invalid:{p} init-addr none",
]
HEAD = """\
global
    stats socket {stats} level admin
    maxconn 1000
    ssl-server-verify none

defaults base
    mode http
    balance roundrobin
    timeout connect 1s
    timeout client 5s
    timeout server 5s
    timeout check 1s

defaults checked from base
    option httpchk GET /
    default-server inter 70ms agent-inter 70ms rise 1 fall 1

"""
# Options of `server` and `default-server` lines, with their possible words.
OPTIONS: dict[str, list[str]] = {
    "weight": ["weight 0", "weight 1", "weight 7", "weight 100", "weight 256", "weight 007", "weight 50%"],
    "maxconn": ["maxconn 0", "maxconn 4", "maxconn 10", "maxconn 30"],
    "minconn": ["minconn 5", "minconn 10"],
    "maxqueue": ["maxqueue 9"],
    "check": ["check", "check", "check", "no-check"],
    "port": ["port {p1}", "port {p2}", "port 0{p2}"],
    "addr": ["addr 127.0.0.4", "addr 127.0.0.5", "addr localhost", "addr ::ffff:127.0.0.4:5"],
    "agent": ["agent-check", "agent-check", "no-agent-check"],
    "agent-port": ["agent-port {p2}", "agent-port {p3}"],
    "agent-addr": ["agent-addr 127.0.0.3", "agent-addr 127.0.0.2", "agent-addr localhost"],
    "agent-send": ["agent-send hello", "agent-send other"],
    "agent-inter": ["agent-inter 70ms"],
    "ssl": ["ssl", "ssl", "no-ssl"],
    "verify": ["verify none"],
    "check-ssl": ["check-ssl", "no-check-ssl"],
    "disabled": ["disabled", "disabled", "enabled"],
    "backup": ["backup"],
    "cookie": ["cookie a", "cookie b", 'cookie "c;\\\\d e"'],
    "inter": ["inter 60ms", "inter 60000us"],
    "pool-max-conn": ["pool-max-conn 3"],
    "rise": ["rise 1", "rise 2"],
    "send-proxy": ["send-proxy"],
    "check-send-proxy": ["check-send-proxy"],
    "alpn": ["alpn h2,http/1.1"],
    "check-sni": ["check-sni named.example"],
}
# Load balancing of a backend. With static methods, HAProxy accepts no weights and no new servers at runtime.
BALANCE = {
    "balance": ["", "roundrobin", "leastconn", "first", "random", "random(3)", "static-rr", "source", "uri", "url_param x", "hdr(Host)"],
    "hash-type": ["", "", "consistent", "map-based", "consistent sdbm avalanche"],
}
# The options that the walk changes most often.
LIVELY = ("weight", "maxconn", "check", "port", "addr", "agent", "agent-port", "agent-addr", "ssl", "disabled")
OPTION_WORDS = list(OPTIONS)


@dataclass
class Server:
    name: str
    place: str
    port: int
    options: dict[str, str] = field(default_factory=dict)

    def line(self) -> str:
        place = self.place.replace("{p}", f"{{p{self.port}}}")
        return f"    server {self.name} {place} {' '.join(self.options.values())}".rstrip()


@dataclass
class Backend:
    name: str
    balance: str = "roundrobin"
    hashing: str = ""
    fullconn: int = 0
    inherited: list[dict[str, str]] = field(default_factory=list)
    servers: list[Server] = field(default_factory=list)
    template: dict[str, str] | None = None

    def text(self) -> str:
        lines = [f"backend {self.name} from checked", *([f"    balance {self.balance}"] if self.balance else [])]
        lines += [f"    hash-type {self.hashing}"] if self.hashing else []
        lines += [f"    fullconn {self.fullconn}"] if self.fullconn else []
        lines += [f"    default-server {' '.join(options.values())}" for options in self.inherited if options]
        if self.template is not None:
            lines.append(f"    server-template t 2 127.0.0.3:{{p1}} {' '.join(self.template.values())}".rstrip())
        return "\n".join([*lines, *(server.line() for server in self.servers), ""])


@dataclass
class Frontend:
    name: str
    bind: int
    backend: str
    maxconn: int = 100

    def text(self) -> str:
        limit = f"    maxconn {self.maxconn}\n" if self.maxconn else ""
        return f"frontend {self.name} from base\n    bind 127.0.0.1:{{b{self.bind}}}\n{limit}    default_backend {self.backend}\n"


class Configuration:
    """A configuration with the text `text`, which `change` changes at random. Copy it with `copy.deepcopy` to undo a change.

    With `backends_come`, backends are added and deleted as well. Since HAProxy 3.4, most of these changes need no reload.
    """

    def __init__(self, seed: int, *, backends_come: bool = False) -> None:
        self.chance = random.Random(seed)
        self.backends_come = backends_come
        self.count = 0
        self.sections: list[Backend | Frontend] = [Backend(f"b{number}") for number in range(4)]
        self.sections += [Frontend(f"f{number}", number, f"b{number}") for number in range(BINDS)]
        for backend in self.backends:
            for _ in range(3):
                self._come(backend)
        self.backends[1].template = {}
        self.backends[2].fullconn = 50
        self.backends[0].inherited = [{"weight": "weight 3"}]

    @property
    def backends(self) -> list[Backend]:
        return [each for each in self.sections if isinstance(each, Backend)]

    @property
    def text(self) -> str:
        return HEAD + "\n".join(section.text() for section in self.sections)

    def change(self) -> str:
        """Make one or two random changes, and return their description."""
        times = 1 if self.chance.random() < 0.8 else 2
        return ", ".join(self._change() for _ in range(times))

    def _change(self) -> str:
        chances: list[tuple[int, Callable[[], str]]] = [
            (12, self._option_of_server),
            (6, self._moved_to),
            (8, self._added),
            (2, self._deleted),
            (2, self._option_of_default),
            (1, self._option_of_template),
            (2, self._limit),
            (2, self._balance),
            (1, self._moved),
            (1, self._server_moved),
            *([(6, self._backend_added), (4, self._backend_deleted)] if self.backends_come else []),
        ]
        return self.chance.choices([each for _, each in chances], [weight for weight, _ in chances])[0]()

    def _vary(self, options: dict[str, str]) -> str:
        """Add, change or remove an option. A new option may be the first, because the order of some options matters."""
        name = self.chance.choice(LIVELY if self.chance.random() < 0.7 else OPTION_WORDS)
        former = options.get(name)
        others = [said for said in OPTIONS[name] if said != former]
        if former and (not others or self.chance.random() < 0.4):
            del options[name]
            return f"-{former}"
        if former is None and self.chance.random() < 0.2:
            kept = dict(options)
            options.clear()
            options |= {name: self.chance.choice(others), **kept}
        else:
            options[name] = self.chance.choice(others)
        return f"+{options[name]}"

    def _backend(self) -> Backend:
        return self.chance.choice(self.backends)

    def _option_of_server(self) -> str:
        backend = self._backend()
        if not backend.servers:
            return self._added()
        server = self.chance.choice(backend.servers)
        return f"{backend.name}/{server.name} {self._vary(server.options)}"

    def _place(self) -> str:
        return self.chance.choice(ODD if self.chance.random() < 0.5 else PLAIN)

    def _moved_to(self) -> str:
        backend = self._backend()
        if not backend.servers:
            return self._added()
        server = self.chance.choice(backend.servers)
        if self.chance.random() < 0.6:
            server.place = self._place()
        else:
            server.port = self.chance.randrange(PORTS)
        return f"{backend.name}/{server.name} at {server.place}, p{server.port}"

    def _come(self, backend: Backend) -> Server:
        self.count += 1
        server = Server(f"s{self.count}", self._place() if self.count > FIRST else self.chance.choice(PLAIN), self.chance.randrange(PORTS))
        backend.servers.append(server)
        return server

    def _added(self) -> str:
        backend = self._backend()
        server = self._come(backend)
        for _ in range(self.chance.randrange(4)):
            self._vary(server.options)
        return f"{backend.name} {server.line().strip()}"

    def _deleted(self) -> str:
        backend = self._backend()
        if not backend.servers:
            return self._added()
        server = self.chance.choice(backend.servers)
        backend.servers.remove(server)
        return f"{backend.name} without {server.name}"

    def _option_of_default(self) -> str:
        backend = self._backend()
        if not backend.inherited or self.chance.random() < 0.2:
            backend.inherited.append({})
        return f"{backend.name} default-server {self._vary(self.chance.choice(backend.inherited))}"

    def _option_of_template(self) -> str:
        backend = next(each for each in self.backends if each.template is not None)
        assert backend.template is not None
        return f"{backend.name} server-template {self._vary(backend.template)}"

    def _limit(self) -> str:
        if self.chance.random() < 0.4:
            backend = self._backend()
            backend.fullconn = self.chance.choice([0, 50, 60])
            return f"{backend.name} fullconn {backend.fullconn}"
        frontend = self.chance.choice([each for each in self.sections if isinstance(each, Frontend)])
        frontend.maxconn = self.chance.choice([0, 100, 200, 250])
        return f"{frontend.name} maxconn {frontend.maxconn}"

    def _balance(self) -> str:
        backend = self._backend()
        backend.balance, backend.hashing = (self.chance.choice(BALANCE[name]) for name in ("balance", "hash-type"))
        return f"{backend.name} balance {backend.balance}, hash-type {backend.hashing}"

    def _moved(self) -> str:
        one, other = self.chance.sample(range(len(self.sections)), 2)
        self.sections[one], self.sections[other] = self.sections[other], self.sections[one]
        return f"{self.sections[one].name} and {self.sections[other].name} change places"

    def _server_moved(self) -> str:
        backend = self._backend()
        self.chance.shuffle(backend.servers)
        return f"{backend.name} {[server.name for server in backend.servers]}"

    def _backend_added(self) -> str:
        """Add a backend, which may have its own options and servers."""
        self.count += 1
        backend = Backend(f"n{self.count}", balance="leastconn" if self.chance.random() < 0.1 else "")
        self.sections.insert(self.chance.randrange(len(self.sections) + 1), backend)
        if self.chance.random() < 0.5:
            backend.inherited.append({})
            self._vary(backend.inherited[0])
        for _ in range(self.chance.randrange(4)):
            server = self._come(backend)
            for _ in range(self.chance.randrange(3)):
                self._vary(server.options)
        return f"new {backend.text()}"

    def _backend_deleted(self) -> str:
        """Delete a backend that no frontend uses. If there is none, add a backend."""
        used = {each.backend for each in self.sections if isinstance(each, Frontend)}
        free = [each for each in self.backends if each.name not in used and each.template is None]
        if not free:
            return self._backend_added()
        backend = self.chance.choice(free)
        self.sections.remove(backend)
        return f"no {backend.name} any more"
