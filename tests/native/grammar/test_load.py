"""Shapes that follow from schemas."""

import pytest

from haproxy_native.grammar.load import Grammar, bundle, grammar
from haproxy_native.grammar.schema import Schemas
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section
from tests.native.grammar.language import SCHEMAS, small


def test_a_shape_is_made_once() -> None:
    spoken = small()
    assert spoken.line("host") is spoken.line("host")
    assert spoken.section("place") is spoken.section("place")
    assert spoken.section("place", ["names"]) is not spoken.section("place")


@pytest.mark.parametrize(
    ("member", "synopses"),
    [
        ("level", ["level"]),
        ("open", ["option open", "no option open"]),
        ("guard", ["option guard [ by <by> ]", "no option guard"]),
        ("marks", ["mark <a> [ as <b> ]"]),
        ("deep", ["deep"]),
    ],
)
def test_each_property_is_a_line(member: str, synopses: list[str]) -> None:
    directives = small().section("place").directives
    own = next(each for each in directives if member in (each.rows, *each.path, *each.shape.members))
    assert own.shape.explain() == synopses


def test_embedded_members_and_those_of_the_header_are_no_lines() -> None:
    shape = small().section("place", ["names"])
    assert "names" not in shape.order
    assert not [each for each in shape.directives if "name" in each.shape.members or each.rows == "names"]


def test_some_members_are_read_as_among_all() -> None:
    text = "global\n  maxconn 5\n  stats socket /a level admin\n  stats timeout 2m\n  stats socket ipv4@127.0.0.1:1 mode 600\n"
    section, sockets = Document.parse(text).sections[0], ("runtime_apis",)
    every = grammar().section("global").read(section)
    assert grammar().members("global", sockets).read(section) == {name: every[name] for name in sockets}
    assert len(every) > len(sockets)


def test_times_are_written_as_asked() -> None:
    seconds = Grammar({"components": {"schemas": SCHEMAS}}, time_suffix="s")
    values = {"name": "a", "address": "b", "inter": 60_000}
    assert seconds.line("host").new(values).words[-1] == "60s"
    assert small().line("host").new(values).words[-1] == "1m"


def test_one_key_may_stand_for_several() -> None:
    rule = small().line("rule")
    assert {each.fixed["type"] for each in rule.alternatives} == {"allow", "deny", "set", "pick"}
    assert rule.read(Line("rule deny")) == {"type": "deny"}


def test_an_object_that_a_deprecated_member_tells_is_the_first_of_its_list() -> None:
    item = {"type": "object", "properties": {"a": {"type": "string"}}, "x-haproxy": {"line": "mark <a>"}}
    old = {**item, "x-haproxy": {"alias_of": "marks"}}
    schemas = {"p": {"x-haproxy": {"header": "p"}, "properties": {"marks": {"type": "array", "items": item}, "mark": old}}}
    shape = Grammar({"components": {"schemas": schemas}}).section("p")
    section = Section("p", "", "p\n  mark x\n  mark y\n")
    assert shape.read(section) == {"marks": [{"a": "x"}, {"a": "y"}], "mark": {"a": "x"}}
    assert shape.onto(section, {"mark": {"a": "z"}}).text == "p\n  mark z\n  mark x\n  mark y\n"


def test_the_shipped_bundle_is_loaded_once() -> None:
    assert grammar() is grammar()
    assert grammar().schemas.by_name is bundle()["components"]["schemas"]
    assert isinstance(grammar().schemas, Schemas)
