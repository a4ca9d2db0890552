"""Values that reach further than the object that has them, and how a change that adds one is seen."""

import re
import subprocess

import pytest

from haproxy_native.planning.touches import EXPRESSIONS, all_touches, has_new_expression
from haproxy_native.text.document import Document
from openapi import bundle
from tests.haproxy.binaries import EACH, exactly

READING = (
    "server a 10.0.0.1:80 sni str(password:),map(/etc/passwd)",
    "server a 10.0.0.1:80 ssl pool-conn-name str(x),map_str(/etc/passwd)",
    'server a 10.0.0.1:80 set-proxy-v2-tlv-fmt(0x20) "%[str(a),map(/f)]"',
    'server a "${HOST}":80',
    "http-request set-header X %[env(HOME)]",
    "http-request set-header X '%[env(HOME)]'",
    r"http-request set-header X %[e\x6ev(HOME)]",
    'http-request set-header X %[str(a),ma""p(/etc/passwd)]',
    'http-request set-header X "$HOME"',
    'http-request set-header X "a${HOME-none}"',
    "http-request set-var(txn.x) str(a),map_reg(/etc/passwd,none)",
    "http-request deny if { src -f /etc/passwd }",
    "acl a req.hdr(x) -i -m beg -f /etc/passwd",
    "http-request return status 200 content-type text/plain lf-file /etc/passwd",
    "http-request return status 200 content-type text/plain file /etc/passwd if TRUE",
    "http-request deny errorfile /etc/passwd",
    "http-error status 503 file /etc/passwd",
    "errorfile 503 /etc/passwd",
    "http-request set-map(/etc/haproxy/others.map) %[src] x",
    "http-request add-acl(others.acl) %[src]",
    "filter spoe engine e config /etc/passwd",
    "external-check command /bin/sh",
    "use_backend %[req.hdr(host),lower,map_dom(/etc/passwd)]",
    "http-request set-var(txn.ok) str(x),jwt_verify(alg,/etc/key.pem)",
    "http-error status 503 content-type text/plain errorfile /etc/passwd",
    "bind :443 ssl crt-list /etc/passwd",
    "default-bind ssl crt-list /etc/passwd",
)
LOCAL = (
    "unix@/run/admin.sock",
    "/run/admin.sock",
    "stream+unix@a",
    "uxst@a",
    "uxdg@a",
    "abns@a",
    "abnsz@a",
    "fd@3",
    "sockpair@4",
    "$HOST:80",
)
REACHING = (
    *(f"server a {address} weight 1" for address in LOCAL),
    *(f"bind {address} mode 600" for address in LOCAL),
    *(f"log {address} local0" for address in LOCAL),
    "bind 127.0.0.1:80,/run/admin.sock",
    "bind '${HOST}':80",
    "server-template a 1-3 unix@/run/admin.sock",
    "server a 10.0.0.1:80 check addr /run/admin.sock",
    "server a 10.0.0.1:80 agent-check agent-addr unix@/run/admin.sock",
    "server a 10.0.0.1:80 source abns@a",
    "server a 10.0.0.1:80 source 10.0.0.2 usesrc $HOST",
    "server a 10.0.0.1:80 socks4 unix@/run/admin.sock",
    "default-server check addr unix@/run/admin.sock",
    "source /run/admin.sock",
    "dispatch unix@/run/admin.sock",
    "http-check connect port 80 addr unix@/run/admin.sock",
    "tcp-check connect addr /run/admin.sock",
    "dgram-bind uxdg@/run/log.sock",
    "log-stderr fd@3 local0",
    "mailer m /run/admin.sock",
    "nameserver n unix@/run/admin.sock",
    "peer p /run/admin.sock",
    "stats socket /run/admin.sock level admin",
    "stats admin if TRUE",
    "stats  admin if LOCALHOST",
    "http-request use-service prometheus-exporter if { path /metrics }",
    "http-request set-header X %[var(proc.key)]",
    "http-request set-header X '%[var(\"proc.key\")]'",
    "http-request set-header X '%[var(p\"ro\"c.key)]'",
    "http-request set-header X %[str(),concat(a,proc.key)]",
    "http-request set-header X %[src,set-var(proc.key)]",
    "http-request set-header X %[dump_all_vars(proc)]",
    "acl a dump_all_vars -m sub x",
    "http-request set-var(proc.key) src",
    "http-request set-var-fmt(proc.key) x",
    "http-request unset-var(proc.key)",
    "tcp-request connection reject if { var(proc.key) -m found }",
)
PLAIN = (
    "server a 10.0.0.1:80 sni str(example.org) weight 7",
    "server a 10.0.0.1:80 sni req.hdr(host),lower",
    "http-request set-header X '$HOME'",
    r'http-request set-header X "\$HOME"',
    "http-request set-header X $HOME",
    'http-request deny if { path_reg "^/a$" }',
    "http-request set-header X %[src,lua.map(a)]",
    "http-request lua.env",
    "http-request set-header X-Road roadmap(1)",
    "http-request return status 200 content-type text/plain string file",
    "# %[env(HOME)]",
    "acl a src 10.0.0.0/8",
    "bind :443 ssl crt /etc/haproxy/ssl/a.pem",
    "bind ipv4@10.0.0.1:80,:::81,quic4@:443 name unix@a",
    "server a [fe80::1%eth0]:80 check addr example.org source 10.0.0.2:1-9 usesrc clientip cookie /a",
    "log stdout format raw local0",
    "log stream+ipv4@10.0.0.1:514 local0",
    "log ring@logs local0",
    "nameserver n tcp@10.0.0.1:53",
    "stats uri /stats",
    "stats enable",
    "http-request set-header X %[var(txn.proc.key)]",
    "http-request set-header X unix@/run/admin.sock",
    "http-check send uri /addr",
)


@pytest.mark.parametrize("line", PLAIN)
def test_what_does_not(line: str) -> None:
    assert not has_new_expression([], [f"backend b\n  {line}\n"])


@pytest.mark.parametrize("line", READING + REACHING)
def test_a_change_that_brings_one_in(line: str) -> None:
    assert has_new_expression([], [f"backend b\n  {line}\n"])
    assert not has_new_expression([f"backend b\n  {line}\n"], [f"backend c\n  {line}\n"])
    before = "global\n  maxconn 10\n\nbackend b\n  mode http\n\nbackend other\n  mode http\n"
    after = before.replace("backend b\n", f"backend b\n  {line}\n")
    assert EXPRESSIONS in touched(before, after)
    assert EXPRESSIONS not in touched(after, before)
    assert EXPRESSIONS not in touched(after, after.replace("mode http", "mode tcp", 1))
    assert EXPRESSIONS in touched(after, after.replace("backend other\n", f"backend other\n  {line}\n")), "a copy"


def test_another_option_of_the_same_server() -> None:
    before = "backend b\n  server a 10.0.0.1:80 sni str(x),map(/f) weight 1\n"
    assert EXPRESSIONS not in touched(before, before.replace("weight 1", "weight 2 check"))
    assert EXPRESSIONS in touched(before, before.replace("(/f)", "(/g)"))
    assert EXPRESSIONS in touched(before, before.replace("sni", "check-sni"))
    before = "backend b\n  server a unix@/run/app.sock weight 1\n"
    assert EXPRESSIONS not in touched(before, before.replace("weight 1", "weight 2 check"))
    assert EXPRESSIONS in touched(before, before.replace("app.sock", "admin.sock"))


def touched(before: str, after: str) -> list[object]:
    return list(all_touches(Document.parse(before.encode()), Document.parse(after.encode())))


@pytest.mark.parametrize("version", EACH)
def test_each_converter_of_haproxy_that_loads_a_map(version: str) -> None:
    words = [exactly(version), "-dKcnv", "-q", "-c", "-f", "/dev/null"]
    listed = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    names = re.findall(r"^\s*(map\w*|jwt_verify\w*)\(", listed, re.MULTILINE)
    assert len(names) > 20 and all(has_new_expression([], [f"acl a src,{name}(/f) 1"]) for name in names)


def test_each_format_of_an_answer_that_is_a_file() -> None:
    schemas = bundle.document()["components"]["schemas"]
    for kind in ("http_error_rule", "http_request_rule", "http_response_rule"):
        formats = schemas[kind]["properties"]["return_content_format"]["enum"]
        line = kind.removesuffix("_rule").replace("_", "-")
        files = {each for each in formats if each.endswith("file")}
        assert {"errorfile", "file", "lf-file"} <= files
        assert all(has_new_expression([], [f"{line} {each} /etc/passwd"]) == (each in files) for each in formats)
