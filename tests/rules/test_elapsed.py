"""No test judges how long something took, or takes its process into another namespace: both fail beside other work.

`make bench` measures times. tests/steps.py counts steps, and tests/acceptance/mounts.py has a process for mounts.
"""

import re
from collections.abc import Iterator

import pytest

from tests.rules.sources import CHECKOUT

FORBIDDEN = re.compile(
    r"\b(?:perf_counter|process_time|thread_time|timeit)\b|\bassert\b.*\b(?:monotonic|time)\(\) - \w+(?:\.\w+)* *<|\.(?:unshare|setns)\("
)


def lines() -> Iterator[tuple[str, str]]:
    for path in sorted((CHECKOUT / "tests").rglob("*.py")):
        if path.name != "test_elapsed.py":
            yield from ((f"{path.relative_to(CHECKOUT)}:{number}", line) for number, line in enumerate(path.read_text().splitlines(), 1))


def test_no_time_is_judged() -> None:
    assert [place for place, line in lines() if FORBIDDEN.search(line)] == []


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("    began = time.process_time()", True),
        ("    assert time.monotonic() - began < 5", True),
        ("    assert only and time.monotonic() - self.began <= 4.9", True),
        ("    assert time.monotonic() < deadline", False),
        ("    _libc.unshare(CLONE_NEWNS)", True),
    ],
)
def test_what_is_found(line: str, is_found: bool) -> None:
    assert bool(FORBIDDEN.search(line)) == is_found
