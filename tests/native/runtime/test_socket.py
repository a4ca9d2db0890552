"""One command, one connection: against real sockets of HAProxy, and against sockets that misbehave."""

import asyncio
import os
import socket as plain_socket
import tempfile
from pathlib import Path

import pytest

from haproxy_native.errors import BadRequest, RuntimeAbsent, RuntimeRefused
from haproxy_native.runtime.socket import MASTER_BYTES, RequestTooLong, Socket
from tests.haproxy.listening import Handler, serving
from tests.haproxy.process import HAProxy, free_port


def sockets(haproxy: HAProxy) -> dict[str, Socket]:
    return {"stats": Socket(str(haproxy.stats)), "worker": Socket(f"unix@{haproxy.master}", worker=True)}


@pytest.mark.parametrize("kind", ["stats", "worker"])
def test_commands_answers_and_payloads(haproxy: HAProxy, kind: str) -> None:
    socket = sockets(haproxy)[kind]
    path = haproxy.directory / "a.map"

    async def talk() -> None:
        assert "Pid: " in await socket.send("show info")
        versions = await socket.send("show version")
        assert await socket.send_each(["show version", "get weight app/plain"]) == [versions, "10 (initial 10)"]
        assert await socket.send(f"add map {path}", payload="a 1\n\nb show info\r\nc 3 4") == ""
        shown = (await socket.send(f"show map {path}")).splitlines()
        assert [line.split(" ", 1)[1] for line in shown] == ["a 1", "b show info", "c 3 4"]
        assert await socket.send("set server app/plain weight 3") == ""
        assert await socket.send("set server app/none weight 3") == "No such server."

    asyncio.run(talk())


def test_a_large_answer_is_read_to_its_end(haproxy: HAProxy) -> None:
    async def talk(socket: Socket) -> int:
        path = haproxy.directory / "a.map"
        for start in range(0, 9000, 300):
            lines = "\n".join(f"key{number} {number:024}" for number in range(start, start + 300))
            assert await socket.send(f"add map {path}", payload=lines) == ""
        return len((await socket.send(f"show map {path}")).splitlines())

    assert [asyncio.run(talk(socket)) for socket in sockets(haproxy).values()] == [9000, 18000]


@pytest.mark.parametrize("text", ["show info\nshow stat", "show info; show stat", "show info\r", "show\0info", "a\\\\;b"])
def test_nothing_smuggles_a_second_command(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadRequest):
        asyncio.run(Socket(str(tmp_path / "none.sock")).send(text))


def test_more_words_than_haproxy_survives_are_never_sent(haproxy: HAProxy) -> None:
    worker = haproxy.worker_pid()
    line = " ".join(["add server app/new 127.0.0.1:1", *["backup"] * 60])
    for socket in sockets(haproxy).values():
        with pytest.raises(RuntimeRefused, match="at most 64"):
            asyncio.run(socket.send(f"{line} backup"))
    assert asyncio.run(Socket(str(haproxy.stats)).send(line)) == "New server registered."
    assert haproxy.worker_pid() == worker


def test_absent_says_why(tmp_path: Path) -> None:
    stale = tmp_path / "stale.sock"
    with plain_socket.socket(plain_socket.AF_UNIX) as listener:
        listener.bind(str(stale))
    cases = {
        str(tmp_path / "none.sock"): "no such file",
        str(stale): "nothing listens there",
        f"ipv4@127.0.0.1:{free_port()}": "nothing listens there",
        "fd@4": "no address to connect to",
        str(tmp_path / ("x" * 120)): "too long",
    }
    for address, reason in cases.items():
        with pytest.raises(RuntimeAbsent, match=reason) as caught:
            asyncio.run(Socket(address).send("show info"))
        assert address in str(caught.value)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become someone else")
def test_permission_denied_names_the_owner() -> None:
    # Nobody else may enter the directories of tmp_path.
    with tempfile.TemporaryDirectory() as directory, plain_socket.socket(plain_socket.AF_UNIX) as listener:
        path = Path(directory) / "closed.sock"
        listener.bind(str(path))
        path.chmod(0o600)
        path.parent.chmod(0o711)
        os.seteuid(65534)
        try:
            with pytest.raises(RuntimeAbsent, match=r"permission denied: it belongs to root:root, mode 0600; this process runs as nobody"):
                asyncio.run(Socket(str(path)).send("show info"))
        finally:
            os.seteuid(0)


def talk_to(tmp_path: Path, handler: Handler, **arguments: object) -> str:
    async def talk() -> str:
        path = str(tmp_path / "s.sock")
        async with serving(handler, path):
            return await Socket(path, **arguments).send("show info")  # type: ignore[arg-type]

    return asyncio.run(talk())


def test_silence_ends_after_the_time_limit(tmp_path: Path) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"half an answer")
        try:
            await asyncio.Event().wait()
        finally:
            writer.close()

    with pytest.raises(RuntimeAbsent, match=r"no answer within 0\.1 s") as caught:
        talk_to(tmp_path, silent, timeout=0.1)
    assert isinstance(caught.value.__cause__, TimeoutError)
    assert caught.value.sent


@pytest.mark.parametrize(
    ("answer", "arguments", "reason"),
    [
        (b"", {}, "closed without an answer"),
        (b"Pid: 1\n", {}, "cut short after 7 characters"),
        (b"Pid: 1\nUpt", {"worker": True}, "cut short"),
        (b"Can't find the target PID matching the prefix '@1'\n", {"worker": True}, "Can't find the target"),
        (b"Can't connect to the target CLI!\n", {"worker": True}, "Can't connect to the target"),
    ],
)
def test_answers_that_are_none(tmp_path: Path, answer: bytes, arguments: dict[str, object], reason: str) -> None:
    with pytest.raises(RuntimeAbsent, match=reason) as caught:
        talk_to(tmp_path, _saying(answer), **arguments)
    assert caught.value.sent == ("target" not in reason)


def test_foreign_bytes_and_a_silent_master(tmp_path: Path) -> None:
    assert talk_to(tmp_path, _saying(b"caf\xe9\n\n")) == "caf\udce9"
    (tmp_path / "s.sock").unlink(missing_ok=True)
    assert talk_to(tmp_path, _saying(b""), master=True) == ""


def test_refusals_that_2_6_does_not_end(tmp_path: Path) -> None:
    said = "wrong CA index after colons in 'ca.pem:0'!"
    assert talk_to(tmp_path, _saying(f"{said}\n".encode())) == said


def test_as_many_answers_as_commands(tmp_path: Path) -> None:
    async def talk(answer: bytes) -> list[str]:
        path = str(tmp_path / "s.sock")
        async with await asyncio.start_unix_server(_saying(answer), path):
            return await Socket(path).send_each(["one", "two", "three"])

    assert asyncio.run(talk(b"\na\nb\n\n\n")) == ["", "a\nb", ""]
    (tmp_path / "s.sock").unlink(missing_ok=True)
    with pytest.raises(RuntimeAbsent, match="2 answers to 3 commands"):
        asyncio.run(talk(b"\na\n\n"))


@pytest.mark.parametrize("kind", ["stats", "worker"])
def test_many_commands_in_few_connections(haproxy: HAProxy, kind: str) -> None:
    async def talk(socket: Socket) -> None:
        path = haproxy.directory / "a.map"
        added = await socket.send_each([f"add map {path} key{number:04} {'x' * 40}" for number in range(600)])
        assert added == [""] * 600
        assert len((await socket.send(f"show map {path}")).splitlines()) == 600
        mixed = await socket.send_each(["get weight app/plain", "get weight app/none", f"add map {path} k v"])
        assert mixed == ["10 (initial 10)", "No such server.", ""]

    asyncio.run(talk(sockets(haproxy)[kind]))


def test_what_a_socket_cannot_take_is_refused_not_torn(haproxy: HAProxy) -> None:
    """A master would carry out what stands behind its limit; a worker refuses, 2.6 without words."""
    path = haproxy.directory / "a.map"
    stats, worker = sockets(haproxy).values()

    async def talk() -> None:
        with pytest.raises(RequestTooLong, match="a master socket takes 15360 at once"):
            await worker.send(f"add map {path}", payload=f"k {'v' * MASTER_BYTES}")
        with pytest.raises(RequestTooLong) as caught:
            await worker.send(f"add map {path} k {'v' * MASTER_BYTES}")
        assert len(str(caught.value)) < 500
        try:
            said = await stats.send(f"add map {path}", payload=f"k {'v' * 60_000}")
        except RuntimeRefused as error:
            said = error.answer
        assert "bufsize" in said
        assert await stats.send(f"show map {path}") == ""

    asyncio.run(talk())


def test_commands_run_one_after_another(tmp_path: Path) -> None:
    open_now, most = 0, 0

    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        line = await reader.readline()
        await asyncio.sleep(0)
        open_now -= 1
        writer.write(line + b"\n")
        writer.close()

    async def talk() -> list[str]:
        path = str(tmp_path / "s.sock")
        async with await asyncio.start_unix_server(count, path):
            socket = Socket(path)
            return await asyncio.gather(*(socket.send(f"command {number}") for number in range(20)))

    assert asyncio.run(talk()) == [f"command {number}" for number in range(20)]
    assert most == 1


def _saying(answer: bytes) -> Handler:
    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(answer)
        writer.close()

    return say
