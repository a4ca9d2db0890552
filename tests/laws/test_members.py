"""Every declared member of an object is written in a line, so the server stores everything that a client may send."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from haproxy_native.editing.resources import Resource
from haproxy_native.errors import BadValue
from haproxy_native.grammar.directive import Directive
from haproxy_native.grammar.line_shape import METADATA, LineShape
from haproxy_native.grammar.schema import Schema
from haproxy_native.grammar.section_shape import SectionShape
from haproxy_native.text.line import Line
from tests.laws.language import kinds, language
from tests.samples import line_samples

# Members that are accepted as in the reference, without an effect: HAProxy has no line for them.
UNUSED = {"email_alert.metadata", "http_after_response_rule.capture_len", "spoe_agent.engine-name", "tcp_request_rule.gpt_value"}

SCHEMAS = language().grammar.schemas


def held(shape: LineShape) -> set[str]:
    return {member for each in shape.alternatives for member in (*each.chain.members, *each.fixed)}


def lost(name: str, members: set[str], properties: Mapping[str, Schema], elsewhere: Iterable[str] = ()) -> Iterator[str]:
    """Return the declared members, at any depth, that no line has."""
    first = {member.split(".")[0] for member in members}
    for own, schema in properties.items():
        note = SCHEMAS.note(schema)
        if own in elsewhere or (own == METADATA and not note.get("ignored")) or "alias_of" in note:
            continue
        if own not in first:
            yield f"{name}.{own}"
        elif inner := {member.partition(".")[2] for member in members if member.startswith(f"{own}.")}:
            items = schema["items"] if schema.get("type") == "array" else schema
            yield from lost(f"{name}.{own}", inner, SCHEMAS.properties(items))


def lost_in_section(resource: Resource, shape: SectionShape) -> Iterator[str]:
    children = {member for member, _ in language().resources.children(resource.name)}
    yield from _lost_below(
        shape.directives, (), SCHEMAS.properties(SCHEMAS.named(resource.schema)), resource.schema, children, held(shape.header)
    )


def _lost_below(
    directives: Iterable[Directive],
    path: tuple[str, ...],
    properties: Mapping[str, Schema],
    name: str,
    children: set[str],
    members: set[str],
) -> Iterator[str]:
    deeper = {each.path[len(path)] for each in directives if each.path[: len(path)] == path and len(each.path) > len(path)}
    for each in (each for each in directives if each.path == path):
        members |= {each.rows} if each.rows else held(each.shape)
        if each.rows and not each.scalar:
            yield from lost(f"{name}.{each.rows}", held(each.shape), SCHEMAS.properties(properties[each.rows]["items"]))
    yield from lost(name, members, properties, children | deeper)
    for inner in deeper & properties.keys():
        yield from _lost_below(directives, (*path, inner), SCHEMAS.properties(properties[inner]), f"{name}.{inner}", set(), set())


def test_no_member_is_lost() -> None:
    found = {
        each for resource, shape in language().children() for each in lost(resource.schema, held(shape), language().properties(resource))
    }
    found |= {each for resource, shape in language().sections() for each in lost_in_section(resource, shape)}
    assert {".".join(each.split(".")[-2:]) for each in found} == UNUSED


@pytest.mark.parametrize(
    ("schema", "body", "given", "lacking"),
    [
        ("server", {"name": "s", "address": "192.0.2.1", "quic_cc_algo_max_window": 10_240}, "quic_cc_algo_max_window", "quic-cc-algo"),
        ("bind", {"name": "b", "port": 80, "quic_cc_algo_burst_size": 7}, "quic_cc_algo_burst_size", "quic-cc-algo"),
        ("log_target", {"address": "192.0.2.1", "facility": "kern", "minlevel": "err"}, "minlevel", "level"),
        ("table", {"name": "t", "type_len": 4}, "type_len", "type"),
        ("http_request_rule", {"type": "return", "return_content": "x"}, "return_content", "return_content_format"),
        ("http_check", {"type": "send", "headers": [{"name": "x"}]}, "headers.name", "headers.fmt"),
    ],
)
def test_a_member_that_its_line_cannot_say_alone_is_refused(schema: str, body: dict[str, Any], given: str, lacking: str) -> None:
    with pytest.raises(BadValue, match=f"{given} set without {lacking}"):
        language().grammar.line(schema).new(body)


def test_half_a_condition_is_refused_and_left_where_it_is() -> None:
    """HAProxy accepts `deny if`, which is never true, and `deny unless`, which is always true."""
    checked = set()
    for kind in kinds().values():
        pairs = {pair for alternative in kind.shape.alternatives for pair in alternative.conditions}
        whole = next((each for each in line_samples(kind.shape) if any(pair <= each.keys() for pair in map(set, pairs))), {})
        for cond, test in pairs if whole else ():
            checked.add(kind.name)
            line = kind.shape.new(whole)
            for lacking in (cond, test):
                half = {name: value for name, value in whole.items() if name != lacking}
                for write in (kind.shape.new, lambda body, shape=kind.shape, line=line: shape.onto(line, body)):
                    with pytest.raises(BadValue, match=f"{lacking} in body is required") as refused:
                        write(half)
                    assert refused.value.place and refused.value.place.member == lacking
            left = Line(line.text.partition(f" {whole[test]}")[0] + "\n")
            if (found := kind.shape.read(left)) and cond in found and test not in found:
                assert kind.shape.onto(left, found) is left, left.text
    assert {"http_request_rule", "tcp_response_rule", "stick_rule", "quic_initial_rule", "server_switching_rule"} <= checked


def test_so_is_one_of_a_section() -> None:
    section = language().grammar.section("backend")
    with pytest.raises(BadValue, match="smtpchk_params.hello set without smtpchk_params.domain"):
        section.new({"name": "b", "adv_check": "smtpchk", "smtpchk_params": {"hello": "EHLO"}})
