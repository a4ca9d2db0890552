"""Values by which HAProxy reads files or its environment, and how a change that brings one in is seen."""

import re
import subprocess

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.planning.expressions import has_new
from haproxy_native.planning.touches import EXPRESSIONS, all_touches
from haproxy_native.text.document import Document
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
)


@pytest.mark.parametrize("line", READING)
def test_what_reads(line: str) -> None:
    assert has_new([], [f"backend b\n  {line}\n"])
    assert not has_new([f"backend b\n  {line}\n"], [f"backend c\n  {line}\n"])


@pytest.mark.parametrize("line", PLAIN)
def test_what_does_not(line: str) -> None:
    assert not has_new([], [f"backend b\n  {line}\n"])


@pytest.mark.parametrize("line", READING)
def test_a_change_that_brings_one_in(line: str) -> None:
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


def touched(before: str, after: str) -> list[object]:
    return list(all_touches(Editor(), Document.parse(before.encode()), Document.parse(after.encode())))


@pytest.mark.parametrize("version", EACH)
def test_each_converter_of_haproxy_that_loads_a_map(version: str) -> None:
    words = [exactly(version), "-dKcnv", "-q", "-c", "-f", "/dev/null"]
    listed = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    names = re.findall(r"^\s*(map\w*|jwt_verify\w*)\(", listed, re.MULTILINE)
    assert len(names) > 20 and all(has_new([], [f"acl a src,{name}(/f) 1"]) for name in names)
