"""The difference is that of the whole texts, however little of them is looked at; what is asked beside a commit does not disturb it."""

import asyncio
import threading
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haproxy_native.changes.expect import Version
from haproxy_native.commit.change import Change
from haproxy_native.commit.preview import difference
from haproxy_native.disk.files import Drafts
from haproxy_native.editing import header
from haproxy_native.engine import Engine
from haproxy_native.request_context import NOBODY
from haproxy_native.text.document import Document
from haproxy_native.text.parts import MAIN, join
from tests.haproxy.process import HAProxy
from tests.laws.settings import law
from tests.native.engines import ByFunction, adding, backends, reload, run_beside

LINES = st.lists(st.sampled_from(["global\n", "backend a\n", "  x y\n", "\n", "# c\n", "backend b\n"]), max_size=30)


@given(LINES, LINES, LINES, LINES)
@law(100)
def test_it_agrees_with_comparing_everything(head: list[str], old: list[str], new: list[str], tail: list[str]) -> None:
    before, after = [*head, *old, *tail], [*head, *new, *tail]
    diff = difference(Document.parse("".join(before)), Document.parse("".join(after)), "f")
    assert apply(before, diff) == after
    assert (diff == "") == (before == after)


def apply(lines: list[str], diff: str) -> list[str]:
    """What `patch` would do."""
    result, at = [], 0
    for line in diff.splitlines(keepends=True)[2:]:
        if line.startswith("@@"):
            start, _, count = line.split(" ")[1][1:].partition(",")
            place = int(start) - (count != "0")
            result += lines[at:place]
            at = place
        elif line.startswith("+"):
            result.append(line[1:])
        else:
            assert lines[at] == line[1:]
            at += 1
            result += [line[1:]] if line.startswith(" ") else []
    return result + lines[at:]


def test_places_are_those_of_the_file() -> None:
    before = [f"  line {i}\n" for i in range(100)]
    after = [*before[:50], "  new\n", *before[51:]]
    diff = difference(Document.parse("".join(before)), Document.parse("".join(after)), "f")
    assert diff.splitlines()[:2] == ["--- f (now)", "+++ f (then)"]
    assert diff == "".join(unified_diff(before, after, "f (now)", "f (then)"))


def test_our_header_does_not_count() -> None:
    bare = Document.parse("global\n  a\n")
    old, new = (header.with_header(bare, version, banner=True).document for version in (7, 8))
    assert difference(old, new, "f") == ""
    assert difference(bare, new, "f") == difference(new, bare, "f") == "", "a push without the header removes the banner"
    changed = header.with_header(Document.parse("global\n  b\n"), 9, banner=False).document
    assert [line for line in difference(new, changed, "f").splitlines()[3:] if line[0] in "+-"] == ["-  a", "+  b"]


def test_a_missing_last_line_end_is_told() -> None:
    diff = difference(Document.parse("global\n  a"), Document.parse("global\n  b\n"), "f")
    assert diff.endswith("-  a\n\\ No newline at end of file\n+  b\n")


def test_each_of_several_files() -> None:
    old, new = (Document.parse(join([("a.cfg", b"global\n"), (MAIN, text), ("b.cfg", text)])) for text in (b"backend b\n", b"backend c\n"))
    assert [line for line in difference(old, new, "f").splitlines() if line.startswith("+")] == [
        "+++ f (then)",
        "+backend c",
        "+++ b.cfg (then)",
        "+backend c",
    ]


def test_haproxy_that_starts_while_the_file_is_replaced_is_not_taken_for_one_with_the_former_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced, go = threading.Event(), threading.Event()
    install = Drafts.install

    def slow(self: Drafts, *given: Any) -> None:
        install(self, *given)
        replaced.set()
        go.wait(60)

    async def work(engine: Engine, haproxy: HAProxy) -> None:
        haproxy.kill()
        first = (await engine.write([ByFunction(adding("first"))], Version(1), author=NOBODY)).reload_id or ""
        assert (await reload(engine)).phase == "waiting"
        monkeypatch.setattr(Drafts, "install", slow)
        second = asyncio.create_task(engine.write([ByFunction(adding("second"))], Version(2), author=NOBODY))
        await asyncio.to_thread(replaced.wait, 30)
        haproxy.start()
        asked = asyncio.create_task(engine.plan(Change(author=NOBODY)))
        await asyncio.wait([asked], timeout=0.5)
        go.set()
        await asked
        assert (await second).version == 3
        record = engine.reloads.records.get(first)
        assert (record.status, record.version, engine.reloads.pending) == ("succeeded", 3, None)
        assert backends(haproxy) == ["app", "first", "second"]
        assert engine.running is engine.document

    run_beside(tmp_path, work)


def test_a_text_that_was_sent_is_not_in_effect_while_a_part_of_it_waits_for_a_reload(tmp_path: Path) -> None:
    async def work(engine: Engine, haproxy: HAProxy) -> None:
        assert (await engine.write([ByFunction(adding("first"))], Version(1), author=NOBODY)).reload_id
        waits = await engine.plan(Change([await engine.text(engine.document.data)], author=NOBODY))
        assert (list(waits.commands), bool(waits.reasons)) == ([], True)
        await reload(engine)
        done = await engine.plan(Change([await engine.text(engine.document.data)], author=NOBODY))
        assert (list(done.commands), list(done.reasons)) == ([], [])

    run_beside(tmp_path, work)
