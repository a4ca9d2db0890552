"""Each codec: words of a line, and the members they give; both ways."""

import pytest

from haproxy_native.errors import BadValue
from haproxy_native.grammar.codecs import CODECS

BOTH_WAYS = [
    ("address_port", "address", "192.0.2.1:80", {"address": "192.0.2.1", "port": 80}),
    ("address_port", "address", "[2001:db8::1]:443", {"address": "2001:db8::1", "port": 443}),
    ("address_port", "address", "[2001:db8::1]", {"address": "2001:db8::1"}),
    ("address_port", "address", "unix@/run/app:80", {"address": "unix@/run/app:80"}),
    ("address_port", "address", "${HOST}:80", {"address": "${HOST}", "port": 80}),
    ("address_port", "address", "127.0.0.1:+10", {"address": "127.0.0.1:+10"}),
    ("bind_address", "address", ":443", {"port": 443}),
    ("bind_address", "address", "*:8000-8010", {"address": "*", "port": 8000, "port-range-end": 8010}),
    ("bind_address", "address", "[::]:443", {"address": "::", "port": 443}),
    ("bind_address", "address", "[::1]:80-81", {"address": "::1", "port": 80, "port-range-end": 81}),
    ("bind_address", "address", ":80,:81", {"address": ":80,", "port": 81}),
    ("client_source", "usesrc", "usesrc clientip", {"usesrc": "clientip"}),
    ("client_source", "usesrc", "usesrc hdr_ip(x-client,-1)", {"usesrc": "hdr_ip", "hdr": "x-client", "occ": "-1"}),
    ("client_source", "usesrc", "usesrc 192.0.2.1:80", {"usesrc": "address", "address_second": "192.0.2.1", "port_second": 80}),
    ("payload", "return_content_format", "default-errorfiles", {"return_content_format": "default-errorfiles"}),
    ("payload", "return_content_format", 'string "two words"', {"return_content_format": "string", "return_content": '"two words"'}),
    ("payload", "return_content_format", "errorfiles pages", {"return_content_format": "errorfiles", "return_content": "pages"}),
    ("assignments", "vars", '"a=1,b=2"', {"vars": {"a": "1", "b": "2"}}),
    ("assignments", "vars", r'"a=1\,2,b=\\d"', {"vars": {"a": "1,2", "b": r"\d"}}),
]


def words(text: str) -> list[str]:
    return text.split(" ", 1) if text.startswith("string") else text.split()


@pytest.mark.parametrize(("codec", "member", "line", "values"), BOTH_WAYS, ids=lambda value: str(value)[:40])
def test_reads_what_it_writes(codec: str, member: str, line: str, values: dict[str, object]) -> None:
    node = CODECS[codec](member)
    assert node.match(words(line), 0) == (len(words(line)), values)
    assert node.write(values) == words(line)


@pytest.mark.parametrize(
    ("codec", "member", "line"),
    [
        ("payload", "return_content_format", "hdr a b"),
        ("payload", "return_content_format", "string"),
        ("client_source", "usesrc", "interface eth0"),
        ("client_source", "usesrc", "usesrc"),
        ("assignments", "vars", "word"),
    ],
)
def test_leaves_what_is_not_its_own(codec: str, member: str, line: str) -> None:
    assert CODECS[codec](member).match(line.split(), 0) is None


@pytest.mark.parametrize(
    ("codec", "member", "values", "said"),
    [
        ("payload", "return_content_format", {"return_content_format": "string", "return_content": "two words"}, "must be quoted"),
        ("assignments", "vars", {"vars": {"a,b": "1"}}, "vars.a,b"),
        ("assignments", "vars", {"vars": {"a-b": "1"}}, "vars.a-b: a name must have"),
        ("assignments", "vars", {"vars": {"": "1"}}, "a name must have"),
        ("assignments", "vars", {"vars": {"a": "1\\"}}, "vars.a"),
    ],
)
def test_refuses_what_a_line_cannot_carry(codec: str, member: str, values: dict[str, object], said: str) -> None:
    with pytest.raises(BadValue, match=said):
        CODECS[codec](member).write(values)


@pytest.mark.parametrize("codec", CODECS)
def test_says_why_it_is_there_and_shows_itself(codec: str) -> None:
    kind = CODECS[codec]
    member = next(row[1] for row in BOTH_WAYS if row[0] == codec)
    assert "Reason: " in (kind.__doc__ or "")
    examples = getattr(kind, "examples", ())
    assert examples
    for line in examples:
        values = (kind(member).match(line.split(), 0) or (0, {}))[1]
        assert kind(member).write(values) == line.split()


def test_the_codecs_are_few() -> None:
    assert len(CODECS) <= 25
