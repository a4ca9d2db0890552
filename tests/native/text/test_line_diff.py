"""What `patch` makes of the difference is the new text, however large the texts are; small ones are compared as `difflib` does."""

import random
from collections.abc import Callable
from difflib import unified_diff

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haproxy_native.text.line_diff import unified
from tests.steps import steps

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "@@ x\n", "--- y\n"]), max_size=40)
LAST = st.sampled_from([[], ["end"]])


def patched(old: list[str], diff: list[str]) -> list[str]:
    """What `patch` would do; every line that stays or goes, and every place, must be right."""
    result: list[str] = []
    at = 0
    for line in diff[2:]:
        if line.startswith("@@ "):
            place, new_place = (_start(word) for word in line.split(" ")[1:3])
            result += old[at:place]
            at = place
            assert len(result) == new_place
        text = line[1:].removesuffix("\n\\ No newline at end of file\n")
        if line[0] in " -":
            assert old[at] == text
            at += 1
        result += [text] if line[0] in " +" else []
    return result + old[at:]


def _start(word: str) -> int:
    start, _, count = word[1:].partition(",")
    return int(start) - (count != "0")


def difference(old: list[str], new: list[str]) -> list[str]:
    return list(unified(old, new, "now", "then"))


@given(LINES, LINES, LAST, LAST)
def test_it_is_what_patch_needs(old: list[str], new: list[str], last: list[str], new_last: list[str]) -> None:
    before, after = old + last, new + new_last
    diff = difference(before, after)
    assert patched(before, diff) == after
    assert bool(diff) == (before != after)


@given(st.sets(st.integers(0, 59), max_size=6))
def test_of_a_few_lines_it_is_that_of_difflib(changed: set[int]) -> None:
    before = [f"line {i}\n" for i in range(60)]
    after = ["other\n" if i in changed else line for i, line in enumerate(before)]
    assert "".join(difference(before, after)) == "".join(unified_diff(before, after, "now", "then"))


def test_last_lines_without_an_end() -> None:
    assert difference(["a"], ["a\n"])[2:] == ["@@ -1 +1 @@\n", "-a\n\\ No newline at end of file\n", "+a\n"]


MANY = 20_000
SERVERS = [f"    server s{i} 127.0.0.1:{i}\n" for i in range(MANY)]
SAME = ["    option httplog\n", "\n"] * (MANY // 2)


def moved(lines: list[str]) -> list[str]:
    return lines[MANY // 2 :] + lines[: MANY // 2]


def shuffled(lines: list[str]) -> list[str]:
    return random.Random(1).sample(lines, len(lines))


def sparse(lines: list[str]) -> list[str]:
    return ["# new\n" if i % 1000 == 7 else line for i, line in enumerate(lines)]


def doubled(lines: list[str]) -> list[str]:
    return [*lines, *lines]


def others(lines: list[str]) -> list[str]:
    return [f"# {i}\n" for i in range(len(lines))]


@pytest.mark.parametrize("change", [moved, shuffled, sparse, doubled, others])
@pytest.mark.parametrize("lines", [SERVERS, SAME, [*SERVERS[: MANY // 2], *SAME[: MANY // 2]]], ids=["servers", "same", "both"])
def test_large_texts_are_compared_in_steps_that_grow_with_their_number(lines: list[str], change: Callable[[list[str]], list[str]]) -> None:
    """Comparing each line with each would take 20,000 steps per line."""
    after, diff = change(lines), list[str]()
    assert steps(lambda: diff.extend(difference(lines, after))) < 100 * len(lines)
    assert patched(lines, diff) == after


def test_few_changes_of_a_large_text_are_told_alone() -> None:
    assert sum(line[0] in "+-" for line in difference(SERVERS, sparse(SERVERS))[2:]) == 2 * MANY // 1000
