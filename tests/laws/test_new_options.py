"""An option that an edit adds stands where HAProxy takes it: some of its parsers read options in one order only."""

from typing import Any

import pytest

from haproxy_native.grammar.line_shape import unflattened
from haproxy_native.text.line import Line
from tests.laws.additions import Plain, onto, plain_lines
from tests.laws.language import kinds

PLAIN = list(plain_lines())


@pytest.mark.parametrize("plain", PLAIN, ids=lambda plain: f"{plain.subject.name}-{plain.line}")
def test_each_option_is_added_shown_and_kept(plain: Plain) -> None:
    shape = plain.subject.shape
    for addition in [*plain.alone(), *plain.beside(plain.options)]:
        if addition.is_exclusive:
            continue
        found = shape.read(Line(addition.result)) or {}
        assert {**(shape.read(Line(addition.line)) or {}), **found} == found
        assert found.keys() >= addition.members.keys()
        assert onto(shape, addition.result, found) == addition.result


@pytest.mark.parametrize("plain", PLAIN, ids=lambda plain: f"{plain.subject.name}-{plain.line}")
def test_one_option_alone_stands_where_a_new_line_has_it(plain: Plain) -> None:
    """So the referee of new lines is that of such additions."""
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
