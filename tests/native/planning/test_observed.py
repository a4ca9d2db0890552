"""A process that has just loaded a file does nothing otherwise than it declares, however its servers are written."""

from pathlib import Path

import pytest

from haproxy_native.grammar.load import grammar
from haproxy_native.planning.observed import Claim, Claimed, Observed, ServerDifference, by_backend, server_differences
from haproxy_native.planning.servers import Servers
from haproxy_native.runtime.server_state import server_states
from haproxy_native.runtime.verification import parse_limits
from haproxy_native.text.document import Document
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy
from tests.until import until

HEAD = """\
global
    stats socket {stats} level admin
    ssl-server-verify none
resolvers dns
    nameserver one 127.0.0.1:9
defaults
    mode http
    timeout connect 1s
    timeout client 1s
    timeout server 1s
    default-server inter 1h
"""
PLACES = """\
127.0.0.1:10
127.0.0.1
localhost:10
/tmp/x
abns@x
unix@/tmp/x
[::1]:10
127.0.0.1:+1
127.0.0.1:-1
127.1:10
ipv4@127.0.0.1:10
0.0.0.0:10
*:10
::ffff:127.0.0.2:10
tcp@127.0.0.1:10
nosuch.invalid:10 init-addr none
"127.0.0.1:10"
Nosuch.Invalid:10 init-addr none resolvers dns
_http._tcp.nosuch.invalid init-addr none resolvers dns
127.0.0.1:10 resolvers dns
"${PLACE-127.0.0.1}:10"
nosuch.invalid:10 init-addr none,127.0.0.5 resolvers dns
""".splitlines()
OPTIONS = """\
check
check port 99
check addr 127.0.0.9
check addr localhost
check addr ::1:5
check addr [::1]:5
check addr [::1]
check addr 127.0.0.9:5
check port 9 no-check
port 99 addr 127.0.0.9
agent-check agent-port 5
check agent-check agent-port 5 addr 127.0.0.9
agent-check port 8 agent-addr 127.0.0.8 addr 127.0.0.9
agent-port 5 agent-addr 127.0.0.8
disabled
disabled check
disabled enabled
weight 0
weight 50%
weight 007
backup
maxconn 5
maxconn 0
minconn 5 maxconn 10
minconn 5
ssl
ssl check
ssl no-ssl
weight 5 weight 6
id 77
weight "9"
check agent-check agent-port 5 agent-addr 127.0.0.7
slowstart 10s check
cookie a
send-proxy check
""".splitlines()
MORE = """\
backend inherits
    default-server weight 7 check disabled maxconn 3
    server one 127.0.0.1:1
    default-server weight 8 enabled no-check
    server two 127.0.0.1:1
backend many
    server-template t 3 127.0.0.1:1 weight 4
    server-template u 5-6 nosuch.invalid:1 init-addr none resolvers dns weight 3
backend off
    disabled
    server one 127.0.0.1:1 weight 5
backend "quoted"
    server 'one' 127.0.0.1:1 weight 5
backend depends
    .if version_atleast(2.0)
    server one 127.0.0.1:1 weight 5
    .else
    server two 127.0.0.1:1 weight 6
    .endif
    .if defined(NONE)
defaults conditional
    default-server weight 5
    .else
defaults conditional
    default-server weight 6
    .endif
backend inherits-one from conditional
    server one 127.0.0.1:1
backend tracks from conditional
    server one 127.0.0.1:1 check
    server two 127.0.0.1:1 track one
"""


def text() -> str:
    servers = [f"server p{number} {place}" for number, place in enumerate(PLACES)]
    servers += [f"server o{number} 127.0.0.1:10 {options}" for number, options in enumerate(OPTIONS)]
    return HEAD + "backend app\n" + "".join(f"    {server}\n" for server in servers) + MORE


def found(haproxy: HAProxy, document: Document, only: Claimed | None = None) -> list[ServerDifference]:
    rows, limits = by_backend(server_states(haproxy.ask("show servers state"))), dict(parse_limits(haproxy.ask("show stat -1 4 -1")))
    return list(server_differences(document, Servers(grammar()), rows, limits, only))


@pytest.mark.parametrize("version", [*binaries.EACH, "3.4"])
def test_a_fresh_process(tmp_path: Path, version: str) -> None:
    document = Document.parse(text())
    with HAProxy(tmp_path, text(), binary=binaries.exactly(version)) as haproxy:
        assert found(haproxy, document) == []
        # What stands under a condition is compared with the worker's start.
        haproxy.ask("set server depends/one weight 9")
        haproxy.ask("set server quoted/one addr 127.0.0.9")
        haproxy.ask("set server many/t2 weight 9")
        haproxy.ask("set server many/t3 addr 127.0.0.9 port 7")
        haproxy.ask("set server inherits-one/one weight 9")
        for server in ("quoted/one", "many/t1", "depends/one", "tracks/one", "tracks/two"):
            haproxy.ask(f"set server {server} health down")
        # HAProxy accepts an address before it sets it.
        until(lambda: all(" 127.0.0.9 " in haproxy.ask(f"show servers state {backend}") for backend in ("quoted", "many")))
        assert {(each.backend, each.server, each.member, each.declared, each.value) for each in found(haproxy, document)} == {
            ("depends", "one", "weight", 5, 9),
            ("quoted", "one", "address", "127.0.0.1", "127.0.0.9"),
            ("quoted", "one", "operational_state", "up", "down"),
            ("many", "t1", "operational_state", "up", "down"),
            ("many", "t2", "weight", 4, 9),
            ("many", "t3", "address", "127.0.0.1", "127.0.0.9"),
            ("many", "t3", "port", 1, 7),
            ("inherits-one", "one", "weight", 6, 9),
        }


def test_servers_that_are_claimed_are_compared_like_all(tmp_path: Path) -> None:
    document, changed = Document.parse(text()), Document.parse(text().replace("server two", "server three"))
    with HAProxy(tmp_path, text()) as haproxy:
        named = [("app", "o1"), ("quoted", "one"), ("depends", "one"), ("inherits", "one"), ("inherits-one", "one"), ("off", "one")]
        named += [("inherits", "two"), ("many", "t1"), ("many", "t3"), ("many", "u5")]
        for backend, server in named[1:]:
            haproxy.ask(f"set server {backend}/{server} weight 9")
        claims = [Claim(*name) for name in named]
        claims += [Claim("inherits", "three"), Claim("inherits", "none"), Claim("none", "one"), Claim("many", "t", is_template=True)]
        for each in (document, changed):
            every = found(haproxy, each)
            assert len(every) > len(named) / 2
            for only in [frozenset({claim}) for claim in claims] + [frozenset(claims)]:
                alone, observed = found(haproxy, each, only), Observed({}, claimed=only)
                expected = list(filter(observed.is_corrected, every))
                assert sorted(map(repr, filter(observed.is_corrected, alone))) == sorted(map(repr, expected))
                assert len(alone) == len(expected) or any(claim.is_template for claim in only), "no other server is compared"
