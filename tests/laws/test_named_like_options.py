"""A value may be a word that begins another option: HAProxy reads the arguments of an option before it looks for the next option."""

from collections.abc import Iterator
from typing import Any

import pytest

from haproxy_native.grammar.line_shape import Alternative, LineShape
from haproxy_native.grammar.synopsis import Chain, Node, Options, Placeholder, Rest
from haproxy_native.grammar.values import Escaped, Text, Unquoted
from haproxy_native.text.line import Line
from tests.laws.language import Kind, kinds
from tests.samples import line_samples


def nodes(chain: Chain) -> Iterator[Node]:
    for node in chain.nodes:
        if isinstance(node, Options):
            yield from (inner for group in node.groups if not group.rows for each in group.alternatives for inner in nodes(each))
        else:
            yield node


def option_words(alternative: Alternative) -> list[str]:
    groups = [group for node in alternative.chain.nodes if isinstance(node, Options) for group in node.groups]
    return list(dict.fromkeys(word for group in groups for word in group.starts() or ()))


def samples_with(shape: LineShape, alternative: Alternative, member: str) -> Iterator[dict[str, Any]]:
    """Yield samples of the alternative that have the member."""
    for values in line_samples(shape):
        flat = shape.flatten_body(values)
        if member in flat and shape.choose(flat) is alternative:
            yield values


WITH_OPTIONS = [kind for kind in kinds().values() if any(option_words(each) for each in kind.shape.alternatives)]


@pytest.mark.parametrize("kind", WITH_OPTIONS, ids=lambda kind: kind.name)
def test_a_value_may_be_named_like_an_option(kind: Kind) -> None:
    for alternative in kind.shape.alternatives:
        words = option_words(alternative)
        texts = [
            node for node in nodes(alternative.chain) if isinstance(node, Placeholder) and type(node.type) in (Text, Unquoted, Escaped)
        ]
        for member in {node.member for node in texts if "." not in node.member and kind.properties[node.member].get("type") == "string"}:
            values = next(samples_with(kind.shape, alternative, member), None)
            # A line may have a hundred options. About ten of them are enough.
            for word in words[:: len(words) // 10 + 1] if values else ():
                line = kind.shape.new({**(values or {}), member: word})
                assert (kind.shape.read(line) or {}).get(member) == word, line.text


@pytest.mark.parametrize("kind", WITH_OPTIONS, ids=lambda kind: kind.name)
def test_so_may_an_argument_within_a_text(kind: Kind) -> None:
    for alternative in kind.shape.alternatives:
        for node in nodes(alternative.chain):
            if not isinstance(node, Rest) or not node.arguments:
                continue
            values = next(samples_with(kind.shape, alternative, alternative.chain.required()[0]))
            for word in option_words(alternative):
                for name in node.arguments.keys() - {"-m"}:
                    line = kind.shape.new({**values, node.member: f"{name} {word}"})
                    assert (kind.shape.read(line) or {}).get(node.member) == f"{name} {word}", line.text


READ = [
    (
        "http_request_rule",
        "http-request redirect set-cookie location location /x",
        {"redir_option": "set-cookie location", "redir_value": "/x"},
    ),
    (
        "http_request_rule",
        "http-request redirect location /x clear-cookie if if TRUE",
        {"redir_option": "clear-cookie if", "cond_test": "TRUE"},
    ),
    (
        "http_request_rule",
        "http-request redirect location /x clear-cookie code code 301",
        {"redir_option": "clear-cookie code", "redir_code": 301},
    ),
    ("http_response_rule", "http-response redirect location /x set-cookie unless", {"redir_option": "set-cookie unless"}),
    ("http_request_rule", "http-request redirect location if if TRUE", {"redir_value": "if", "cond_test": "TRUE"}),
    ("http_check", "http-check expect hdr name comment value y", {"pattern": "name comment value y"}),
    ("http_check", "http-check expect hdr name -m beg comment value-lf on-error", {"pattern": "name -m beg comment value-lf on-error"}),
    ("http_check", "http-check expect ! fhdr name x value comment comment hi", {"pattern": "name x value comment", "check_comment": "hi"}),
    ("http_check", "http-check expect comment status status 200", {"pattern": "200", "check_comment": "status"}),
]


@pytest.mark.parametrize(("kind", "line", "members"), READ, ids=[row[1] for row in READ])
def test_lines_of_a_file(kind: str, line: str, members: dict[str, Any]) -> None:
    shape, old = kinds()[kind].shape, Line(line + "\n")
    found = shape.read(old) or {}
    assert members.items() <= found.items()
    assert shape.onto(old, found) is old
