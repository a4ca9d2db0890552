"""Checks are few at a time, limited, and end with who asked."""

import asyncio
import os
import resource
import sys
from pathlib import Path

import pytest

from haproxy_native.check import run as checks
from haproxy_native.check.run import Confinement, Ended, run
from haproxy_native.shares import Account

PYTHON = [os.path.realpath(sys.executable), "-S", "-E", "-c"]

# They are set from outside, just after the start.
LIMITS = """\
import resource, time
while -1 in (resource.getrlimit(resource.RLIMIT_CPU)[0], resource.getrlimit(resource.RLIMIT_FSIZE)[0]):
    time.sleep(0.01)
print(*(resource.getrlimit(each)[0] for each in (resource.RLIMIT_CPU, resource.RLIMIT_CORE)), open("/proc/self/oom_score_adj").read())
"""


async def ran(code: str, scratch: Path | None, seconds: float = 60) -> Ended:
    return await run([*PYTHON, code], {"PATH": os.environ["PATH"]}, seconds, within=Confinement(scratch, seconds))


def test_limits(tmp_path: Path) -> None:
    async def work() -> None:
        output = await ran(LIMITS, tmp_path, 30)
        assert output.stdout.split() == ["31", "0", "1000"]
        assert "MemoryError" in (await ran("x = bytearray(1 << 45)", tmp_path)).stderr
        assert str(tmp_path) in (await ran("import os; print(os.environ['TMPDIR'])", tmp_path)).stdout
        assert (await ran("print(1)", None)).stdout == "1\n"
        with pytest.raises(TimeoutError):
            await ran("import time; time.sleep(60)", tmp_path, 0.1)

    asyncio.run(work())


def test_memory_is_that_of_the_least_control_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of it is for all checks together."""
    own = Path("/proc/self/cgroup").read_text().rpartition("0::")[2].strip().lstrip("/")
    monkeypatch.setattr(checks, "_CGROUPS", tmp_path)
    machine = checks.memory()
    (tmp_path / own).mkdir(parents=True, exist_ok=True)
    for text, expected in (("max", machine), (str(6 << 30), min(machine, 6 << 30)), (str(1 << 30), 1 << 30)):
        (tmp_path / "memory.max").write_text(text)
        assert checks.memory() == expected
    (tmp_path / own / "memory.max").write_text(str(1 << 29))
    assert checks.memory() == 1 << 29
    monkeypatch.setattr(checks, "memory", lambda: 64 << 30)
    limit = Confinement(tmp_path, 1)._limits()[resource.RLIMIT_DATA]
    assert limit * checks.most_concurrent_checks() <= 32 << 30


def test_no_more_at_once_than_processors_and_none_without_a_client(tmp_path: Path) -> None:
    async def checked(words: list[str]) -> str:
        async with checks.checks().turn(Account("root")):
            return (await run(words, os.environ, 90, within=None)).stdout

    async def work() -> None:
        words, processors = ["sh", "-c", f"touch {tmp_path}/$$; sleep 60"], max(2, len(os.sched_getaffinity(0)))
        tasks = [asyncio.create_task(checked(words)) for _ in range(processors + 3)]
        while len(os.listdir(tmp_path)) < processors:
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.3)
        pids = list(map(int, os.listdir(tmp_path)))
        assert len(pids) == processors
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert not {int(each) for each in os.listdir("/proc") if each.isdigit()} & set(pids)
        assert len(os.listdir(tmp_path)) == processors
        assert await checked(["echo", "free"]) == "free\n"

    asyncio.run(work())
