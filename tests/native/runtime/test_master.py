"""Reloads through the master's socket, good and bad, on every version."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from haproxy_native.errors import RuntimeAbsent
from haproxy_native.reload.strategies import MasterSocket
from haproxy_native.runtime import master as master_module
from haproxy_native.runtime.master import Master, ReloadWatch, judge
from haproxy_native.runtime.responses import ListedProcess, Processes
from tests.haproxy.process import HAProxy
from tests.until import until


def master_of(haproxy: HAProxy) -> Master:
    return Master(str(haproxy.master), timeout=60)


def test_a_good_reload_and_a_bad_one(haproxy: HAProxy) -> None:
    """Until the former worker is told to leave, it takes connections beside the new one."""
    master, good, before = master_of(haproxy), haproxy.file.read_text(), haproxy.worker_pid()
    answer = asyncio.run(master.reload())
    assert answer.success is True
    until(lambda: haproxy.worker_pid() != before)
    after = haproxy.worker_pid()
    haproxy.file.write_text(good + "  nonsense\n")
    answer = asyncio.run(master.reload())
    assert answer.success is False and haproxy.worker_pid() == after
    assert haproxy.version < (2, 7) or "unknown keyword 'nonsense'" in answer.log
    processes = asyncio.run(master.processes())
    assert after in processes.pids and processes.master and processes.master.failed
    haproxy.file.write_text(good)
    assert asyncio.run(master.reload()).success is True
    until(lambda: haproxy.worker_pid() != after)


def test_the_outcome_of_a_reload_by_signal(haproxy: HAProxy) -> None:
    master = master_of(haproxy)

    async def by_signal() -> bool | None:
        before = await master.processes()
        os.kill(haproxy.pid, signal.SIGUSR2)
        return await master.outcome(before, 20)

    assert asyncio.run(by_signal()) is True
    if haproxy.version >= (3, 1):
        # There a worker is listed while it still reads the file, and nobody has to guess: the socket tells the outcome.
        return
    haproxy.file.write_text(haproxy.file.read_text() + "  nonsense\n")
    assert asyncio.run(by_signal()) is False


def test_a_reload_is_seen_without_a_request(haproxy: HAProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that fails: the connection ends before anything is known of its outcome."""

    async def work() -> None:
        master, watch = master_of(haproxy), ReloadWatch()
        assert not await watch.is_quiet(master)
        for ending in ("", "  nonsense\n"):
            monkeypatch.setattr(master_module, "RELOAD_SECONDS", 0.0)
            assert await watch.is_quiet(master)
            monkeypatch.setattr(master_module, "RELOAD_SECONDS", 3600.0)
            assert await watch.is_quiet(master)
            haproxy.file.write_text(haproxy.file.read_text() + ending)
            assert (await master.reload()).success is not bool(ending)
            assert not await watch.is_quiet(master)
        watch.close()

    asyncio.run(work())


def test_no_reload_has_no_outcome(haproxy: HAProxy) -> None:
    async def nothing_happens() -> bool | None:
        master = master_of(haproxy)
        return await master.outcome(await master.processes(), 0.1)

    assert asyncio.run(nothing_happens()) is None


def test_absent(haproxy: HAProxy) -> None:
    haproxy.stop()
    with pytest.raises(RuntimeAbsent):
        asyncio.run(master_of(haproxy).reload())


def processes(reloads: int, failed: int, workers: tuple[int, ...], old: tuple[int, ...] = (), pid: int = 1) -> Processes:
    def worker(number: int) -> ListedProcess:
        return ListedProcess(number, "worker", 0, 0, "3.2.26")

    return Processes(ListedProcess(pid, "master", reloads, failed, "3.2.26"), tuple(map(worker, workers)), tuple(map(worker, old)))


@pytest.mark.parametrize(
    ("before", "now", "verdict"),
    [
        (processes(1, 0, (10,)), processes(1, 0, (10,)), None),
        (processes(1, 0, (10,)), processes(2, 0, (11,), (10,)), True),
        (processes(1, 0, (10,)), processes(2, 1, (), (10,)), False),
        (processes(1, 1, (), (10,)), processes(2, 1, (), (10,)), False),
        (processes(1, 1, (), (10,)), processes(2, 1, (12,), (10,)), True),
        (processes(5, 0, (10,)), processes(0, 0, (11,), pid=2), True),
        (processes(5, 0, (10,)), Processes(None, (), ()), None),
    ],
)
def test_judging(before: Processes, now: Processes, verdict: bool | None) -> None:
    assert judge(before, now) is verdict


def test_a_master_that_refuses_a_process_goes_on_to_answer(haproxy: HAProxy) -> None:
    """It forgets some connections that are half-closed meanwhile, and takes only ten; the answer is whole without its close."""
    gone = 2**22 + 1

    async def work() -> None:
        master = master_of(haproxy)
        for _ in range(400):
            with pytest.raises(RuntimeAbsent, match="Can't find the target"):
                await master.process(gone).send("show info")
        assert haproxy.worker_pid() in (await master.processes()).pids

    asyncio.run(work())


def test_a_master_that_closes_without_an_answer_is_asked_again(tmp_path: Path) -> None:
    """It executes itself for another client: what runs before the reload is not known then, and no reload could be told by it."""
    rows = "1 master {} 0d00h00m01s 2.6\n# workers\n{} worker 0 0d00h00m01s 2.6\n"
    replies = {"show proc": ["", rows.format(0, 10), rows.format(1, 11)], "reload": [""]}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        command = (await reader.readline()).decode().partition(";")[0].strip()
        writer.write(replies[command].pop(0).encode())
        writer.close()

    async def serves() -> bool:
        return True

    async def work() -> bool | None:
        async with await asyncio.start_unix_server(serve, tmp_path / "m.sock"):
            return (await MasterSocket(Master(str(tmp_path / "m.sock"), timeout=60), serves).run()).ok

    assert asyncio.run(work()) is True and replies == {"show proc": [], "reload": []}


def test_an_answer_that_never_comes_does_not_use_up_the_patience(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that a master accepts just before it executes itself may stay without an answer."""
    monkeypatch.setattr(master_module, "FORMER_SECONDS", 0.1)
    rows = "1 master {} 0d00h00m01s 2.6\n# workers\n{} worker 0 0d00h00m01s 2.6\n"
    replies, held = [rows.format(0, 10), "", None, rows.format(1, 11)], list[asyncio.StreamWriter]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        if (reply := replies.pop(0)) is None:
            held.append(writer)
        else:
            writer.write(reply.encode())
            writer.close()

    async def work() -> bool | None:
        async with await asyncio.start_unix_server(serve, tmp_path / "m.sock"):
            answer = await Master(str(tmp_path / "m.sock"), timeout=60).reload()
            for writer in held:
                writer.close()
                await writer.wait_closed()
            return answer.success

    assert asyncio.run(work()) is True and len(held) == 1
