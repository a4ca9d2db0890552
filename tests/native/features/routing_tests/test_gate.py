"""Which changes are tested, and what becomes of them. All ways of a change are in tests/app/handlers/sidecar/test_required_tests.py."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.commit.change import Candidate
from haproxy_native.errors import BreaksTests, NoShadow, Untested
from haproxy_native.features.routing_tests.routing_tests import RoutingGate
from haproxy_native.features.routing_tests.run import Coverage, Result, Run, cases_of
from haproxy_native.request_context import NOBODY, Author, Request
from haproxy_native.text.document import Document

TEXT = "frontend site\n    bind :80\n    acl a path /a\n    use_backend shop if a\nbackend shop\n    server s 10.0.0.1:80 check\n"
CASES = cases_of([{"name": name, "request": {"url": f"/{name}"}, "expect": {"status": 200}} for name in ("a", "b", "c", "d", "e")], "t")


class Tests:
    """Each run fails the cases whose names are in the next of `failing`."""

    __test__ = False

    def __init__(self, *failing: str) -> None:
        self.stored, self._failing = self, list(failing)

    def names(self) -> list[str]:
        return ["t"]

    def cases(self) -> Any:
        return CASES

    async def run(self, document: Document, cases: Any, files: Any = None) -> Run:
        if not self._failing:
            raise NoShadow("none")
        failing = self._failing.pop(0)
        return Run([Result(case, 0.0, "wrong" if case.name in failing else "", {}) for case in cases], Coverage(0, ()), 0.0)


def candidate(before: str, after: str, **files: Path | None) -> Candidate:
    named = {Path(f"/m/{name}.map"): content for name, content in files.items()}
    return Candidate(Document.parse(before.encode()), Document.parse(after.encode()), named, author=NOBODY)


def checked(tests: Tests, before: str, after: str, **files: Path | None) -> Sequence[str]:
    gate = RoutingGate(tests, Path("/m"), lambda: False)  # type: ignore[arg-type]
    return asyncio.run(gate.judge(candidate(before, after, **files)))


def test_who_is_asked() -> None:
    client, itself = Author(request=Request()), Author("discovery consul")
    assert not RoutingGate(Tests(), Path(), lambda: False).judges(client)  # type: ignore[arg-type]
    gate = RoutingGate(Tests(), Path(), lambda: True)  # type: ignore[arg-type]
    assert gate.judges(client) and not gate.judges(itself)
    asking = Author(request=Request(requires_tests=True))
    assert RoutingGate(Tests(), Path(), lambda: False).judges(asking)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("old", "new"), [("10.0.0.1:80", "10.0.0.2:80"), (" check", " check inter 3s"), ("acl a path /a", "acl a  path   /a"), ("", "")]
)
def test_what_changes_no_rule_is_not_tested(old: str, new: str) -> None:
    checked(Tests(), TEXT, TEXT.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [("path /a", "path /b"), ("if a", "unless a"), (":80\n", ":81\n"), ("backend shop", "backend other"), ("server s", "server t")],
)
def test_what_may_be_is(old: str, new: str) -> None:
    with pytest.raises(Untested, match="cannot be run: none; nothing was changed"):
        checked(Tests(), TEXT, TEXT.replace(old, new, 1))


def test_a_map_that_is_named(tmp_path: Path) -> None:
    text = TEXT.replace("path /a", "path -f /m/paths.map")
    checked(Tests(), text, text, other=None)
    with pytest.raises(Untested):
        checked(Tests(), text, text, paths=None)
    (tmp_path / "list").write_text("/m/names.map\n")
    through = TEXT.replace("path /a", f"path -f {tmp_path}/list")
    checked(Tests(), through, through, paths=None)
    with pytest.raises(Untested):
        checked(Tests(), through, through, names=None)


def test_what_has_passed_is_not_run_again(tmp_path: Path) -> None:
    """Changes that route nothing otherwise come meanwhile, and the plan comes before its commit."""

    def again(old: str, new: str, *more: str) -> None:
        changed = TEXT.replace("path /a", "path /b")
        tests = Tests("a", "a", *more)
        gate = RoutingGate(tests, Path("/m"), lambda: False)  # type: ignore[arg-type]
        for _ in range(2):
            assert asyncio.run(gate.judge(candidate(TEXT, changed))) == ("t, a",)
        asyncio.run(gate.judge(candidate(TEXT.replace(old, new), changed.replace(old, new))))

    again("10.0.0.1:80", "10.0.0.2:80")
    again("backend shop", "backend other", "")
    with pytest.raises(Untested):
        again("backend shop", "backend other")
    content = tmp_path / "content"
    text = TEXT.replace("path /a", "path -f /m/paths.map")
    gate = RoutingGate(Tests("", ""), Path("/m"), lambda: False)  # type: ignore[arg-type]
    for written in ("a", "a", "b"):
        content.write_text(written)
        assert asyncio.run(gate.judge(candidate(text, text, paths=content))) == ()
    content.write_text("c")
    with pytest.raises(Untested):
        asyncio.run(gate.judge(candidate(text, text, paths=content)))


def test_what_failed_before_does_not_count() -> None:
    changed = TEXT.replace("path /a", "path /b")
    assert checked(Tests("ab", "ab"), TEXT, changed) == ("t, a", "t, b")
    with pytest.raises(BreaksTests) as refused:
        checked(Tests("abcde", "b"), TEXT, changed)
    assert refused.value.detail.splitlines() == [
        "this breaks 4 tests of routing, and nothing was changed",
        "t, a: wrong",
        "t, c: wrong",
        "t, d: wrong",
        "and 1 more",
    ]
    assert [each["name"] for each in refused.value.failed] == ["a", "c", "d", "e"] and refused.value.failed_before == ("t, b",)


def test_a_text_that_could_not_be_tested_before() -> None:
    with pytest.raises(BreaksTests):
        checked(Tests("a"), TEXT, TEXT.replace("path /a", "path /b"))
