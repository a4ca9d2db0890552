"""What HAProxy refuses of the servers of a backend, for what it computed when it loaded the file, is known from the document."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from haproxy_native.grammar.load import grammar
from haproxy_native.planning.servers import ancestors, fixed
from haproxy_native.text.document import Document
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy

ALGORITHMS = [
    *("", "roundrobin", "leastconn", "first", "random", "random(2)", "static-rr", "source", "uri", "uri whole", "url_param x"),
    *("hdr(Host)", "rdp-cookie", "hash src"),
]
SINCE_3_0 = ["sticky"]
HASHING = ["", "consistent", "map-based", "consistent sdbm avalanche"]
HEAD = """\
global
    stats socket {stats} level admin
defaults
    mode http
    timeout connect 1s
    timeout client 1s
    timeout server 1s
"""


def lines(algorithm: str, hashing: str) -> str:
    return f"    balance {algorithm}\n" * bool(algorithm) + f"    hash-type {hashing}\n" * bool(hashing)


def backends(version: tuple[int, ...]) -> Iterator[str]:
    """Each algorithm with each type of hash: in the backend, in its defaults section, and one here and the other there."""
    number = 0
    for algorithm in [*ALGORITHMS, *(SINCE_3_0 if version >= (3, 0) else [])]:
        for hashing in HASHING:
            for above, own in ((("", ""), (algorithm, hashing)), ((algorithm, hashing), ("", "")), ((algorithm, ""), ("", hashing))):
                number += 1
                server = "    server s 127.0.0.1:1 weight 10\n"
                yield f"defaults d{number}\n    mode http\n{lines(*above)}\nbackend b{number} from d{number}\n{lines(*own)}{server}"
    yield "defaults\n    mode http\nbackend sent\n    dispatch 127.0.0.1:9\n    server s 127.0.0.1:1 weight 10\n"
    yield "backend through\n    option transparent\n    server s 127.0.0.1:1 weight 10\n"
    yield "backend other\n    option transparent\n    no option transparent\n    server s 127.0.0.1:1 weight 10\n"


OFF = """\
defaults off
    mode http
    disabled
backend b1
    disabled
backend b2
    "disabled"
backend b3
    dis\\x61bled
backend b4
    enabled
    'disabled'
backend b5
    disabled
    "enabled"
backend b6 from off
backend b7 from off
    enabled
backend b8
"""


@pytest.mark.parametrize("wanted", [*binaries.EACH, "3.4"])
def test_disabled_backends(tmp_path: Path, wanted: str) -> None:
    text = HEAD + re.sub("(?m)^(backend .*)", r"\1\n    server s 127.0.0.1:1", OFF)
    document = Document.parse(text)
    with HAProxy(tmp_path, text, binary=binaries.exactly(wanted)) as haproxy:
        for name, section in document.of_kind("backend"):
            found = fixed((section, *ancestors(document, section)), grammar())
            assert bool(found.everything) == ("Proxy is disabled" in haproxy.ask(f"set server {name}/s weight 5")), section.text


@pytest.mark.parametrize("wanted", [*binaries.EACH, "3.4"])
def test_what_haproxy_refuses(tmp_path: Path, wanted: str) -> None:
    binary = binaries.exactly(wanted)
    text = HEAD + "\n".join(backends(binaries.version(binary)))
    document = Document.parse(text)
    with HAProxy(tmp_path, text, binary=binary) as haproxy:
        for name, section in document.of_kind("backend"):
            found = fixed((section, *ancestors(document, section)), grammar())
            assert bool(found.weights) == ("static LB algorithm" in haproxy.ask(f"set server {name}/s weight 5")), section.text
            # HAProxy takes 0 and the weight of the start from all of them.
            assert not haproxy.ask(f"set server {name}/s weight 0").strip() + haproxy.ask(f"set server {name}/s weight 10").strip()
            if name.startswith("b"):
                assert bool(found.additions) == ("registered" not in haproxy.ask(f"add server {name}/n 127.0.0.1:2")), section.text


def test_a_disabled_proxy_takes_nothing(tmp_path: Path) -> None:
    text = HEAD + "backend off\n    disabled\n    server s 127.0.0.1:1\nbackend on\n    disabled\n    enabled\n    server s 127.0.0.1:1\n"
    document = Document.parse(text)
    with HAProxy(tmp_path, text) as haproxy:
        for name, section in document.of_kind("backend"):
            assert bool(fixed((section,), grammar()).everything) == ("disabled" in haproxy.ask(f"set server {name}/s weight 5")), name


def test_log_backends_take_no_server() -> None:
    document = Document.parse("backend logs\n    mode log\n    server s udp@127.0.0.1:1\n")
    assert "mode log" in fixed(document.sections, grammar()).additions
