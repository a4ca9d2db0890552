"""Every line with an address accepts each notation that HAProxy reads as the same address, and shows the address of the line."""

from typing import Any

import pytest

from haproxy_native.errors import BadValue
from haproxy_native.grammar.codecs import AddressPort, ClientSource
from haproxy_native.grammar.line_shape import unflattened
from haproxy_native.text.line import Line
from tests.laws.language import kinds
from tests.samples import line_samples

# The address and port that a client sends, and those that a read returns.
SPELLINGS: list[tuple[str, int | None, str, int | None]] = [
    ("[::1]", 81, "::1", 81),
    ("::1", 81, "::1", 81),
    ("[::1]:81", None, "::1", 81),
    ("[::1]:81", 81, "::1", 81),
    ("[::1]", None, "::1", None),
    ("::1", None, "::1", None),
    (":::8082", None, "::", 8082),
    ("127.0.0.1:8083", None, "127.0.0.1", 8083),
    ("127.0.0.1:8083", 8083, "127.0.0.1", 8083),
    ("127.1", 80, "127.1", 80),
    ("*:80", None, "*", 80),
    ("example.com:80", None, "example.com", 80),
    ("ipv6@::1", 80, "ipv6@[::1]", 80),
    ("ipv6@[::1]:80", None, "ipv6@[::1]", 80),
    ("quic6@:::443", None, "quic6@[::]", 443),
    ("ipv4@127.0.0.1:80", None, "ipv4@127.0.0.1", 80),
    ("unix@/run/a:b", None, "unix@/run/a:b", None),
    ("/run/a:80", None, "/run/a:80", None),
    ("abns@a:1", None, "abns@a:1", None),
    ("fd@3", None, "fd@3", None),
    ("${HOST}:80", None, "${HOST}", 80),
    ("10.0.0.1:+10", None, "10.0.0.1:+10", None),
    ("10.0.0.1:${PORT}", None, "10.0.0.1:${PORT}", None),
    ("10.0.0.1:", 80, "10.0.0.1", 80),
    ("[::1]:", 80, "::1", 80),
    ('"::1"', 80, "::1", 80),
    ("${PREFIX}::1", 80, "${PREFIX}::1", 80),
    ("${ADDRESS-127.0.0.1:80}", 81, "${ADDRESS-127.0.0.1:80}", 81),
]
CONTRADICTIONS = [
    ("127.0.0.1:8083", 81),
    ("[::1]:81", 82),
    ("unix@/run/a", 80),
    ("/run/a:80", 80),
    ("fd@3", 80),
    ("10.0.0.1:+10", 80),
    ("10.0.0.1:${PORT}", 80),
    ("[::1]:${PORT}", 80),
    (":${PORT}", 80),
    ("${HOST}:${PORT}", 80),
]


PLACES = [
    pytest.param(name, node.address if isinstance(node, ClientSource) else node, id=f"{name}-{node.members[0]}")
    for name, kind in kinds().items()
    for node in kind.shape.addresses
    if isinstance(node, AddressPort | ClientSource)
]


def given(name: str, node: AddressPort, address: str, port: int | None) -> dict[str, Any]:
    """Return a sample of the kind of line, with another address."""
    sample = next(values for values in map(kinds()[name].shape.flatten_body, line_samples(kinds()[name].shape)) if node.member in values)
    rest = {member: value for member, value in sample.items() if member not in node.members}
    return unflattened(rest | {node.member: address} | ({} if port is None else {node.port: port}))


@pytest.mark.parametrize(("name", "node"), PLACES)
def test_each_spelling_is_accepted_and_shown_as_it_is_read(name: str, node: AddressPort) -> None:
    shape = kinds()[name].shape
    for address, port, shown, shown_port in SPELLINGS:
        if shown_port is None and node.port in shape.needed:
            continue
        values = given(name, node, address, port)
        line = shape.new(values)
        reading = shape.parse_words(line.words)
        assert reading is not None
        assert (reading.values.get(node.member), reading.values.get(node.port)) == (shown, shown_port), line.text
        assert shape.onto(line, values) is line
        assert shape.onto(line, shape.read(line) or {}) is line


@pytest.mark.parametrize(("name", "node"), PLACES)
def test_two_ports_and_a_port_of_none_are_refused(name: str, node: AddressPort) -> None:
    for address, port in CONTRADICTIONS:
        with pytest.raises(BadValue, match=f"{node.port} in body is {port}, but {node.member} '"):
            kinds()[name].shape.new(given(name, node, address, port))


@pytest.mark.parametrize("word", [":80", "::1:80", ":::80", "[::1]:80", "ipv6@::1:80"])
def test_a_spelling_of_the_file_stays(word: str) -> None:
    shape = kinds()["server"].shape
    line = Line(f"  server s {word}\n")
    assert shape.onto(line, shape.read(line) or {}) is line
    assert shape.onto(line, {**(shape.read(line) or {}), "weight": 5}).text == f"  server s {word} weight 5\n"


# Members with an address, and possibly its port, as one text.
TEXTS = [
    ("server", "server s 192.0.2.1:80 check", "health_check_address"),
    ("server", "server s 192.0.2.1:80", "source"),
    ("http_check", "http-check connect", "addr"),
    ("tcp_check", "tcp-check connect", "addr"),
    ("log_target", "log 192.0.2.1 local0", "address"),
    ("fcgi_app:log_stderrs", "log-stderr 192.0.2.1 local0", "address"),
]


@pytest.mark.parametrize(("kind", "line", "member"), TEXTS)
def test_an_address_alone_is_written_in_brackets(kind: str, line: str, member: str) -> None:
    """HAProxy refuses `addr ::1`, because it reads the 1 as a port."""
    shape, old = kinds()[kind].shape, Line(line + "\n")
    for sent, written in [
        ("::1", "[::1]"),
        ("[::1]", "[::1]"),
        ("[::1]:80", "[::1]:80"),
        ("192.0.2.2:80", "192.0.2.2:80"),
        ("ipv6@::1", "ipv6@[::1]"),
    ]:
        new = shape.onto(old, {**(shape.read(old) or {}), member: sent})
        assert written in new.words
        assert (shape.read(new) or {})[member] == written
        assert shape.onto(new, {**(shape.read(new) or {}), member: sent}) is new


@pytest.mark.parametrize(("kind", "line", "member"), TEXTS)
def test_an_address_with_its_port_is_shown_in_brackets(kind: str, line: str, member: str) -> None:
    """If a client sends `::1:80` back for another line, it would be an address without a port."""
    shape, start = kinds()[kind].shape, Line(line + "\n")
    bracketed = shape.onto(start, {**(shape.read(start) or {}), member: "[::1]:80"})
    bare = Line(bracketed.text.replace("[::1]:80", "::1:80"))
    found = shape.read(bare) or {}
    assert found[member] == "[::1]:80"
    assert shape.onto(bare, found) is bare
    assert shape.new(found).text.strip() == bracketed.text.strip()
