"""Send random requests to a real HAProxy and to a shadow of it, with random configurations. Both must route the requests alike.

A configuration has rules of every family that the shadow rewrites. Each request comes from its own loopback address. The real HAProxy
therefore needs no PROXY header, which would hide differences in rules of connections.
"""

import asyncio
import contextlib
import random
import socket
import subprocess
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from haproxy_native.errors import NoShadow
from haproxy_native.features.explain.explanation import Explanation, explained
from haproxy_native.features.explain.question import Question, client_request
from haproxy_native.shadow.shadows import Shadows
from haproxy_native.shares import Account
from haproxy_native.text.document import Document
from tests.haproxy.process import HAProxy, ask, free_port

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Server: yes\r\n\r\n"
SILENCE = 0.5


@dataclass(frozen=True)
class Pair:
    """A request to send to both."""

    path: str
    host: str
    method: str
    source: str
    headers: Sequence[tuple[str, str]]

    @property
    def question(self) -> Question:
        return Question(self.path, self.method, self.host, self.headers, source=self.source, frontend="site", reply=[("X-Server", "yes")])


@dataclass(frozen=True)
class Answer:
    """How a request was routed, from the answer and the log. `last` is the line of the last rule that HAProxy logs; 0 without one."""

    backend: str | None
    status: int | None
    server: str | None
    last: int


@dataclass
class Writer:
    """Writes a configuration that listens on `port` of the loopback and uses the files of `directory`."""

    chance: random.Random
    directory: Path
    port: int
    _names: list[str] = field(default_factory=list)

    def text(self) -> str:
        self._names = [f"named{number}" for number in range(self.chance.randrange(4))]
        return WORDS["head"].format(directory=self.directory, stats="{stats}") + "".join(f"{line}\n" for line in self._sections())

    def _sections(self) -> Iterator[str]:
        yield from ("frontend site from base", f"    bind 127.0.0.1:{self.port}", *WORDS["listening"])
        yield from (f"    {line}" for line in WORDS["sometimes"] if self.chance.random() < 0.15)
        yield from (f"    acl {name} {self._term(WORDS['terms'])}" for name in self._names for _ in range(self.chance.choice((1, 1, 2))))
        yield from self._rules("frontend")
        yield from ("    default_backend shop", "") if self.chance.random() < 0.7 else ("",)
        for name, servers in (("shop", 3), ("api", 2), ("empty", 0)):
            yield from (f"backend {name} from base", "    balance first", "    cookie c", *self._rules("backend" if servers else "empty"))
            words = [self.chance.choice(WORDS["server_words"]) for _ in range(servers)]
            yield from (f"    server s{number} unix@{self.directory}/echo {own}".rstrip() for number, own in enumerate(words))
            yield ""

    def _rules(self, kind: str) -> Iterator[str]:
        """Return random rules of each family, with conditions. The mean of a family determines their number."""
        for family, mean in WORDS["means"][kind].items():
            about = WORDS["families"][family]
            for _ in range(min(8, int(self.chance.expovariate(1 / mean)))):
                condition = self._condition(WORDS[about.get("terms", "terms")], named=kind == "frontend" and "terms" not in about)
                is_bare = self.chance.random() < 0.04 and not about.get("needs_condition")
                yield f"    {family} {self.chance.choice(about['actions'])}{'' if is_bare else condition}"

    def _condition(self, terms: Sequence[str], *, named: bool) -> str:
        joined = self._operand(terms, named=named)
        for _ in range(self.chance.choice((0, 0, 0, 1, 2))):
            joined += self.chance.choice((" ", " or ", " || ")) + self._operand(terms, named=named)
        return f" {self.chance.choice(('if', 'if', 'if', 'unless'))} {joined}"

    def _operand(self, terms: Sequence[str], *, named: bool) -> str:
        is_named = named and self._names and self.chance.random() < 0.4
        operand = self.chance.choice(self._names) if is_named else f"{{ {self._term(terms)} }}"
        return f"!{operand}" if self.chance.random() < 0.2 else operand

    def _term(self, terms: Sequence[str]) -> str:
        return self.chance.choice(terms).format(map=self.directory / "paths.map", list=self.directory / "paths.list")


def pair(chance: random.Random) -> Pair:
    headers = [tuple(each.split(": ")) for name in ("counted", "others") for each in chance.choice(WORDS["headers"][name])]
    request = [chance.choice(WORDS[name]) for name in ("paths", "hosts", "methods", "sources")]
    return Pair(*request, headers)


@contextlib.contextmanager
def files(directory: Path) -> Iterator[socket.socket]:
    """Create the files that a configuration names, and yield the socket that receives its log."""
    (directory / "paths.map").write_text("/api yes\n/deep yes\nshop.example shop\n")
    (directory / "paths.list").write_text("/x\n/img/a.png\n")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.setblocking(False)
        log.bind(str(directory / "log"))
        yield log


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
        while True:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(REPLY)
    writer.close()


async def served(haproxy: HAProxy, log: socket.socket, port: int, head: bytes, source: str) -> Answer:
    """Return how the real HAProxy routes a request. Clears its stick table first."""
    await asyncio.to_thread(ask, haproxy.stats, "clear table counts")
    loop, nothing = asyncio.get_running_loop(), Answer(None, None, None, 0)
    with socket.socket() as client:
        client.setblocking(False)
        client.bind((source, 0))
        try:
            async with asyncio.timeout(SILENCE):
                await loop.sock_connect(client, ("127.0.0.1", port))
                await loop.sock_sendall(client, head)
                line = (await loop.sock_recv(log, 1 << 16)).decode()
        except (TimeoutError, ConnectionError):
            # HAProxy logs no line after rules of connections and monitor-uri. On a busy machine, a line may arrive late.
            answer, line = _there(client).split(), _there(log).decode()
            if not line:
                return replace(nothing, status=int(answer[1]) if answer else None)
    backend, server, status, last = line.strip().split("|")[-4:]
    return Answer(
        None if backend in ("", "site") else backend,
        int(status) if int(status) > 0 else None,
        None if server in ("", "<NOSRV>", "<STATS>") else server,
        int(last) if last.isdigit() else 0,
    )


def _there(connection: socket.socket) -> bytes:
    """Return the received data, without waiting."""
    with contextlib.suppress(OSError):
        return connection.recv(65_536)
    return b""


def shown(found: Explanation, last: int) -> Answer:
    return Answer(found.backend, found.status, found.server, last)


async def differences(text: str, pairs: Sequence[Pair], haproxy: HAProxy, log: socket.socket, port: int, fired: Counter[str]) -> list[str]:
    """Return the differences between both. Counts the families of rules that were applied in `fired`."""
    found: list[str] = []
    shadows = Shadows(haproxy.binary, haproxy.directory, lambda: [haproxy.file])
    document = Document.parse(text)
    server = await asyncio.start_unix_server(echo, str(haproxy.directory / "echo"))
    try:
        async with server, shadows.client(document, b"", caller=Account()) as shadow_client:
            for each in pairs:
                request = client_request(each.question, shadow_client.shadow.listeners)
                try:
                    seen = await shadow_client.send_request(request)
                except NoShadow as error:
                    found.append(f"{each}\n {error}")
                    break
                explanation = explained(document, shadow_client.shadow, request.listener, seen, has_states=False)
                place = shadow_client.shadow.places.get(seen.last_line)
                said = shown(explanation, place.line if place else 0)
                true = await served(haproxy, log, port, request.head, each.source)
                fired.update(
                    next((family for family in WORDS["families"] if rule.text.startswith(family)), rule.text) for rule in explanation.rules
                )
                if replace(said, last=said.last if true.last else 0) != true:
                    found.append(
                        f"{each}\n  HAProxy: {true}\n  shadow:  {said}\n  rules: {[(rule.line, rule.text) for rule in explanation.rules]}"
                    )
    finally:
        await shadows.close()
    return found


def compared(seed: int, binary: str, fired: Counter[str], requests: int) -> list[str] | None:
    """Compare both with one random configuration, and return the differences; None if HAProxy refuses the configuration."""
    chance, port = random.Random(seed), free_port()
    with tempfile.TemporaryDirectory(prefix="pair") as name, files(Path(name)) as log:
        text = Writer(chance, Path(name), port).text()
        haproxy = HAProxy(Path(name), text, binary=binary)
        if subprocess.run([binary, "-c", "-q", "-f", str(haproxy.file)], capture_output=True, check=False).returncode:
            return None
        with haproxy:
            pairs = [pair(chance) for _ in range(requests)]
            found = asyncio.run(differences(text, pairs, haproxy, log, port, fired))
    return [f"seed {seed}:\n{text}\n{each}" for each in found]
