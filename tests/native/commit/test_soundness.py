"""Whether the file would be accepted is remembered, and no longer than it is true."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.check.check import CheckSettings
from haproxy_native.commit import watch
from haproxy_native.commit.watch import Soundness
from haproxy_native.request_context import NOBODY
from tests.native.engines import ByFunction, adding, run, running_engine

GOOD = "global\n"


def checker(directory: Path, text: str) -> CheckSettings:
    """Counts how often it is run."""
    program = directory / "checker"
    program.write_text(f"#!/bin/sh\necho >> {directory}/count\n{text}\n")
    program.chmod(0o755)
    return CheckSettings(command=str(program))


def count(directory: Path) -> int:
    path = directory / "count"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_what_was_committed_is_not_checked_again(tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_text(GOOD)

    async def work() -> None:
        async with running_engine(tmp_path, check=checker(tmp_path, "exit 0")) as engine:
            assert [await engine.soundness.refusal(10) for _ in range(3)] == ["", "", ""]
            assert count(tmp_path) == 1
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            assert [await engine.soundness.refusal(10) for _ in range(3)] == ["", "", ""]
            assert count(tmp_path) == 2, "the commit's own"

    run(work())


def test_another_program_is_asked_anew(tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_text(GOOD)

    async def work() -> None:
        async with running_engine(tmp_path, check=checker(tmp_path, "exit 0")) as engine:
            assert await engine.soundness.refusal(10) == ""
            (tmp_path / "checker").unlink()
            assert "is no program that can be run" in await engine.soundness.refusal(10)
            checker(tmp_path, "echo it is wrong >&2; exit 1")
            assert "it is wrong" in await engine.soundness.refusal(10)

    run(work())


def test_a_refusal_is_checked_again_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "haproxy.cfg").write_text(GOOD)

    async def work() -> None:
        async with running_engine(tmp_path, check=checker(tmp_path, f"[ -e {tmp_path}/certificate ]")) as engine:
            assert await engine.soundness.refusal(10)
            (tmp_path / "certificate").touch()
            assert await engine.soundness.refusal(10)
            assert count(tmp_path) == 1
            monkeypatch.setattr(watch, "RETRY_SECONDS", 0.0)
            assert await engine.soundness.refusal(10) == ""

    run(work())


def test_nobody_waits_longer_than_asked(tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_text(GOOD)
    wait = f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; exit 1"

    async def work() -> None:
        async with running_engine(tmp_path, check=checker(tmp_path, wait)) as engine:
            sound: Soundness = engine.soundness
            assert await asyncio.gather(*(sound.refusal(0.1) for _ in range(5))) == [""] * 5
            (tmp_path / "go").touch()
            assert await sound.refusal(30) != ""
            assert count(tmp_path) == 1

    run(work())
