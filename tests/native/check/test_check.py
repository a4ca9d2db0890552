"""Every outcome of a check, with real processes."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import pytest

from haproxy_native.check.check import Checked, CheckSettings, check
from haproxy_native.check.messages import Message
from haproxy_native.errors import BadRequest, CheckImpossible, Refused
from haproxy_native.text.document import Document
from tests.haproxy import binaries

GOOD = """\
defaults
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
frontend f
  bind 127.0.0.1:8080
backend b
  server s 127.0.0.1:1
"""
BAD = GOOD.replace("server s 127.0.0.1:1", "server s 127.0.0.1:1 chek")
ID = "1f0c8ad4-0000-4000-8000-000000000000"


def run(tmp_path: Path, settings: CheckSettings, text: str = GOOD, transaction_id: str | None = ID) -> list[Message]:
    draft = tmp_path / f".haproxy.cfg.{ID}"
    draft.write_text(text)
    files = [Checked(draft, tmp_path / "haproxy.cfg", Document.parse(text))]
    return asyncio.run(check(files, settings, transaction_id=transaction_id))


def script(tmp_path: Path, text: str, mode: int = 0o755) -> str:
    path = tmp_path / "checker"
    path.write_text(text)
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize("binary", binaries.installed())
def test_haproxy_accepts(tmp_path: Path, binary: str) -> None:
    assert [said for said in run(tmp_path, CheckSettings(binary)) if said.level == "alert"] == []


@pytest.mark.parametrize("binary", binaries.installed())
def test_haproxy_refuses(tmp_path: Path, binary: str) -> None:
    with pytest.raises(Refused) as caught:
        run(tmp_path, CheckSettings(binary), BAD)
    lines = str(caught.value).split("\n")
    assert lines[0].startswith("validation error: line 9 of haproxy.cfg, in 'backend b': 'server b/s' : unknown keyword 'chek'")
    assert lines[1] == f"exit status 1: err transactionId={ID} "
    assert lines[2].startswith(f"msg=\"config [{tmp_path}/haproxy.cfg:9] 'server b/s' unknown keyword 'chek'")
    assert lines[-1] == "line 9 in 'backend b': server s 127.0.0.1:1 chek"
    first = caught.value.alerts[0]
    assert isinstance(first, Message)
    assert (first.line, first.section, first.source) == (9, "backend b", "server s 127.0.0.1:1 chek")
    assert first.file == str(tmp_path / "haproxy.cfg")


def test_without_a_transaction_no_id(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r'^validation error: line 9 of .*\nexit status 1: msg="config'):
        run(tmp_path, CheckSettings(binaries.newest()), BAD, None)


def test_warnings_of_a_good_file(tmp_path: Path) -> None:
    said = run(tmp_path, CheckSettings(binaries.newest()), GOOD.replace("  timeout client 1s\n", ""))
    assert [message.section for message in said if message.level == "warning"]


def test_further_files(tmp_path: Path) -> None:
    first, last = tmp_path / "first.cfg", tmp_path / "last.cfg"
    first.write_text("global\n  maxconn 5\n")
    last.write_text("backend c\n  nonsense\n")
    settings = CheckSettings(binaries.newest(), before=(str(first),), after=(str(last),))
    with pytest.raises(Refused) as caught:
        run(tmp_path, settings)
    assert f"{last}:2" in str(caught.value)
    assert [said for said in run(tmp_path, CheckSettings(binaries.newest(), before=(str(first),))) if said.level == "alert"] == []


def test_words() -> None:
    assert CheckSettings("h", before=("a", "b"), after=("c",)).words("f") == [
        "h",
        "-f",
        "a",
        "-f",
        "b",
        "-W",
        "-f",
        "f",
        "-c",
        "-V",
        "-f",
        "c",
    ]
    assert CheckSettings("h", "x 'two words' three", before=("a",)).words("f") == ["x", "two words", "three"]


@pytest.mark.parametrize("command", [" ", "'open", "# comment'"])
def test_a_command_that_is_none(tmp_path: Path, command: str) -> None:
    with pytest.raises(BadRequest, match="validate_cmd is not a command"):
        run(tmp_path, CheckSettings(command=command))


def test_the_command_gets_the_file_in_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HAPROXY_STARTUPLOGS_FD", "HAPROXY_MWORKER_WAIT_ONLY", "HAPROXY_PROCESSES", "HAPROXY_KEPT"):
        monkeypatch.setenv(name, "1")
    shown = 'echo "$1,$2,$DATAPLANEAPI_TRANSACTION_FILE"; env | grep ^HAPROXY_'
    path = script(tmp_path, f"#!/bin/sh\n({shown}) > {tmp_path}/called\n")
    assert run(tmp_path, CheckSettings(command=f"{path} 'two words' 3")) == []
    assert (tmp_path / "called").read_text() == f"two words,3,{tmp_path}/.haproxy.cfg.{ID}\nHAPROXY_KEPT=1\n"


def test_a_file_without_listener_tells_why(tmp_path: Path) -> None:
    path = script(tmp_path, "#!/bin/sh\necho 'no listener => exit(2)'\nexit 2\n")
    with pytest.raises(Refused, match=r"exit status 2: .* \nno listener"):
        run(tmp_path, CheckSettings(path))


@pytest.mark.parametrize(("end", "ended"), [("exit 3", "exit status 3"), ("kill -SEGV $$", "signal: segmentation fault")])
def test_the_command_refuses(tmp_path: Path, end: str, ended: str) -> None:
    said = 'echo "[NOTICE] (1) : no" >&2\necho "[ALERT] (1) : config : the word is forbidden" >&2'
    with pytest.raises(Refused) as caught:
        run(tmp_path, CheckSettings(command=script(tmp_path, f"#!/bin/sh\n{said}\n{end}\n")))
    own = f'{ended}: err transactionId={ID} \nmsg="config the word is forbidden"'
    assert str(caught.value) == f"validation error: the word is forbidden\n{own}"


def test_a_command_that_refuses_in_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"exit status 2: err transactionId=.* \nnot on a Friday$"):
        run(tmp_path, CheckSettings(command=script(tmp_path, "#!/bin/sh\necho not on a Friday >&2\nexit 2\n")))


@pytest.mark.parametrize(
    ("text", "mode", "reason", "detail"),
    [
        ("#!/bin/sh\nexit 0\n", 0o644, "not-executable", "permission denied"),
        ("#!/no/such/interpreter\n", 0o755, "not-executable", "interpreter"),
        ("\x7fELF nonsense", 0o755, "not-executable", "exec format error"),
        ("#!/bin/sh\nno-such-program-here\n", 0o755, "missing", "exit status 127"),
        (f"#!/bin/sh\n{os.devnull} -c\n", 0o755, "not-executable", "exit status 126"),
    ],
)
@pytest.mark.parametrize("as_command", [True, False])
def test_a_check_that_could_not_be_done(tmp_path: Path, text: str, mode: int, reason: str, detail: str, as_command: bool) -> None:
    path = script(tmp_path, text, mode)
    with pytest.raises(CheckImpossible) as caught:
        run(tmp_path, CheckSettings(command=path) if as_command else CheckSettings(path))
    assert caught.value.reason == reason
    assert detail in str(caught.value)


@pytest.mark.parametrize(
    ("end", "detail"),
    [("kill -SEGV $$", "signal: segmentation fault"), ("kill -KILL $$", "signal: killed"), ("sh -c 'kill -SEGV $$'", "exit status 139")],
)
def test_a_command_that_is_killed(tmp_path: Path, end: str, detail: str) -> None:
    with pytest.raises(CheckImpossible, match=detail) as caught:
        run(tmp_path, CheckSettings(command=script(tmp_path, f"#!/bin/sh\n{end}\n")))
    assert caught.value.reason == "killed"


@pytest.mark.parametrize(
    ("binary", "detail"),
    [("/no/such/haproxy", 'exec: "/no/such/haproxy": no such file'), ("haproxy-none", "executable file not found in $PATH")],
)
def test_a_missing_binary(tmp_path: Path, binary: str, detail: str) -> None:
    with pytest.raises(CheckImpossible) as caught:
        run(tmp_path, CheckSettings(binary))
    assert caught.value.reason == "missing"
    assert str(caught.value).endswith(detail)


def endless(tmp_path: Path) -> str:
    """A script that never ends, with a child; the end of the pipe `alive` is seen when all its processes are gone."""
    os.mkfifo(tmp_path / "alive")
    return script(tmp_path, f"#!/bin/sh\nexec 3>{tmp_path}/alive\necho up >&3\nsleep 1000 &\nsleep 1000\n")


def test_a_check_that_takes_too_long(tmp_path: Path) -> None:
    command = endless(tmp_path)
    reading = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(CheckImpossible, match=r"gave no answer within 0\.2 s") as caught:
        run(tmp_path, CheckSettings(command=command, seconds=0.2))
    assert caught.value.reason == "timeout"
    os.set_blocking(reading, True)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() in (b"up\n", b"")


def test_a_check_that_is_given_up(tmp_path: Path) -> None:
    command = endless(tmp_path)

    async def give_up() -> bytes:
        task = asyncio.create_task(check([Checked(tmp_path / "x", tmp_path / "x")], CheckSettings(command=command)))
        with await asyncio.to_thread((tmp_path / "alive").open, "rb") as pipe:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            return pipe.read()

    assert asyncio.run(give_up()) in (b"up\n", b"")


@pytest.mark.parametrize("turns", range(4))
def test_a_check_that_is_given_up_while_it_starts(tmp_path: Path, turns: int) -> None:
    command = endless(tmp_path)
    reading = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)

    async def give_up() -> None:
        task = asyncio.create_task(check([Checked(tmp_path / "x", tmp_path / "x")], CheckSettings(command=command)))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(give_up())
    os.set_blocking(reading, True)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() in (b"up\n", b"")


def test_much_output_is_drained_and_cut(tmp_path: Path) -> None:
    path = script(tmp_path, "#!/bin/sh\nyes '[ALERT] (1) : config : no' | head -c 3000000 >&2\nexit 1\n")
    with pytest.raises(Refused) as caught:
        run(tmp_path, CheckSettings(path))
    assert len(str(caught.value)) < 10_000
