"""Generate the measured configurations (servers in backends of ten; on a large farm also 2,000 rules in a frontend) and the settings of a
server.
"""

from dataclasses import dataclass
from pathlib import Path

from tests.haproxy.process import HAProxy, free_port

PER_BACKEND = 10
HEAD = """\
global
    stats socket {stats} mode 600 level admin
    maxconn 500

defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s

frontend site
    bind 127.0.0.1:%d
    default_backend b0
"""
BACKEND = "\nbackend b%d\n    balance roundrobin\n"
# About a hundred bytes, so that 50,000 of them make a file of 5 MB; checks stay off, or HAProxy would be busy with them.
SERVER = "    server s{number} 10.{a}.{b}.{c}:8080 weight {weight} maxconn 200 maxqueue 50 inter 5s fastinter 1s fall 3 rise 2\n"
LARGE = 1000
RULES = 2000
# Farms up to this size that are not small have two maps, one that is listed and one that is filled, and a file of patterns.
MIDDLE = 10_000
MAP_ENTRIES, MAP_CHANGES, PATTERNS = 100_000, 10_000, 20_000
FRONTEND = "\nfrontend rules\n    bind 127.0.0.1:%d\n"
RULE = "    http-request set-header X-Sample-{number} %[src] if {{ path_beg /sample/{number} }}\n"
MAPPED = """
frontend mapped
    bind 127.0.0.1:{port}
    http-request set-header X-Site %[req.hdr(host),map_str({map})]
    http-request set-header X-Other %[req.hdr(host),map_str({other})]
    http-request deny if {{ path -f {patterns} }}
"""
SETTINGS = """\
config_version: 2
name: bench
dataplaneapi:
  host: 127.0.0.1
  port: {port}
  cleanup_timeout: 1h
  user:
    - {{name: admin, password: bench, insecure: true}}
  transaction:
    transaction_dir: {directory}/transactions
    max_open_transactions: 0
  resources:
    maps_dir: {directory}/maps
    ssl_certs_dir: {directory}/ssl
    general_storage_dir: {directory}/general
    dataplane_storage_dir: {directory}/dataplane
    spoe_dir: {directory}/spoe
    spoe_transaction_dir: {directory}/spoe-transactions
haproxy:
  config_file: {config}
  haproxy_bin: {binary}
  master_worker_mode: true
  master_runtime: {master}
  reload:
    reload_delay: 1
    reload_strategy: custom
    reload_cmd: "true"
    restart_cmd: "true"
"""


@dataclass(frozen=True)
class Farm:
    """A running HAProxy with `size` servers, and where a server's settings for it stand."""

    size: int
    directory: Path
    haproxy: HAProxy
    port: int

    def settings(self, *, validate: bool = True) -> Path:
        """A settings file; without validation every check is the command `true`."""
        file = self.directory / ("dataplaneapi.yaml" if validate else "unchecked.yaml")
        values = {"config": self.haproxy.file, "binary": self.haproxy.binary, "master": self.haproxy.master}
        text = SETTINGS.format(directory=self.directory, port=self.port, **values)
        file.write_text(text if validate else text + '    validate_cmd: "true"\n')
        return file

    @property
    def has_maps(self) -> bool:
        return LARGE < self.size <= MIDDLE

    @property
    def map(self) -> Path:
        return self.directory / "maps" / "sites.map"

    @property
    def other_map(self) -> Path:
        return self.directory / "maps" / "others.map"

    @property
    def patterns(self) -> Path:
        return self.directory / "paths.acl"

    def server(self, number: int) -> tuple[str, str]:
        """(backend, name) of one server."""
        return f"b{number // PER_BACKEND}", f"s{number}"

    def server_body(self, number: int, weight: int) -> dict[str, object]:
        """All that the file says of a server, with another weight."""
        _, a, b, c = _address(number)
        times = {"inter": 5000, "fastinter": 1000, "fall": 3, "rise": 2}
        return {"name": f"s{number}", "address": f"10.{a}.{b}.{c}", "port": 8080, "weight": weight, "maxconn": 200, "maxqueue": 50, **times}


def farm(size: int, directory: Path, binary: str) -> Farm:
    """Not yet started: `with farm.haproxy:` runs it."""
    made = Farm(size, directory, HAProxy(directory, text(size), binary=binary), free_port())
    if made.has_maps:
        made.map.parent.mkdir()
        made.map.write_text("".join(f"{key} {value}\n" for key, value in map_entries(MAP_ENTRIES)))
        made.other_map.write_text("one other\n")
        made.patterns.write_text("/former\n")
        with made.haproxy.file.open("a") as file:
            file.write(MAPPED.format(port=free_port(), map=made.map, other=made.other_map, patterns=made.patterns))
    return made


def map_entries(count: int) -> list[tuple[str, str]]:
    return [(f"host-{number}.example.org", f"backend-{number % 100}") for number in range(count)]


def text(size: int) -> str:
    parts = [HEAD % free_port()]
    for number in range(size):
        if number % PER_BACKEND == 0:
            parts.append(BACKEND % (number // PER_BACKEND))
        parts.append(server_line(number, 100))
    if size > LARGE:
        parts += [FRONTEND % free_port(), *(RULE.format(number=number) for number in range(RULES))]
    return "".join(parts)


def server_line(number: int, weight: int) -> str:
    _, a, b, c = _address(number)
    return SERVER.format(number=number, a=a, b=b, c=c, weight=weight)


def _address(number: int) -> tuple[int, ...]:
    return tuple(number.to_bytes(4, "big"))
