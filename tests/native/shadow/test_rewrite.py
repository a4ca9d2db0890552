"""The text of a shadow."""

from pathlib import Path

import pytest

from haproxy_native.shadow.rewrite import Shadow, SourceLine, identifiers, rewrite_document
from haproxy_native.text import parts
from haproxy_native.text.document import Document

TEXT = """\
# _version=3

global
    maxconn 2000
    user haproxy
    chroot /var/empty
    stats socket /run/haproxy.sock level admin
    tune.bufsize 16384
    lua-load a.lua
    default-path config

defaults base
    mode http
    log global
    option httplog

peers mine
    peer a 10.0.0.1:1024
    table t type ip size 10

frontend site from base
    bind :80,:8080 interface eth0 name plain
    bind :443 ssl crt /a.pem   # TLS
    bind quic4@:443 ssl crt /a.pem
    maxconn 100
    tcp-request connection expect-proxy layer4 if { src 10.0.0.1 }
    tcp-request connection reject if { src 10.9.9.9 }
    tcp-request inspect-delay 5s
    http-request do-resolve(txn.ip,dns) req.hdr(host) if a
    http-request set-log-level silent if a
    acl a path /a
    filter spoe engine e
    use_backend shop if a

backend shop from base
    balance roundrobin
    option httpchk
    server one 10.0.0.1:80 check weight 10 ssl verify none
    server-template s 1-3 10.0.0.2:80 check backup
    default-server inter 5s weight 3

backend logs
    mode log
    server one 10.0.0.3:514
"""
HOME, SOCKETS = Path("/etc/haproxy"), Path("/tmp/s")


def shadow_of(text: str) -> Shadow:
    return rewrite_document(Document.parse(text), SOCKETS, HOME)


@pytest.fixture(scope="module")
def shadow() -> Shadow:
    return shadow_of(TEXT)


def lines(shadow: Shadow, original: str) -> list[str]:
    """What became of a line."""
    written = shadow.text.splitlines()
    return [written[number - 1] for number, place in shadow.places.items() if place.text == original]


def test_places_are_those_of_the_file(shadow: Shadow) -> None:
    file = TEXT.splitlines()
    assert all(file[place.line - 1].strip() == place.text for place in shadow.places.values())
    assert SourceLine(None, 27, "tcp-request connection reject if { src 10.9.9.9 }", "frontend site from base") in shadow.places.values()


@pytest.mark.parametrize(
    "gone",
    [
        *("maxconn 2000", "user haproxy", "chroot /var/empty", "stats socket /run/haproxy.sock level admin", "tune.bufsize 16384"),
        *("log global", "option httplog", "peer a 10.0.0.1:1024", "bind quic4@:443 ssl crt /a.pem", "maxconn 100", "option httpchk"),
        *("tcp-request connection expect-proxy layer4 if { src 10.0.0.1 }", "filter spoe engine e", "mode log", "server one 10.0.0.3:514"),
    ],
)
def test_what_reaches_others_goes(shadow: Shadow, gone: str) -> None:
    assert lines(shadow, gone) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("lua-load a.lua", "lua-load a.lua"),
        ("default-path config", "default-path origin /etc/haproxy"),
        ("table t type ip size 10", "table t type ip size 10"),
        ("bind :80,:8080 interface eth0 name plain", "bind unix@/tmp/s/b0 accept-proxy name plain"),
        ("bind :443 ssl crt /a.pem   # TLS", "bind unix@/tmp/s/b1 accept-proxy ssl crt /a.pem"),
        ("tcp-request inspect-delay 5s", "tcp-request inspect-delay 200ms"),
        ("server one 10.0.0.1:80 check weight 10 ssl verify none", "server one sockpair@0 weight 10"),
        ("server-template s 1-3 10.0.0.2:80 check backup", "server-template s 1-3 sockpair@0 backup"),
        ("default-server inter 5s weight 3", "default-server weight 3"),
        ("acl a path /a", "acl a path /a"),
    ],
)
def test_what_stays(shadow: Shadow, line: str, expected: str) -> None:
    assert lines(shadow, line) == [expected]


def test_rules_of_connections_are_evaluated_with_the_client_s_address(shadow: Shadow) -> None:
    (line,) = lines(shadow, "tcp-request connection reject if { src 10.9.9.9 }")
    assert line.startswith("tcp-request session reject if { src 10.9.9.9 } { var(sess.")


def test_actions_that_reach_others_do_nothing(shadow: Shadow) -> None:
    (line,) = lines(shadow, "http-request do-resolve(txn.ip,dns) req.hdr(host) if a")
    assert line.startswith("http-request set-var(txn.__none) int(0) if a { var(txn.")
    (line,) = lines(shadow, "http-request set-log-level silent if a")
    assert line.startswith("http-request set-log-level info if a { var(txn.")
    doubts = [why for lines in shadow.doubtful.values() for _, why in lines]
    assert doubts == ["QUIC", "what do-resolve does", "what filter spoe does", "a program in Lua, which may ask others"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("http-request deny unless { fc_rcvd_proxy }", "the PROXY header, which all connections have here"),
        ("http-request deny if { dst_is_local }", "the addresses of the machine"),
        ("use_backend %[path,map(virt@paths)]", "a map without a file, which is empty here"),
        ("dynamic-cookie-key secret", "a hash of the servers' addresses"),
        ("server s 10.0.0.1:80 hash-key addr", "a hash of the servers' addresses"),
        ("http-response set-header X-Tls %[ssl_bc_protocol]", "the connection to the server"),
        ("use_backend bc_shop", ""),
    ],
)
def test_what_cannot_be_known_is_named(line: str, why: str) -> None:
    found = shadow_of(f"backend b\n    {line}\n").doubtful.get("backend b", [])
    assert [(place.text, reason) for place, reason in found] == ([(line, why)] if why else [])


def test_listeners(shadow: Shadow) -> None:
    assert [(each.frontend, each.address, each.name, each.socket, each.is_tls, each.mode) for each in shadow.listeners] == [
        ("site", ":80,:8080", "plain", "b0", False, "http"),
        ("site", ":443", "", "b1", True, "http"),
    ]


def test_marks_name_their_rule(shadow: Shadow) -> None:
    rules = [(rule.place.text, rule.term) for rule in shadow.rules.values()]
    assert ("use_backend shop if a", "a") in rules and ("use_backend shop if a", "") in rules


@pytest.mark.parametrize("family", ["force-persist", "ignore-persist"])
def test_rules_without_words_of_their_own(family: str) -> None:
    shadow = shadow_of(f"backend b\n    {family} if {{ path /a }}\n")
    (line,) = lines(shadow, f"{family} if {{ path /a }}")
    assert line.startswith(f"{family} if {{ path /a }} {{ var(txn.") and line.count(" if ") == 1


def test_conditions_around_sections_stay() -> None:
    shadow = shadow_of(".if defined(X)\nbackend a\n    mode log\n.else\nbackend b\n    mode http\n.endif\n")
    kept = [shadow.text.splitlines()[number - 1] for number in shadow.places]
    assert [line for line in kept if line.startswith((".", "backend"))] == [".if defined(X)", ".else", "backend b", ".endif"]


def test_the_mode_may_be_that_of_defaults() -> None:
    http = "defaults a\n mode http\ndefaults b from a\nfrontend one from b\n bind :1\n"
    text = f"{http}defaults\n mode tcp\nfrontend two\n bind :2\nlisten three\n mode http\n bind :3\n"
    assert [each.mode for each in shadow_of(text).listeners] == ["http", "tcp", "http"]


def test_lines_of_several_files_are_counted_in_each() -> None:
    joined = parts.join([(parts.MAIN, b"# top\nglobal\n"), ("/etc/haproxy/b.cfg", b"# own\n\nbackend b\n    server s 10.0.0.1:1\n")])
    found = rewrite_document(Document.parse(joined), SOCKETS, HOME)
    assert ("/etc/haproxy/b.cfg", 4, "server s 10.0.0.1:1") in {(each.file, each.line, each.text) for each in found.places.values()}


def test_identifiers_are_each_once_and_in_order() -> None:
    assert identifiers(".b.a.b.-") == ["b", "a"]


def test_quotes_hide_no_keyword() -> None:
    shadow = shadow_of("""\
global
    "lua-load" /x.lua
    l'og' 10.0.0.1:514 local0
resolvers dns
    "nameserver" a 10.0.0.1:53
frontend site
    "mode" "http"
    "log" 10.0.0.1:514 local0
    b"ind" 10.0.0.1:80
    "${NOPE}log" 10.0.0.1:514 local0
    "http-request" "deny" if TRUE
backend b
    "server" s 10.0.0.1:80 "check"
    option "httpchk"
""")
    assert len(shadow.listeners) == 1 and shadow.rules
    assert "10.0.0.1" not in shadow.text and "check" not in shadow.text
    assert [place.line for place, _ in shadow.doubtful["frontend site"]] == [10]
