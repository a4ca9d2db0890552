"""The answer of a GET is accepted unchanged, also against patterns and enums of the document, and changes no byte."""

from collections.abc import Iterator
from typing import Any

import pytest

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.normalize import ResolvedSchemas
from dataplaneapi.api.validation import validated, with_sent_zeros
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import NativeError
from haproxy_native.grammar.load import bundle
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from tests.laws.settings import part
from tests.samples import line_samples, section_samples

EDITOR = Editor()
SCHEMAS = ResolvedSchemas(bundle()["components"]["schemas"])
RESOURCES = EDITOR.resources.by_name
CHILDREN = [name for name, resource in RESOURCES.items() if resource.kind in ("named", "indexed") and not resource.file]
SECTIONS = [name for name, resource in RESOURCES.items() if resource.kind in ("section", "singleton") and not resource.file]
# The number of lines in a document. Each line is read again for each other line.
NEIGHBOURS = 20
# Words that HAProxy accepts for many members whose pattern or enum forbids them.
ODD = ['"two words"', "'two words'", "o.d/d:word", "two\\ words"]


def accepted(resource: Resource, shown: Any, *, listed: bool = False, present: Any = None) -> Any:
    schema = {"$ref": f"#/components/schemas/{resource.schema}"}
    declared = {"type": "array", "items": schema} if listed else schema
    body = validated(shown, declared, SCHEMAS, present=lambda: shown if present is None else present)
    return with_sent_zeros(body, shown, shown)


def odd(sample: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """Yield the sample, and the sample with another word for each of its texts."""
    yield sample
    for place, (member, value) in enumerate(sample.items()):
        if isinstance(value, str) and member != "type":
            yield {**sample, member: ODD[(number + place) % len(ODD)]}
        elif isinstance(value, int) and not isinstance(value, bool):
            yield {**sample, member: 0}


def lines(resource: Resource) -> list[Line]:
    """Yield different lines of a collection, including lines with unusual words."""
    shape, made = EDITOR.grammar.line(resource.schema), dict[str, Line]()
    for number, sample in enumerate(line_samples(shape)):
        for values in odd(sample, number):
            if resource.kind == "named":
                values = {**values, resource.key: f"{ODD[2]}{len(made)}"} if number % 2 else {**values, resource.key: f'"{len(made)}"'}
            try:
                line = shape.new(values, "  ")
            except NativeError:
                continue
            if shape.read(line) is not None:
                made.setdefault(line.text, line)
    return list(made.values())


@pytest.mark.parametrize("name", CHILDREN)
def test_children(name: str) -> None:
    resource = RESOURCES[name]
    above = RESOURCES[resource.parents[0]]
    parent = (above, "na.me" if above.kind == "section" else "")
    header = f"{above.section} {parent[1]}".rstrip()
    texts = [line.text for line in part(lines(resource), name)]
    assert texts
    for start in range(0, len(texts), NEIGHBOURS):
        document = Document.parse("".join([header + "\n", *texts[start : start + NEIGHBOURS]]))
        stays(document, resource, parent)


def stays(document: Document, resource: Resource, parent: tuple[Resource, str]) -> None:
    shown = EDITOR.list_objects(document, resource, parent)
    assert shown
    for place, object_ in enumerate(shown):
        key = place if resource.kind == "indexed" else object_[resource.key]
        body = accepted(resource, object_)
        assert body == object_
        assert EDITOR.replace(document, resource, parent, key, body).text == document.text
    if resource.kind == "indexed":
        assert EDITOR.replace_all(document, resource, parent, accepted(resource, shown, listed=True)).text == document.text


@pytest.mark.parametrize("name", SECTIONS)
def test_sections(name: str) -> None:
    resource = RESOURCES[name]
    shape = EDITOR.shape(resource)
    for number, sample in enumerate(part(list(section_samples(shape)), name)):
        for values in odd(sample, number):
            values.pop("from", None)
            try:
                text = shape.new({**values, "name": "o.d-d"} if resource.kind == "section" else values).text
            except NativeError:
                continue
            document, key = Document.parse(text), "o.d-d" if resource.kind == "section" else ""
            for full in (False, True):
                object_ = EDITOR.get_object(document, resource, None, key, full=full)
                body = accepted(resource, object_)
                assert body == object_
                assert EDITOR.replace(document, resource, None, key, body, full=full).text == text


def test_a_pattern_judges_what_is_new() -> None:
    resource = RESOURCES["http_request_rules"]
    there = {"type": "auth", "auth_realm": "Two words"}
    edited = {**there, "cond": "if", "cond_test": "TRUE"}
    assert accepted(resource, edited, present=there) == edited
    assert accepted(resource, [edited, there], listed=True, present=[there]) == [edited, there]
    in_quotes = {**edited, "auth_realm": '"Two words"'}
    assert accepted(resource, in_quotes, present={}) == in_quotes
    for present in ({}, {"type": "auth"}, {"type": "auth", "auth_realm": "two words"}):
        with pytest.raises(ApiError, match="auth_realm in body should match"):
            accepted(resource, edited, present=present)


def test_a_port_in_the_address_is_no_missing_port() -> None:
    for name in ("peer_entries", "mailer_entries"):
        assert accepted(RESOURCES[name], {"name": "one", "address": "[::1]:80"}, present=[]) == {"name": "one", "address": "[::1]:80"}
        with pytest.raises(ApiError, match="port in body is required"):
            accepted(RESOURCES[name], {"name": "one", "address": "::1"}, present=[])
