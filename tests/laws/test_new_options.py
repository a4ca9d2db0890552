"""An option that an edit adds stands where HAProxy takes it: some of its parsers read options in one order only."""

from typing import Any

import pytest

from haproxy_native.text.line import Line
from tests.laws.language import kinds


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
