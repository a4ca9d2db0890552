"""What the worker has loaded is known, proven, or not known; never guessed."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from haproxy_native.commit.current import Current, StateRow, fingerprint
from haproxy_native.commit.events import Events
from haproxy_native.commit.running import RunningProcess, TextRows
from haproxy_native.disk.file import ConfigFile, FileStamp
from haproxy_native.errors import RuntimeAbsent
from haproxy_native.planning.outcome import Reason
from haproxy_native.process_state import CommandsProved, ConfigurationText, Doubted, Drifted, Load, LoadsEnded, ReloadBegan
from haproxy_native.runtime.client import Runtime, Worker
from haproxy_native.text.document import Document
from tests.haproxy.process import HAProxy, free_port
from tests.native.commit.rows import database_in
from tests.native.engines import CONFIG

TEXT = "global\n"
HIDDEN = 2**22 + 1


class Process(Runtime):
    """A runtime that tells which worker answers; None: nobody."""

    def __init__(self, worker: Worker | None) -> None:
        super().__init__()
        self.who = worker

    async def worker(self) -> Worker:
        if self.who is None:
            raise RuntimeAbsent("nobody")
        return self.who

    @property
    def is_configured(self) -> bool:
        return True


class DatedFile(ConfigFile):
    """Its last write tells since when it is as it is, which a test can set."""

    def read_stamp(self) -> FileStamp | None:
        found = super().read_stamp()
        return found and found._replace(written=self.path.stat().st_mtime_ns)


class Case:
    """A file written at a moment, and the process beside it; `recalled` is a new server's view."""

    def __init__(self, directory: Path, written: int, worker: Worker | None) -> None:
        self.directory, self.file = directory, directory / "haproxy.cfg"
        self.process, self.database = Process(worker), database_in(directory)
        self.write(TEXT, written)

    def write(self, text: str, at: int) -> None:
        self.file.write_text(text)
        os.utime(self.file, (at, at))

    def recalled(self) -> RunningProcess:
        row = StateRow(self.database, "haproxy.cfg")
        self.current = Current(DatedFile(self.file, self.directory), row)
        self.current.open()
        running = RunningProcess(self.current, self.process, row, TextRows(self.database), Events())
        asyncio.run(running.restore())
        return running


def loaded_by(running: RunningProcess, case: Case) -> None:
    """HAProxy is made to load the file, by the worker that is there."""
    running.step(ReloadBegan(Load(case.current.text, time.time())))
    asyncio.run(running.succeeded())
    running.step(LoadsEnded())


def text_of(running: RunningProcess) -> str | None:
    return None if running.document is None else running.document.text


@pytest.mark.parametrize(
    ("worker", "known"),
    [
        (Worker(HIDDEN, 1001), True),
        (Worker(HIDDEN, 1000), False),  # the same second: nobody can tell
        (Worker(HIDDEN, 999), False),
        (None, False),
    ],
)
def test_a_worker_that_started_later_has_loaded_the_file(tmp_path: Path, worker: Worker | None, known: bool) -> None:
    running = Case(tmp_path, 1000, worker).recalled()
    assert text_of(running) == (TEXT if known else None)
    assert bool(running.reasons()) is not known
    assert running.last_good and running.last_good.text == TEXT, "the file at the first start is assumed good"


def test_a_worker_of_a_load_that_was_cut_off_has_loaded_its_text(tmp_path: Path) -> None:
    """The file was changed after that worker had started, so that it has not read it."""
    case = Case(tmp_path, 1000, Worker(HIDDEN, 1001))
    case.recalled()
    loaded = Document.parse(b"global\n# loaded\n")
    began = time.time()
    case.recalled().step(ReloadBegan(Load(ConfigurationText(loaded, fingerprint(loaded.data)), began)))
    case.write("global\n# later\n", int(began) + 10)
    case.process.who = Worker(HIDDEN + 1, began + 1)
    running = case.recalled()
    assert (text_of(running), running.state.target and running.state.target.text) == (loaded.text, loaded.text)
    assert running.last_good and running.last_good.text == loaded.text
    case.process.who = Worker(HIDDEN + 2, began + 20)
    assert text_of(case.recalled()) == "global\n# later\n"


def test_nothing_is_live_in_a_worker_that_does_not_answer(tmp_path: Path) -> None:
    case = Case(tmp_path, 1000, Worker(HIDDEN, 1001))
    running = case.recalled()
    assert not running.reasons()
    case.process.who = None
    asyncio.run(running.observe())
    assert [reason.why for reason in running.reasons()] == ["HAProxy does not answer"]
    case.process.who = Worker(HIDDEN, 1001)
    asyncio.run(running.observe())
    assert not running.reasons()


@pytest.mark.parametrize(
    ("started", "moment", "after"),
    [(1000.5, 1000.4, True), (1000.5, 1000.4995, False), (1000.5, 1000.6, False), (1001, 1000.9, True), (1000, 1000.1, False)],
)
def test_a_worker_s_start_is_told_exactly_where_haproxy_can(started: float, moment: float, after: bool) -> None:
    assert Worker(HIDDEN, started).started_after(moment) is after


def test_a_real_worker_started_after_its_file_was_written(tmp_path: Path, haproxy_binaries: str) -> None:
    with HAProxy(tmp_path, CONFIG % free_port(), binary=haproxy_binaries) as haproxy:

        async def worker() -> Worker:
            runtime = Runtime()
            await runtime.connect(str(haproxy.master), [], 60, 0.02)
            return await runtime.worker()

        def written() -> float:
            seen = ConfigFile(haproxy.file, tmp_path).read_stamp()
            assert seen
            return seen.written / 1e9

        assert asyncio.run(worker()).started_after(written())
        old = tmp_path / "old.cfg"
        old.write_bytes(haproxy.file.read_bytes())
        os.utime(old, (1000, 1000))
        old.replace(haproxy.file)
        assert not asyncio.run(worker()).started_after(written()), "an old file moved into its place is a new one"


def test_it_is_remembered_for_the_same_worker(tmp_path: Path) -> None:
    case = Case(tmp_path, 1000, Worker(HIDDEN, 1001))
    running = case.recalled()
    case.write("# pending\n", 2000)
    again = case.recalled()
    assert text_of(again) == TEXT
    assert again.last_good is again.document
    loaded_by(again, case)
    assert text_of(case.recalled()) == "# pending\n"
    case.process.who = Worker(HIDDEN, 1500)
    assert text_of(case.recalled()) is None, "it was restarted from outside before the file was written"
    case.process.who = Worker(HIDDEN, 2001)
    assert text_of(case.recalled()) == "# pending\n"
    assert running.document


def test_a_restart_by_others_while_we_look(tmp_path: Path) -> None:
    case = Case(tmp_path, 1000, Worker(HIDDEN, 1001))
    running = case.recalled()
    case.process.who = None
    asyncio.run(running.observe())
    assert text_of(running) == TEXT, "silence proves nothing"
    running.step(CommandsProved(ConfigurationText(Document.parse("# pending\n"), "x")))
    case.process.who = Worker(HIDDEN, 1002)
    asyncio.run(running.observe())
    assert text_of(running) == TEXT
    case.write("# by hand\n", 3000)
    case.process.who = Worker(HIDDEN, 3001)
    asyncio.run(running.observe())
    assert text_of(running) is None, "what was loaded has not even been read here"


def test_doubt_is_a_reason_until_a_reload(tmp_path: Path) -> None:
    case = Case(tmp_path, 1000, Worker(HIDDEN, 1001))
    running = case.recalled()
    running.step(Doubted(Reason("a command failed")))
    assert [reason.why for reason in running.reasons()] == ["a command failed"]
    assert text_of(running) == TEXT == running.last_good.text
    assert case.recalled().document is None, "a doubt survives, too"
    loaded_by(running, case)
    assert running.reasons() == []


def test_what_was_changed_in_the_worker_alone_is_known_until_another_worker_comes(tmp_path: Path) -> None:
    case = Case(tmp_path, 1000, Worker(HIDDEN, 1001))
    running = case.recalled()
    running.step(Drifted("server b/s", "weight 1", "weight 2"))
    running.step(Drifted("server b/new", "", "weight 1"))
    running.step(Drifted("server b/s", "weight 2", "weight 3"))
    assert [reason.why.split()[1] for reason in running.drift()] == ["b/s", "b/new"]
    running = case.recalled()
    running.step(Drifted("server b/s", "weight 3", "weight 1"))
    assert [reason.why for reason in running.drift()] == ["server b/new was changed in the running process alone"]
    case.process.who = Worker(HIDDEN, 1002)
    asyncio.run(running.observe())
    assert running.drift() == []
