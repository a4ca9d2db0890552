"""A changed member becomes the command that its declaration names, with what a re-read has to show."""

from ipaddress import ip_address
from typing import Any

import pytest

from haproxy_native.editing.resources import resources
from haproxy_native.grammar.load import grammar
from haproxy_native.planning.live import Live, NotExpressible, ip_of, plain
from haproxy_native.runtime.verification import Limit, Shows

SCHEMAS = grammar().schemas


def live(resource: str) -> Live:
    return Live(SCHEMAS, SCHEMAS.properties(SCHEMAS.named(resources()[resource].schema)))


OLD = {"name": "s", "address": "192.0.2.1", "port": 80, "weight": 10}
ROWS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({"weight": 20}, ["set server b/s weight 20"], []),
    ({"address": "192.0.2.9"}, ["set server b/s addr 192.0.2.9 port 80"], []),
    ({"address": "192.0.2.9", "port": 81}, ["set server b/s addr 192.0.2.9 port 81"], []),
    ({"address": "[2001:db8::1]"}, ["set server b/s addr 2001:db8::1 port 80"], []),
    ({"address": "app.example.com"}, [], ["address"]),
    ({"health_check_address": "[::1]", "check": "enabled"}, ["enable health b/s", "set server b/s check-addr ::1"], []),
    ({"health_check_address": "[::1]"}, [], ["health_check_address"]),
    ({"agent-port": 5}, [], ["agent-port"]),
    ({"agent-send": "hello"}, [], ["agent-send"]),
    ({"health_check_address": "::1:5", "check": "enabled"}, ["enable health b/s"], ["health_check_address"]),
    ({"maintenance": "enabled"}, ["set server b/s state maint"], []),
    ({"weight": 20, "rise": 3}, ["set server b/s weight 20"], ["rise"]),
    ({"weight": "${W}"}, [], ["weight"]),
    ({}, [], []),
]


@pytest.mark.parametrize(("change", "texts", "left"), ROWS)
def test_of_a_server(change: dict[str, Any], texts: list[str], left: list[str]) -> None:
    said, undone = live("servers").commands("b", "s", OLD, {**OLD, **change}, list(change))
    assert ([each.text for each in said], undone) == (texts, left)


def test_what_a_re_read_has_to_show() -> None:
    said, _ = live("servers").commands("b", "s", OLD, {**OLD, "weight": 20, "address": "192.0.2.9"}, ["weight", "address"])
    shown = {command.text.split()[3]: command.check for command in said}
    assert shown["weight"] == Shows("b", "s", (("uweight", 20),))
    assert shown["addr"] == Shows("b", "s", (("address", ip_address("192.0.2.9")), ("port", 80)))


def test_limits_are_shown_elsewhere() -> None:
    said, _ = live("frontends").commands("", "f", {"maxconn": 1}, {"maxconn": 2}, ["maxconn"])
    assert [(each.text, each.check) for each in said] == [("set maxconn frontend f 2", Limit("f", "", 2))]
    said, _ = live("servers").commands("b", "s", OLD, {**OLD, "maxconn": 7}, ["maxconn"])
    assert [(each.text, each.check) for each in said] == [("set maxconn server b/s 7", Limit("b", "s", 7))]


def test_no_limit_cannot_be_said_of_a_frontend() -> None:
    """HAProxy takes the 0 of its file for the global limit, but that of a command for no connection at all."""
    assert live("frontends").commands("", "f", {"maxconn": 1}, {"maxconn": 0}, ["maxconn"]) == ([], ["maxconn"])


def test_a_member_that_is_taken_away() -> None:
    server = live("servers")
    old, new = {**server.initially, **OLD}, {**server.initially, "name": "s", "address": "192.0.2.1", "port": 80}
    assert [each.text for each in server.commands("b", "s", old, new, ["weight"])[0]] == ["set server b/s weight 1"]
    assert server.commands("b", "s", OLD, {"name": "s"}, ["port"]) == ([], ["port"])


@pytest.mark.parametrize(("word", "said"), [("a", "a"), ('"a b"', "a b"), ("a\\ b", "a b"), (7, "7")])
def test_words_as_haproxy_takes_them(word: object, said: str) -> None:
    assert plain(word) == said


def test_a_variable_cannot_be_said() -> None:
    with pytest.raises(NotExpressible):
        plain('"${HOME}"')


@pytest.mark.parametrize(
    ("text", "address"),
    [("192.0.2.1", "192.0.2.1"), ("[::1]", "::1"), ("::1", "::1"), ("example.com", None), ("", None), ("[192.0.2.1", None)],
)
def test_addresses(text: str, address: str | None) -> None:
    assert ip_of(text) == (address and ip_address(address))
