"""Flat YAML means what YAML means by it, or is left to the library."""

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from dataplaneapi.ctl.files import parse_flat_yaml

SCALARS = [
    "",
    " a",
    " /etc/x.y",
    " https://h:5/",
    " 'a b'",
    ' "c: #d"',
    " 1",
    " yes",
    " null",
    " a #b",
    " -",
    " [a]",
    " |",
    " a:",
    " 0x1",
    " .5",
    " A=B",
]
LINES = st.builds(
    lambda indent, key, value: " " * indent + key + ":" + value, st.integers(0, 4), st.sampled_from("abcd"), st.sampled_from(SCALARS)
)
OTHERS = st.sampled_from(["", "# comment", "  # comment", "- a", "a", "\t", "---", "a: &x b", "? a"])


@given(st.lists(st.one_of(LINES, LINES, OTHERS), max_size=6))
def test_it_means_what_the_library_means(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = parse_flat_yaml(text)
    if found is not None:
        try:
            expected = YAML(typ="safe", pure=True).load(StringIO(text))
        except YAMLError:
            expected = "an error"
        assert (found or None) == expected


def test_a_file_of_contexts() -> None:
    text = "# ours\ncurrent: edge\ncontexts:\n  edge:\n    url: https://lb1.example.org:5556\n    password: 'a b'\n\n"
    text += "  other:\n    socket: /run/x.sock\n"
    edge = {"url": "https://lb1.example.org:5556", "password": "a b"}
    assert parse_flat_yaml(text) == {"current": "edge", "contexts": {"edge": edge, "other": {"socket": "/run/x.sock"}}}


@pytest.mark.parametrize("text", ["a: {b: c}", "a: yes", "a: 1", "a:\n- b", "a: b\n  c: d", "a:\n", "a: b\na: c", " a: b"])
def test_what_is_left_to_the_library(text: str) -> None:
    assert parse_flat_yaml(text) is None
