"""If the reference uses another name for a member than its document, both names are accepted, and answers have the reference's name."""

from collections.abc import Iterator
from typing import Any

import pytest

from haproxy_native.editing.secret_kinds import is_shown
from haproxy_native.errors import BadValue
from haproxy_native.grammar.line_shape import Alias
from haproxy_native.grammar.load import grammar
from haproxy_native.text.document import Document

# Schema, members that select the line, the name in answers, the other name, the value, further members, the line.
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


def _deprecated() -> Iterator[tuple[str, Alias, Any, Any]]:
    """Yield each schema of a line with a deprecated member name, two values of the member, and the model of the line."""
    for schema in ("bind", "server", "default_server"):
        for alias in grammar().line(schema).aliases:
            values = [value for value, meant in (alias.values or {}).items() if meant is not None]
            yield from ((schema, alias, own, meant) for own in values for meant in ("enabled", "disabled"))


@pytest.mark.parametrize(
    ("schema", "alias", "own", "stored"), [*_deprecated()], ids=lambda value: value.member if isinstance(value, Alias) else str(value)
)
def test_the_name_that_says_something_new_counts(schema: str, alias: Alias, own: Any, stored: str) -> None:
    """A client changes the member under one name, and sends the value of the other name back as it was read."""
    shape = grammar().line(schema)
    needed = {"name": "s", "address": "127.0.0.1", "port": 1} if schema != "default_server" else {}
    line = shape.new({**needed, alias.target: stored})
    read = shape.read(line) or {}
    edited = shape.onto(line, {**read, alias.member: own})
    assert (shape.read(edited) or {})[alias.target] == alias.meant(own)
    other = "disabled" if stored == "enabled" else "enabled"
    assert (shape.read(shape.onto(line, {**read, alias.target: other})) or {})[alias.target] == other


def test_a_name_means_nothing_beside_another_action() -> None:
    shape = grammar().line("tcp_request_rule")
    body = {"type": "content", "action": "set-src", "expr": "src", "capture_sample": "dst", "resolve_var": "txn.r"}
    assert shape.new(body).text.strip() == "tcp-request content set-src src"


def test_a_template_under_the_name_of_an_expression_is_masked() -> None:
    """The value of set-var-fmt is text, which may be a credential."""
    assert is_shown("expression type", "token", {"type": "set-var"})
    assert not is_shown("expression type", "token", {"type": "set-var-fmt"})
    assert grammar().schemas.named("http_check")["properties"]["var_expr"]["x-secret"] == "expression type"


def test_a_name_within_a_section_says_something_new() -> None:
    shape = grammar().section("backend")
    text = "backend b\n  default-server no-tlsv10 weight 3\n  force-persist if TRUE\n  force-persist if FALSE\n"
    section = Document.parse(text.encode()).sections[0]
    read = shape.read(section)
    edited = shape.onto(section, {**read, "default_server": {**read["default_server"], "force_tlsv10": "enabled"}})
    assert edited.text == text.replace("no-tlsv10", "force-tlsv10")
    edited = shape.onto(section, {**read, "force_persist": {"cond": "unless", "cond_test": "TRUE"}})
    assert edited.text == text.replace("if TRUE", "unless TRUE")
    assert shape.onto(section, read) is section
