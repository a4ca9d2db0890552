"""No test asserts a duration, or moves its process into another namespace, because both fail while other tests run.

`make bench` measures times. tests/steps.py counts steps, and tests/acceptance/mounts.py has a process for mounts.
"""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.rules.sources import CHECKOUT

# The functions of httpx2, whose default timeout is 5 s, and those of asyncio with the position of their timeout.
REQUESTS = {"get", "post", "put", "patch", "delete", "request", "stream", "Client", "AsyncClient"}
LIMITED = {"wait_for": 1, "timeout": 0}
# How many seconds a test may have to wait while other tests run.
SECONDS = 60
FORBIDDEN = re.compile(
    r"\b(?:perf_counter|process_time|thread_time|timeit)\b|\bassert\b.*\b(?:monotonic|time)\(\) - \w+(?:\.\w+)* *<|\.(?:unshare|setns)\("
)


def lines() -> Iterator[tuple[str, str]]:
    for path in sorted((CHECKOUT / "tests").rglob("*.py")):
        if path.name != "test_elapsed.py":
            yield from ((f"{path.relative_to(CHECKOUT)}:{number}", line) for number, line in enumerate(path.read_text().splitlines(), 1))


def test_no_time_is_judged() -> None:
    assert [place for place, line in lines() if FORBIDDEN.search(line)] == []


def test_whoever_waits_does_so_for_a_minute() -> None:
    calls = [(path, call) for path in sorted((CHECKOUT / "tests").rglob("*.py")) for call in impatient(path.read_text())]
    assert [f"{path.relative_to(CHECKOUT)}:{call.lineno} {ast.unparse(call.func)}" for path, call in calls] == []


def impatient(text: str) -> Iterator[ast.Call]:
    """Return the calls that end a wait after less than a minute."""
    for call in ast.walk(ast.parse(text)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            name, given = (call.func.value.id, call.func.attr), {each.arg: each.value for each in call.keywords}
            if name[0] == "httpx2" and name[1] in REQUESTS:
                limit = given.get("timeout", ast.Constant(5))
            elif name[0] == "asyncio" and name[1] in LIMITED and len(call.args) > LIMITED[name[1]]:
                limit = call.args[LIMITED[name[1]]]
            else:
                continue
            if isinstance(limit, ast.Constant) and isinstance(limit.value, int | float) and limit.value < SECONDS:
                yield call


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("httpx2.get(url)", True),
        ("httpx2.Client(base_url=url, timeout=10)", True),
        ("httpx2.Client(base_url=url, timeout=60)", False),
        ("httpx2.get(url, timeout=None)", False),
        ("asyncio.wait_for(reader.read(), 10)", True),
        ("asyncio.timeout(60)", False),
        ("asyncio.timeout(LONG)", False),
    ],
)
def test_which_waits_are_short(text: str, is_found: bool) -> None:
    assert bool(list(impatient(text))) == is_found


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
