"""Make changes at runtime if the HAProxy of each version can, and otherwise by a reload. The pid of the worker shows which."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from haproxy_native.editing.resources import resources
from haproxy_native.grammar.load import grammar
from tests.acceptance.quick import Quick, is_live
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

CONFIG = """\
global
    stats socket {{stats}} level admin

defaults base
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s

resolvers dns
    nameserver local 127.0.0.1:{dns}

frontend site from base
    bind 127.0.0.1:{site}
    maxconn 100
    default_backend app

backend fixed from base
    balance static-rr
    server one 127.0.0.1:1 weight 10

backend app from base
{servers}
"""
ANY = (0, 0)
NEVER = (99, 0)
AGENT = "agent-check agent-port 9 agent-inter 1h agent-addr 127.0.0.1"
CHECK = "check inter 1h port 9 addr 127.0.0.1"
TLS = "ssl verify none"


@dataclass(frozen=True)
class Row:
    """A change. `line` has the words after a server's address, `since` the first version without a reload, `words` the result."""

    what: str
    line: str
    change: dict[str, Any]
    shows: dict[str, Any]
    words: str = ""
    since: tuple[int, int] = ANY
    address: str = "127.0.0.1:1"


ROWS = [
    Row("weight", "weight 10", {"weight": 77}, {"uweight": 77}, "weight 77"),
    Row("weight gone", "weight 10", {"weight": None}, {"uweight": 1}),
    Row("weight new", "", {"weight": 0}, {"uweight": 0}, "weight 0"),
    Row("address", "", {"address": "127.0.0.9"}, {"address": "127.0.0.9", "port": 1}, "127.0.0.9:1"),
    Row("address of version 6", "", {"address": "::1"}, {"address": "::1", "port": 1}),
    Row("port", "", {"port": 99}, {"address": "127.0.0.1", "port": 99}, "127.0.0.1:99"),
    Row("both", "", {"address": "127.0.0.7", "port": 98}, {"address": "127.0.0.7", "port": 98}, "127.0.0.7:98"),
    Row("both of a checked one", "check inter 1h", {"address": "127.0.0.7", "port": 98}, {"address": "127.0.0.7", "port": 98}),
    Row("name", "resolvers dns init-addr none", {"address": "b.example"}, {"fqdn": "b.example"}, "b.example:80", NEVER, "a.example:80"),
    Row("name to address", "init-addr none", {"address": "127.0.0.1"}, {"address": "127.0.0.1"}, "127.0.0.1:80", NEVER, "a.example:80"),
    Row("maintenance", "", {"maintenance": "enabled"}, {"forced_state": "maint"}, "disabled"),
    Row("ready", "disabled", {"maintenance": "disabled"}, {"forced_state": "ready"}),
    Row("ready, not said", "disabled", {"maintenance": None}, {"forced_state": "ready"}),
    Row("maxconn", "maxconn 20", {"maxconn": 21}, {"limit": "21"}, "maxconn 21"),
    Row("maxconn new", "", {"maxconn": 22}, {"limit": "22"}, "maxconn 22"),
    Row("maxconn gone", "maxconn 20", {"maxconn": None}, {"limit": ""}),
    Row("check port", CHECK, {"health_check_port": 8}, {"check_port": 8}, "port 8"),
    Row("check address", CHECK, {"health_check_address": "127.0.0.8"}, {"check_addr": "127.0.0.8"}, "addr 127.0.0.8"),
    Row("check port gone", CHECK, {"health_check_port": None}, {"check_enabled": True}, since=NEVER),
    Row("check port, unchecked", "port 9", {"health_check_port": 8}, {}, "port 8", NEVER),
    Row("check off", CHECK, {"check": "disabled"}, {"check_enabled": False, "operational_state": "up"}, "no-check"),
    Row("check gone", CHECK, {"check": None}, {"check_enabled": False, "operational_state": "up"}),
    Row("check on", "port 9", {"check": "enabled"}, {"check_enabled": True}, "check", NEVER),
    Row("agent off", AGENT, {"agent-check": "disabled"}, {"agent_enabled": False}),
    Row("agent on", "agent-port 9", {"agent-check": "enabled"}, {"agent_enabled": True}, "agent-check", NEVER),
    Row("agent address", AGENT, {"agent-addr": "127.0.0.8"}, {"agent_addr": "127.0.0.8"}, "agent-addr 127.0.0.8"),
    Row("agent port", AGENT, {"agent-port": 8}, {"agent_port": 8}, "agent-port 8"),
    Row("agent text", AGENT, {"agent-send": "hello"}, {"agent_enabled": True}, "agent-send hello"),
    Row(
        "agent port while it is switched off", AGENT, {"agent-port": 8, "agent-check": "disabled"}, {"agent_enabled": False}, "agent-port 8"
    ),
    Row("no TLS any more", TLS, {"ssl": "disabled"}, {"use_ssl": False}, since=NEVER),
    Row("TLS", "", {"ssl": "enabled", "verify": "none"}, {"use_ssl": True}, TLS, NEVER),
    Row(
        "several",
        CHECK,
        {"weight": 5, "maintenance": "enabled", "port": 2, "health_check_port": 3},
        {"uweight": 5, "port": 2, "check_port": 3, "forced_state": "maint"},
    ),
    Row("not live", "", {"backup": "enabled"}, {}, "backup", NEVER),
    Row("not live with others", "", {"weight": 3, "cookie": "x"}, {"uweight": 3}, "weight 3", NEVER),
]


def rows() -> list[tuple[str, Row]]:
    return [(f"s{number}", row) for number, row in enumerate(ROWS)]


@pytest.fixture(scope="module", params=binaries.EACH)
def sidecar(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    servers = "\n".join(f"    server {name} {row.address} {row.line}   # kept" for name, row in rows())
    config = CONFIG.format(site=free_port(), dns=free_port(), servers=servers)
    with HAProxy(tmp_path_factory.mktemp("live"), config, binary=binaries.exactly(request.param)) as haproxy, Quick(haproxy) as running:
        yield running


def test_every_member_that_is_declared_live_has_a_row() -> None:
    schemas = grammar().schemas
    properties = schemas.properties(schemas.named(resources()["servers"].schema))
    live = {name for name, schema in properties.items() if "at_runtime" in schemas.note(schema)}
    assert live <= {member for row in ROWS if row.since != NEVER for member in row.change}


@pytest.mark.parametrize(("name", "row"), rows(), ids=lambda each: each.what if isinstance(each, Row) else "")
def test_one_change_of_a_server(sidecar: Quick, name: str, row: Row) -> None:
    worker = sidecar.haproxy.worker_pid()
    version = sidecar.version()
    answer = sidecar.put_server(name, row.change)
    live = sidecar.haproxy.version >= row.since
    assert is_live(answer) == live, sidecar.why(answer)
    if not live:
        assert sidecar.reloaded(answer)["status"] == "succeeded"
    assert (sidecar.haproxy.worker_pid() == worker) == live
    assert sidecar.version() == version + 1
    shown = {member: sidecar.stat(name)["slim"] if member == "limit" else getattr(sidecar.server(name), member) for member in row.shows}
    assert shown == row.shows
    line = sidecar.line(f"server {name} ")
    assert f" {row.words} " in line and line.endswith("   # kept")
