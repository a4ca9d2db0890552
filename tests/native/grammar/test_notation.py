"""Synopses as chains of nodes."""

from typing import Any

import pytest

from haproxy_native.grammar.notation import Compiler
from haproxy_native.grammar.schema import Schemas
from haproxy_native.grammar.synopsis import Glued, Literal, Options, Placeholder, Rest, Toggle
from haproxy_native.grammar.values import Choice

TEXT = {"type": "string"}
PROPERTIES: dict[str, Any] = {
    "name": TEXT,
    "file": TEXT,
    "cond": TEXT,
    "cond_test": TEXT,
    "kind": {**TEXT, "enum": ["x", "y"]},
    "loud": {"type": "boolean"},
    "mute": {**TEXT, "enum": ["enabled", "disabled"], "x-haproxy": {"when_disabled": None}},
    "rows": {"type": "array", "items": {"properties": {"a": TEXT, "b": {"type": "integer"}}}},
    "words": {"type": "array", "items": TEXT},
    "address": {**TEXT, "x-haproxy": {"codec": "address_port"}},
    "port": {"type": "integer"},
}
PARAMS = {"properties": {"name": TEXT, "check": {**TEXT, "enum": ["enabled", "disabled"]}, "tags": {"type": "array", "items": TEXT}}}
COMPILER = Compiler(Schemas({"components": {"schemas": {"params": PARAMS}}}), PROPERTIES)


@pytest.mark.parametrize(
    ("token", "kind", "members"),
    [
        ("word", Literal, ()),
        ("<name>", Placeholder, ("name",)),
        ("map(<file>,<name>)", Glued, ("file", "name")),
        ("<name...>", Rest, ("name",)),
        ("<loud>", Toggle, ("loud",)),
        ("<mute>", Toggle, ("mute",)),
        ("<rows.b>", Placeholder, ("rows.b",)),
    ],
)
def test_each_sign_is_a_node(token: str, kind: type, members: tuple[str, ...]) -> None:
    node = COMPILER.node(token)
    assert type(node) is kind
    assert node.members == members


@pytest.mark.parametrize(
    ("synopsis", "line", "values"),
    [
        ("a <name> [ to <file> ] [ <loud> ]", "a n loud to f", {"name": "n", "file": "f", "loud": True}),
        ("a [ <kind> ] [ <name> ]", "a y n", {"kind": "y", "name": "n"}),
        ("a [ <kind> ] [ <name> ]", "a n", {"name": "n"}),
        ("a [ row <rows.a> <rows.b> ]*", "a row x 1 row y 2", {"rows": [{"a": "x", "b": 1}, {"a": "y", "b": 2}]}),
        ("a <name...> [ <cond> <cond_test...> ]", "a b c if d e", {"name": "b c", "cond": "if", "cond_test": "d e"}),
        ("a <name...>", "a b if c", {"name": "b if c"}),
        ("a <words...>", "a b c", {"words": ["b", "c"]}),
        ("a <address>", "a 1.2.3.4:80", {"address": "1.2.3.4", "port": 80}),
        ("a <file> <params...>", "a f no-check name n", {"file": "f", "check": "disabled", "name": "n"}),
        ("a [ b <name> [ c <file> ] ]", "a b n c f", {"name": "n", "file": "f"}),
    ],
)
def test_a_synopsis_reads_and_writes(synopsis: str, line: str, values: dict[str, Any]) -> None:
    chain = COMPILER.chain(synopsis)
    found = chain.match(line.split(), 0)
    assert found == (len(line.split()), values)
    assert chain.match(" ".join(chain.write(values)).split(), 0) == found


def test_what_is_named_beside_a_schema_is_no_option_of_it() -> None:
    options = COMPILER.chain("a <name> <params...>").nodes[-1]
    assert isinstance(options, Options)
    assert options.members == ("check", "tags")


def test_a_choice_that_begins_a_group_takes_its_own_words_only() -> None:
    options = COMPILER.chain("a [ <kind> ]").nodes[-1]
    assert isinstance(options, Options)
    place = options.groups[0].alternatives[0].nodes[0]
    assert isinstance(place, Placeholder)
    assert isinstance(place.type, Choice)
    assert place.type.strict


@pytest.mark.parametrize(
    ("note", "no", "words"),
    [
        ({}, "dash", {"enabled": ("check",), "disabled": ("no-check",)}),
        ({}, "prefix", {"enabled": ("check",), "disabled": ("no", "check")}),
        ({"no": "none"}, "dash", {"enabled": ("check",), "disabled": None}),
        ({"keyword": "option check"}, "prefix", {"enabled": ("option", "check"), "disabled": ("no", "option", "check")}),
        ({"when_enabled": "on", "when_disabled": "off now"}, "dash", {"enabled": ("on",), "disabled": ("off", "now")}),
        ({"when_disabled": None}, "dash", {"enabled": ("check",), "disabled": None}),
    ],
)
def test_a_switch_is_two_words(note: dict[str, Any], no: str, words: dict[str, Any]) -> None:
    compiler = Compiler(COMPILER.schemas, PROPERTIES, no=no)
    assert compiler.toggle("check", {"type": "string", "enum": ["enabled", "disabled"]}, note).words == words
