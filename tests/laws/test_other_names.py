"""A member that the reference names otherwise than its own document: both names are accepted, and the reference's is answered."""

from typing import Any

import pytest

from haproxy_native.editing.literals import is_shown
from haproxy_native.errors import BadValue
from haproxy_native.grammar.load import grammar

# Schema, members that choose the line, the name that is answered, the other one, the value, further members, the line.
ROWS: list[tuple[str, dict[str, Any], str, str, str, dict[str, Any], str]] = [
    (
        "tcp_request_rule",
        {"type": "content", "action": "capture"},
        "expr",
        "capture_sample",
        "req.ssl_sni",
        {"capture_len": 20},
        "tcp-request content capture req.ssl_sni len 20",
    ),
    (
        "tcp_request_rule",
        {"type": "content", "action": "do-resolve"},
        "var_name",
        "resolve_var",
        "txn.r",
        {"resolve_resolvers": "dns", "resolve_protocol": "ipv4", "expr": "hdr(Host)"},
        "tcp-request content do-resolve(txn.r,dns,ipv4) hdr(Host)",
    ),
    ("http_request_rule", {"type": "set-query"}, "hdr_format", "query-fmt", "%[query]", {}, "http-request set-query %[query]"),
    (
        "http_check",
        {"type": "set-var-fmt"},
        "var_expr",
        "var_format",
        "a",
        {"var_scope": "check", "var_name": "a"},
        "http-check set-var-fmt(check.a) a",
    ),
]


@pytest.mark.parametrize(("schema", "chosen", "name", "other", "value", "more", "line"), ROWS, ids=[row[3] for row in ROWS])
def test_both_names_are_accepted(
    schema: str, chosen: dict[str, Any], name: str, other: str, value: str, more: dict[str, Any], line: str
) -> None:
    shape = grammar().line(schema)
    for given in ({name: value}, {other: value}, {name: value, other: value}):
        made = shape.new({**chosen, **more, **given})
        assert made.text.strip() == line
        assert shape.read(made) == {**chosen, **more, name: value}
    with pytest.raises(BadValue, match="two names for one value"):
        shape.new({**chosen, **more, name: value, other: "other"})


def test_a_name_means_nothing_beside_another_action() -> None:
    shape = grammar().line("tcp_request_rule")
    body = {"type": "content", "action": "set-src", "expr": "src", "capture_sample": "dst", "resolve_var": "txn.r"}
    assert shape.new(body).text.strip() == "tcp-request content set-src src"


def test_a_template_under_the_name_of_an_expression_is_masked() -> None:
    """The value of set-var-fmt is text, which may be a credential."""
    assert is_shown("expression type", "token", {"type": "set-var"})
    assert not is_shown("expression type", "token", {"type": "set-var-fmt"})
    assert grammar().schemas.named("http_check")["properties"]["var_expr"]["x-secret"] == "expression type"
