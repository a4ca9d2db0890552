"""Metadata in comments."""

from typing import Any

import pytest

from haproxy_native.errors import BadValue
from haproxy_native.grammar.line_shape import is_metadata, read_metadata, write_metadata


@pytest.mark.parametrize(
    ("metadata", "comment"),
    [({"b": 1, "a": "<&>"}, '{"a":"\\u003c\\u0026\\u003e","b":1}'), ({}, "{}"), (None, None)],
)
def test_metadata_is_a_comment(metadata: dict[str, Any] | None, comment: str | None) -> None:
    assert write_metadata(metadata) == comment
    assert read_metadata(comment) == metadata


def test_metadata_must_be_an_object() -> None:
    with pytest.raises(BadValue, match="metadata"):
        write_metadata("text")


@pytest.mark.parametrize(
    ("comment", "ours"),
    [('{"a":1}', True), ("{}", True), ("why", False), ("{a}", False), ('{"a":' + "[" * 100_000, False), ("", False), (None, False)],
)
def test_only_json_objects_are_ours(comment: str | None, ours: bool) -> None:
    assert is_metadata(comment) is ours
