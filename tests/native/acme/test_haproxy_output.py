"""Challenges, as HAProxy's events tell them."""

import pytest

from haproxy_native.acme.haproxy_output import TTL, parse_challenge, parse_pairs

HEAD = "acme deploy @s/foo.pem thumbprint I-y4_2h5g7\n"
LINES = 'provider-name "rfc2136"\nacme-vars "server=ns:53,ttl=7"\ndns-01-record "X8vA"\nunknown\nnew-word "x"\n'
JSON = '{\n   "status": "pending",\n   "identifier": {\n      "type": "dns",\n      "value": "%s"\n   }\n}'


def test_members() -> None:
    found = parse_challenge(HEAD + LINES + JSON % "foo.example.test")
    assert (found.certificate, found.domain, found.provider, found.value) == ("@s/foo.pem", "foo.example.test", "rfc2136", "X8vA")
    assert (found.variables, found.ttl) == ({"server": "ns:53"}, 7)
    assert found.name == "_acme-challenge.foo.example.test"


def test_several_lines_of_variables_are_one() -> None:
    lines = LINES + 'acme-vars "key=a\\"b,server=other"\n'
    assert parse_challenge(HEAD + lines + JSON % "a.b").variables == {"server": "other", "key": 'a"b'}


def test_a_wildcard_is_proven_at_its_domain() -> None:
    assert parse_challenge(HEAD + LINES + JSON % "*.example.test").name == "_acme-challenge.example.test"


@pytest.mark.parametrize("ttl", ["", "ttl=0", "ttl=x"])
def test_time_to_live(ttl: str) -> None:
    lines = LINES.replace("server=ns:53,ttl=7", ttl)
    assert parse_challenge(HEAD + lines + JSON % "a.b").ttl == TTL


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD + LINES, "no authorization"),
        ("acme deploy\n" + LINES + JSON % "a", "no certificate"),
        (HEAD + 'dns-01-record "x"\n' + JSON % "a", "no provider-name"),
        (HEAD + 'provider-name "exec"\n' + JSON % "a", "no dns-01-record"),
        (HEAD + LINES + "{ broken", "Expecting"),
    ],
)
def test_what_is_missing_is_told(text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        parse_challenge(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("a=b", {"a": "b"}),
        ("a=b=c,d=", {"a": "b=c", "d": ""}),
        (r"a=b\,c,d=e", {"a": "b,c", "d": "e"}),
        ("a, b=c", {"b": "c"}),
    ],
)
def test_variables(text: str, found: dict) -> None:
    assert parse_pairs(text) == found
