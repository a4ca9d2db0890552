"""An edit adds an option at a position that HAProxy accepts. Some of its parsers accept options only in one order."""

from typing import Any

import pytest

from haproxy_native.grammar.line_shape import unflattened
from haproxy_native.text.line import Line
from tests.laws.additions import Plain, onto, plain_lines
from tests.laws.language import kinds

PLAIN: dict[str, list[Plain]] = {}
for each in plain_lines():
    PLAIN.setdefault(each.subject.name, []).append(each)


@pytest.mark.parametrize("kind", PLAIN)
def test_each_option_is_added_shown_and_kept(kind: str) -> None:
    for plain in PLAIN[kind]:
        shape = plain.subject.shape
        for addition in [*plain.alone(), *plain.beside(plain.options)]:
            if addition.is_exclusive:
                continue
            found = shape.read(Line(addition.result)) or {}
            assert {**(shape.read(Line(addition.line)) or {}), **found} == found, addition.line
            assert found.keys() >= addition.members.keys(), addition.line
            assert onto(shape, addition.result, found) == addition.result
        stands_as_in_a_new_line(plain)


def stands_as_in_a_new_line(plain: Plain) -> None:
    """Assert that a single added option is at the same position as in a new line, which the referee checks."""
    for option, addition in zip(plain.options, plain.alone(), strict=True):
        assert addition.result == plain.subject.shape.new(unflattened({**plain.base, **option})).text.strip()


@pytest.mark.parametrize(
    ("kind", "line", "more", "wanted"),
    [
        ("http_request_rule", "http-request deny hdr a b", {"deny_status": 403}, "http-request deny deny_status 403 hdr a b"),
        (
            "http_request_rule",
            "http-request deny hdr a b if TRUE",
            {"deny_status": 403},
            "http-request deny deny_status 403 hdr a b if TRUE",
        ),
        ("http_response_rule", "http-response deny string x", {"deny_status": 403}, "http-response deny deny_status 403 string x"),
        ("log_target", "log 127.0.0.1 format raw local0", {"length": 100}, "log 127.0.0.1 len 100 format raw local0"),
        ("log_target", "log 127.0.0.1 sample 1:2 local0", {"format": "raw"}, "log 127.0.0.1 format raw sample 1:2 local0"),
    ],
)
def test_it_stands_where_it_is_declared(kind: str, line: str, more: dict[str, Any], wanted: str) -> None:
    shape = kinds()[kind].shape
    old = Line(line + "\n")
    assert shape.onto(old, {**(shape.read(old) or {}), **more}).text == wanted + "\n"
