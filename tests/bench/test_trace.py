"""Count the executed lines of a request: in a whole run with HAProxy, and for code with known counts."""

import asyncio
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench import trace
from bench.trace import COMMIT, IN_PROCESS, NAMES, PUT, Trace, table, traces
from bench.traced import Call, Recorder

CODE = """
import asyncio, os

class Protocol:
    def data_received(self, data):
        self.task = asyncio.get_running_loop().create_task(self.serve())

    async def serve(self):
        await asyncio.gather(*[self.edit() for _ in range(2)])

    async def edit(self):
        for _ in range(3):
            await asyncio.sleep(0)
        os.stat("/")

def timer():
    os.stat("/")
"""


@pytest.fixture(scope="module")
def made() -> dict[str, Trace]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "WARM", 1)
        return traces(Path(trace.__file__).parents[1], 1)


@pytest.mark.parametrize(
    ("kind", "command", "is_in_file"),
    [(PUT, "weight 2", True), (COMMIT, "weight 2", True), (IN_PROCESS, "state maint", False)],
)
def test_a_change(made: dict[str, Trace], kind: str, command: str, is_in_file: bool) -> None:
    row, sent = made[kind].columns(), made[kind].commands()
    assert [each for each in sent if not each.startswith("show ")] == [f"set server b0/s0 {command}"]
    assert row["commands"] == len(sent)
    assert row["checks"] == 0, "the running process judges it"
    assert row["commits"], "the history's thread works for the request"
    assert bool(row["fsync"]) == bool(row["compare"]) == is_in_file
    assert 0 < row["files"] < row["functions"] < row["calls"] and row["threads"]


def test_the_road_to_the_editor(made: dict[str, Trace]) -> None:
    row, other = made[PUT].columns(), made[IN_PROCESS].columns()
    assert 0 < row["stack"] < row["frames"], "another thread edits"
    assert other["stack"] is other["frames"] is None
    assert row["to words"] and row["notice"] and row["stat"]
    assert row["to object"] in (1, 2), "the old line and the new one, each once"
    assert None not in row.values(), "a name that is counted exists no more"
    lines = [*made[PUT].tree()]
    edit = next(number for number, line in enumerate(lines) if " Editor.replace  native/haproxy_native/editing/editor.py:" in line)
    assert lines[edit].startswith("1 " + "  " * (row["frames"] + 1) + "Editor") and not lines[edit + 1].startswith(
        "0 " + "  " * 2 + "Editor"
    )
    assert made[PUT].packages().keys() > {"dataplaneapi.api", "haproxy_native.editing", "haproxy_native.runtime"}


def test_calls_of_each_other_and_of_others_are_not_counted() -> None:
    line, word = ("    server s0 10.0.0.1:80\n",), ("s0",)
    calls = [
        Call("words_of", "Line.words", 3, 9, 1, "native/a.py", 1, line),
        Call("split", "words_of", 4, 10, 1, "native/a.py", 2, line),
        Call("split", "spaced", 4, 10, 2, "native/a.py", 2, word),
        Call("split", "Line.split", 4, 0, 3, "native/a.py", 2, line),
        Call("os.fsync", "Draft.sync", 4, 0, 3),
    ]
    row = Trace(calls, {"split"}).columns()
    assert (row["to words"], row["functions"], row["calls"], row["threads"], row["fsync"]) == (1, 2, 3, 2, 0)
    assert row["compare"] is row["commands"] is None
    assert next(reversed([*table({"a": row})])).split()[:8] == ["a", "-", "-", "1", "2", "3", "2", "1"]


@contextmanager
def recorded(recorder: Recorder) -> Iterator[list[Call]]:
    calls: list[Call] = []
    sys.setprofile(recorder.profile)
    recorder.start(NAMES)
    try:
        yield calls
    finally:
        sys.setprofile(None)
        calls += recorder.stop()[0]


def test_a_task_continues_what_created_it(tmp_path: Path) -> None:
    file = tmp_path / "app" / "sample.py"
    file.parent.mkdir()
    file.write_text(CODE)
    own = runpy.run_path(str(file))

    async def serve() -> None:
        protocol = own["Protocol"]()
        protocol.data_received(b"PUT / HTTP/1.1\r\n\r\n")
        await protocol.task

    with recorded(Recorder(str(tmp_path))) as calls:
        own["timer"]()
        asyncio.run(serve())
    protocol = [("Protocol.data_received", 1), ("Protocol.serve", 2), ("Protocol.edit", 3), ("Protocol.edit", 3)]
    assert [(call.name, call.depth) for call in calls] == [("timer", 0), ("os.stat", 0), *protocol, ("os.stat", 4), ("os.stat", 4)]
    assert [call.stack for call in calls if call.name == "Protocol.edit"] == [0, 0], "each is a task of its own"
