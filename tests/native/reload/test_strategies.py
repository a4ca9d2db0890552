"""Commands that succeed, fail, hang and lie about their children; and a master's socket."""

import asyncio
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from haproxy_native.errors import BadRequest
from haproxy_native.reload.strategies import (
    CustomCommand,
    MasterSocket,
    OutcomeSource,
    ReloadClaim,
    Reloading,
    child_environment,
    split_command,
)
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.master import Master
from tests.haproxy.process import HAProxy


def script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "reload"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def run(*words: str, **arguments: object) -> ReloadClaim:
    return asyncio.run(CustomCommand(words, **arguments).run())  # type: ignore[arg-type]


def test_success_gives_what_it_said(tmp_path: Path) -> None:
    program = script(tmp_path, 'echo "called with $#: $*"; echo complaint >&2')
    assert run(program, "with", "two words") == ReloadClaim(True, "called with 2: with two words\n", "")


def test_failure_gives_status_and_complaint(tmp_path: Path) -> None:
    program = script(tmp_path, "echo fine; echo 'to stderr' >&2; exit 3")
    assert run(program, "x") == ReloadClaim(False, "to stderr\n", f"executing {program} x failed: exit status 3")


def test_a_signal_is_told(tmp_path: Path) -> None:
    program = script(tmp_path, "kill -KILL $$")
    assert run(program) == ReloadClaim(False, "", f"executing {program} failed: signal: killed")


def test_too_long_ends_it_with_its_children(tmp_path: Path) -> None:
    """The child holds a pipe; it is gone when the pipe has ended."""
    reading, writing = os.pipe()
    program = script(tmp_path, f"exec 9>/proc/{os.getpid()}/fd/{writing}; sleep 600 & wait")
    outcome = run(program, limit=1.0)
    os.close(writing)
    assert (outcome.ok, outcome.error) == (False, f"executing {program} failed: no end within 1 s")
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == b""


def test_a_background_child_that_keeps_the_output_open_does_not_hold_it_up(tmp_path: Path) -> None:
    program = script(tmp_path, f"sleep 600 & echo $! > {tmp_path}/pid; echo done")
    try:
        assert run(program, limit=20) == ReloadClaim(True, "done\n", "")
    finally:
        pid = int((tmp_path / "pid").read_text())
        assert Path(f"/proc/{pid}").exists()
        os.kill(pid, signal.SIGTERM)


@pytest.mark.parametrize(
    ("word", "why"),
    [("no-such-program", "executable file not found"), ("/no/such/file", "No such file"), ("/etc/passwd", "Permission denied")],
)
def test_what_cannot_be_started(word: str, why: str) -> None:
    outcome = run(word)
    assert outcome.ok is False and why in outcome.error


def test_the_environment(tmp_path: Path) -> None:
    inherited = {"PATH": "/usr/bin:/bin", "NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "1", "WATCHDOG_PID": "2", "LISTEN_FDS": "3", "HOME": "/h"}
    assert child_environment(inherited) == {"PATH": "/usr/bin:/bin", "HOME": "/h"}
    said = run(sys.executable, "-c", "import os; print(sorted(set(os.environ) - {'LC_CTYPE'}))", environment=inherited)
    assert said.response == "['HOME', 'PATH']\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("systemctl reload haproxy", ["systemctl", "reload", "haproxy"]),
        ("sh -c 'kill -USR2 1'", ["sh", "-c", "kill -USR2 1"]),
        ("a  b", ["a", "b"]),
    ],
)
def test_splitting(text: str, words: list[str]) -> None:
    assert split_command(text) == words


@pytest.mark.parametrize("text", ["", "  ", "sh -c 'open"])
def test_what_cannot_be_split(text: str) -> None:
    with pytest.raises(BadRequest):
        split_command(text)


def test_the_masters_socket(haproxy: HAProxy, tmp_path: Path) -> None:
    strategy = MasterSocket(Master(str(haproxy.master)))
    assert asyncio.run(strategy.run()).ok is True
    haproxy.file.write_text(haproxy.file.read_text() + "  nonsense\n")
    outcome = asyncio.run(strategy.run())
    assert (outcome.ok, outcome.error) == (False, "failed to reload configuration")
    assert haproxy.version < (2, 7) or "unknown keyword 'nonsense'" in outcome.response
    absent = asyncio.run(MasterSocket(Master(str(tmp_path / "none.sock"))).run())
    assert absent.ok is False and absent.error == f"cannot reload: {tmp_path}/none.sock: no such file"


def reloading(command: list[str], *, mode: bool, calls: list[str]) -> Reloading:
    runtime = Runtime()
    runtime.use("/m.sock", ())
    return Reloading(runtime, command, lambda: calls.append("looked"), master_reloads=mode)


def test_the_master_reloads_where_nobody_else_can_or_it_answers() -> None:
    assert asyncio.run(reloading([], mode=True, calls=[]).run()).source is OutcomeSource.NONE
    assert asyncio.run(reloading(["true"], mode=True, calls=[]).run()).source is OutcomeSource.COMMAND
    assert asyncio.run(reloading(["true"], mode=False, calls=[]).run()).source is OutcomeSource.COMMAND


class Other:
    """A client that asks the master for a reload, and goes away before the answer, in the midst of it, or not."""

    def __init__(self, haproxy: HAProxy, until: str) -> None:
        self.client = socket.socket(socket.AF_UNIX)
        self.client.settimeout(60)
        self.client.connect(str(haproxy.master))
        self.client.sendall(b"reload;quit\n")
        if until == "half":
            self.client.recv(1)
        if until != "stays":
            self.client.close()


@pytest.mark.parametrize("delays", [(0.0, 0.02), pytest.param((0.0, 0.004, 0.02, 0.05), marks=pytest.mark.soak)], ids=["some", "all"])
@pytest.mark.parametrize("until", ["asked", "half", "stays"])
def test_a_master_that_reloads_for_another_client(haproxy: HAProxy, tmp_path: Path, until: str, delays: tuple[float, ...]) -> None:
    """It is away while it executes itself, and since 3.1 refuses meanwhile; it is asked again, and the operator's command is not run."""
    ran = tmp_path / "ran"

    async def reloaded(delay: float) -> tuple[ReloadClaim, float]:
        runtime = Runtime(timeout=60)
        await runtime.connect(str(haproxy.master), [str(haproxy.stats)], 5, 0.02)
        strategy = Reloading(runtime, [script(tmp_path, f"touch {ran}")], lambda: None, master_reloads=True)
        other = Other(haproxy, until)
        await asyncio.sleep(delay)
        began = time.time()
        outcome = await strategy.run()
        other.client.close()
        return outcome, (await runtime.worker()).started - began

    for delay in delays:
        outcome, later = asyncio.run(reloaded(delay))
        assert (outcome.ok, outcome.source) == (True, OutcomeSource.HAPROXY), outcome
        assert later >= (0 if haproxy.version > (2, 6) else -1)
    assert not ran.exists()


def test_a_master_that_has_not_heard_is_asked_again(tmp_path: Path) -> None:
    """It takes the first connection in which a reload is asked for, and closes it; a worker of an earlier reload ends meanwhile."""
    count, former = 0, ["# old workers\n9 worker 1 0d00h00m01s 3.2\n"]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "m.sock"))
    listener.listen()

    def serve() -> None:
        nonlocal count
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with client:
                if client.recv(100).startswith(b"reload"):
                    count += 1
                    client.sendall(b"Success=1\n--\n" if count > 1 else b"")
                else:
                    client.sendall(f"1 master 0 0d00h00m01s 3.2\n{former.pop() if former else ''}".encode())

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        outcome = asyncio.run(MasterSocket(Master(str(tmp_path / "m.sock"))).run())
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
    assert outcome.ok is True and count == 2


def test_sockets_are_looked_for_again_after_a_reload() -> None:
    calls: list[str] = []
    assert asyncio.run(reloading(["true"], mode=False, calls=calls).run()).ok
    assert calls == ["looked"]


def test_a_command_runs_where_no_directory_is_writable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent")
    assert run("echo", "done") == ReloadClaim(True, "done\n")
