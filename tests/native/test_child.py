"""Run child processes with the event loops of asyncio and uvloop."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from haproxy_native.child import PIPE, Child, read

Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    def in_loop(work: Coroutine[Any, Any, Any]) -> Any:
        with asyncio.Runner(loop_factory=request.param) as runner:
            return runner.run(work)

    return in_loop


@pytest.mark.parametrize(("command", "status"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", -9)])
def test_exit_status(run: Run, command: str, status: int) -> None:
    async def work() -> tuple[int, int]:
        child = Child(["sh", "-c", command])
        return await child.wait(), await child.wait()

    assert run(work()) == (status, status)


def test_output_of_both_kinds_and_no_more_than_asked_for(run: Run) -> None:
    async def work() -> tuple[str, str]:
        child = Child(
            ["sh", "-c", "echo $GREETING; head -c 300000 /dev/zero | tr '\\0' x >&2"],
            {**os.environ, "GREETING": "hi"},
            stdout=PIPE,
            stderr=PIPE,
        )
        assert child.stdout
        assert child.stderr
        output = await asyncio.gather(read(child.stdout, 100), read(child.stderr, 100_000))
        assert await child.wait() == 0
        child.close()
        return output[0], output[1]

    assert run(work()) == ("hi\n", "x" * 100_000)


def test_of_much_the_first_and_the_last_lines_are_kept(run: Run) -> None:
    """HAProxy prints warnings first, and the reason for a refusal last."""

    async def work() -> str:
        child = Child(["sh", "-c", "seq 100000; echo the end"], stdout=PIPE)
        assert child.stdout
        said = await read(child.stdout, 1000)
        assert await child.wait() == 0
        child.close()
        return said

    lines = run(work()).splitlines()
    assert lines[:2] == ["1", "2"] and lines[-2:] == ["100000", "the end"]
    assert {len(line) for line in lines[:-1]} <= set(range(1, 7)) and sum(map(len, lines)) < 1000


def test_an_end_takes_what_the_child_has_started(run: Run) -> None:
    async def work() -> tuple[str, int, bool]:
        child = Child(["sh", "-c", "sleep 1000 & echo up; wait"], stdout=PIPE)
        assert child.stdout
        reading = asyncio.ensure_future(read(child.stdout, 100))
        assert not child.ended
        await child.kill()
        # The pipe ends when its last writer has ended.
        said = await reading
        child.close()
        return said, await child.wait(), child.ended

    said, status, ended = run(work())
    assert (said in ("up\n", ""), status, ended) == (True, -9, True)


def test_without_a_descriptor_of_the_process(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int) -> int:
        raise OSError("no such call")

    monkeypatch.setattr(os, "pidfd_open", refuse)

    async def work() -> int:
        return await Child(["sh", "-c", "exit 5"]).wait()

    assert run(work()) == 5


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError):
        Child(["/nonexistent"])
