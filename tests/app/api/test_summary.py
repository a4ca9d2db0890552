"""The first line of any message is short, and what was short stays."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplaneapi.api.errors import LONGEST, summarized

WORDS = st.text(st.sampled_from(string.ascii_letters + "\"'`;:,. \n[]é"), max_size=2000)


@given(WORDS)
def test_the_first_line_is_short_and_the_next_ones_stay(message: str) -> None:
    summary = summarized(message)
    assert len(summary.partition("\n")[0]) <= LONGEST
    assert summary.endswith(message.partition("\n")[2])
    assert len(message.partition("\n")[0]) > LONGEST or summary == message


@pytest.mark.parametrize(
    ("message", "first"),
    [
        (f'backend "{"a" * 999}" does not exist', f'backend "{"a" * 47}...{"a" * 47}" does not exist'),
        (f"invalid name '{'a b ' * 99}' in body", f"invalid name '{('a b ' * 99)[:47]}...{('a b ' * 99)[-47:]}' in body"),
        (f"missing object: {'a' * 999} does not exist", f"missing object: {'a' * 48}...{'a' * 48} does not exist"),
        ("a" * 1000, "a" * 48 + "..." + "a" * 48),
    ],
)
def test_names_and_values_are_shortened_in_the_middle(message: str, first: str) -> None:
    assert summarized(f"{message}\nmore") == f"{first}\nmore"


def test_what_is_too_long_even_so_goes_on_in_the_next_line() -> None:
    parts = [f"member{i} in body is required" for i in range(40)]
    first, rest = summarized("; ".join(parts)).split("\n")
    assert f"{first} {rest}" == "; ".join(parts)
    assert first.endswith(";")
    assert LONGEST // 2 < len(first) <= LONGEST


@pytest.mark.parametrize("unit", ["a", '"', "'", '"a', "' ", "a ", "; "])
def test_it_takes_linear_time(unit: str) -> None:
    """Otherwise this takes hours: the limit of a test's time ends it."""
    summarized(unit * ((1 << 22) // len(unit)))
