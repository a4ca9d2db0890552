"""Which socket is chosen, kept, and found again."""

import asyncio
import os
import signal
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

import pytest

from haproxy_native.errors import RuntimeAbsent, RuntimeRefused
from haproxy_native.runtime import commands
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.socket import RequestTooLong
from tests.haproxy.process import SMALL, HAProxy, ask, free_port
from tests.native.versions import newest

T = TypeVar("T")


async def connected(haproxy: HAProxy, *, master: bool = True) -> Runtime:
    runtime = Runtime(timeout=60)
    assert await runtime.connect(str(haproxy.master) if master else None, [str(haproxy.stats)], 60, 0.02)
    return runtime


def test_the_master_comes_first(haproxy: HAProxy) -> None:
    runtime = asyncio.run(connected(haproxy))
    assert runtime.address == str(haproxy.master) and runtime.master
    assert asyncio.run(runtime.worker_pid()) == haproxy.worker_pid()


@newest
def test_then_the_stats_sockets_in_their_order(haproxy: HAProxy, tmp_path: Path) -> None:
    runtime = Runtime()
    places = [str(tmp_path / "none.sock"), str(haproxy.stats)]
    assert asyncio.run(runtime.connect(str(tmp_path / "no-master.sock"), places, 0, 0.02))
    assert runtime.address == str(haproxy.stats) and runtime.master is None


@newest
def test_a_unix_socket_comes_before_one_of_tcp(haproxy: HAProxy) -> None:
    async def chosen() -> str:
        async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"Pid: 1\n\n")
            writer.close()

        async with await asyncio.start_server(hold, "127.0.0.1") as server:
            runtime = Runtime(timeout=60)
            assert await runtime.connect(None, [f"127.0.0.1:{server.sockets[0].getsockname()[1]}", str(haproxy.stats)], 60, 0.02)
            return runtime.address

    assert asyncio.run(chosen()) == str(haproxy.stats)


@newest
def test_a_tcp_address_is_no_master(haproxy: HAProxy) -> None:
    runtime = Runtime()
    assert asyncio.run(runtime.connect("ipv4@127.0.0.1:9999", [str(haproxy.stats)], 0, 0.02))
    assert runtime.address == str(haproxy.stats)


@newest
def test_it_waits_for_a_socket_that_comes_later(haproxy: HAProxy) -> None:
    haproxy.stop()

    async def both() -> bool:
        runtime = Runtime()
        waiting = asyncio.create_task(runtime.connect(None, [str(haproxy.stats)], 20, 0.02))
        # In this thread: HAProxy ends with the thread that started it.
        haproxy.start()
        return await waiting

    assert asyncio.run(both())


def test_without_any_socket(tmp_path: Path) -> None:
    runtime = Runtime()
    assert not asyncio.run(runtime.connect(None, [], 0, 0.02))
    with pytest.raises(RuntimeAbsent, match="no master socket and no stats socket"):
        asyncio.run(runtime.send("show info"))
    assert not asyncio.run(runtime.connect(str(tmp_path / "m.sock"), [str(tmp_path / "s.sock")], 0, 0.02))
    with pytest.raises(RuntimeAbsent, match=r"m\.sock: no such file; .*s\.sock: no such file"):
        asyncio.run(runtime.worker())


@newest
def test_a_socket_that_is_back_is_found_again(haproxy: HAProxy) -> None:
    async def talk() -> None:
        runtime = await connected(haproxy)
        before = await runtime.worker()
        haproxy.stop()
        with pytest.raises(RuntimeAbsent):
            await runtime.send("show info")
        haproxy.start()
        assert (await runtime.worker()).pid != before.pid

    asyncio.run(talk())


@newest
def test_an_absence_that_a_watcher_sees_again_and_again_is_counted_once(haproxy: HAProxy) -> None:
    async def watched() -> list[int]:
        runtime, counts = await connected(haproxy), []

        async def look(times: int) -> None:
            for _ in range(times):
                with suppress(RuntimeAbsent):
                    await runtime.worker()
            counts.append(runtime.failures["absent"])

        await look(3)
        haproxy.stop()
        await look(3)
        with suppress(RuntimeAbsent):
            await runtime.send("show info")
        await look(3)
        haproxy.start()
        await look(3)
        haproxy.stop()
        await look(3)
        return counts

    assert asyncio.run(watched()) == [0, 1, 2, 2, 3]


@newest
def test_another_socket_takes_over_at_once(haproxy: HAProxy) -> None:
    async def talk() -> None:
        runtime = await connected(haproxy)
        assert haproxy.master
        haproxy.master.unlink()
        assert await runtime.worker_pid() == haproxy.worker_pid()
        assert runtime.address == str(haproxy.stats)

    asyncio.run(talk())


@newest
def test_other_addresses_from_now_on(haproxy: HAProxy, tmp_path: Path) -> None:
    async def talk() -> None:
        runtime = await connected(haproxy, master=False)
        runtime.use(None, [str(haproxy.stats), str(tmp_path / "new.sock")])
        assert runtime.address == str(haproxy.stats)
        runtime.use(str(haproxy.master), [])
        assert await runtime.worker_pid() == haproxy.worker_pid() and runtime.master

    asyncio.run(talk())


def test_refusals_carry_haproxys_words_and_the_command(haproxy: HAProxy) -> None:
    async def talk() -> None:
        runtime = await connected(haproxy)
        assert await runtime.execute("set server app/plain weight 7") == ""
        with pytest.raises(RuntimeRefused) as caught:
            await runtime.execute("set server app/ghost weight 7")
        assert (caught.value.answer, caught.value.command) == ("No such server.", "set server app/ghost weight 7")
        assert {row.name: row.uweight for row in await runtime.servers("app")}["plain"] == 7
        with pytest.raises(RuntimeRefused, match="Can't find backend"):
            await runtime.servers("ghost")

    asyncio.run(talk())


class Scripted:
    """A socket that takes one request after the other and does with each what its turn says: bytes to answer, or None to close at once."""

    def __init__(self, path: Path, *turns: bytes | None) -> None:
        self.path, self.turns, self.requests = path, list(turns), list[str]()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.read(65536)).decode().strip()
        if not request.startswith(("show info", "help", "show cli", "add server help")):
            self.requests.append(request)
            answer = self.turns.pop(0)
        else:
            answer = b"Pid: 7\nVersion: 3.2\n\n"
        writer.write(answer or b"")
        writer.close()

    def talk(self, work: Callable[[Runtime], Awaitable[T]]) -> T:
        async def run() -> T:
            async with await asyncio.start_unix_server(self._serve, str(self.path)):
                runtime = Runtime()
                assert await runtime.connect(None, [str(self.path)], 0)
                return await work(runtime)

        return asyncio.run(run())


def test_what_reads_is_asked_again_when_its_answer_was_cut_short(tmp_path: Path) -> None:
    socket = Scripted(tmp_path / "s.sock", b"# id (file) descr", None, b"# id\n1 ()\n\n")
    with pytest.raises(RuntimeAbsent, match="closed without an answer"):
        socket.talk(lambda runtime: runtime.read_dump("show acl", "# id"))
    assert socket.talk(lambda runtime: runtime.read_dump("show acl", "# id")) == "# id\n1 ()"
    assert socket.requests == ["show acl"] * 3


def test_what_changes_is_never_sent_twice(tmp_path: Path) -> None:
    socket = Scripted(tmp_path / "s.sock", b"New ver", None, b"\n")
    for reason in ("cut short after 7 characters", "closed without an answer"):
        with pytest.raises(RuntimeAbsent, match=reason) as caught:
            socket.talk(lambda runtime: runtime.execute("prepare acl #1"))
        assert caught.value.sent
    assert socket.talk(lambda runtime: runtime.send_each(["add acl #1 a"])) == [""]
    assert socket.requests == ["prepare acl #1", "prepare acl #1", "add acl #1 a"]


def test_a_dump_that_is_none_is_a_refusal(tmp_path: Path) -> None:
    socket = Scripted(tmp_path / "s.sock", b"Unknown command: 'show acl', but\n  help : this\n\n", b"\n")
    with pytest.raises(RuntimeRefused, match=r"^Unknown command: 'show acl', but \[show acl\]$"):
        socket.talk(lambda runtime: runtime.read_dump("show acl", "# id"))
    assert socket.talk(lambda runtime: runtime.read_dump("show acl", "# id")) == ""


def test_what_a_master_cannot_carry_goes_to_its_worker(tmp_path: Path, haproxy_binaries: str) -> None:
    (tmp_path / "a.map").touch()
    config = SMALL.replace("global\n", "global\n  tune.bufsize 131072\n") + "  http-request set-var(txn.x) str(),map(MAP)\n"
    value = "".join(f"word {number};\\\"'# ü " for number in range(4000))[:60_000].strip()

    async def run(runtime: Runtime, stats: str) -> str:
        assert await runtime.connect(str(haproxy.master), [str(tmp_path / "nobody.sock"), stats] if stats else [], 10)
        assert runtime.master
        assert await runtime.execute(f"add map {tmp_path}/a.map", payload=f"key {value}") == ""
        assert await runtime.send_each([f"add map {tmp_path}/a.map k v", f"add map {tmp_path}/a.map long {'v' * 60_000}"]) == ["", ""]
        return (await runtime.read_dump(f"show map {tmp_path}/a.map", "0x")).partition(" key ")[2].partition("\n")[0]

    with HAProxy(tmp_path, config.replace("MAP", str(tmp_path / "a.map")), binary=haproxy_binaries) as haproxy:
        assert asyncio.run(run(Runtime(), str(haproxy.stats))) == value
        with pytest.raises(RequestTooLong, match="a stats socket takes more"):
            asyncio.run(run(Runtime(), ""))


def test_many_commands_through_the_master_alone(tmp_path: Path, haproxy_binaries: str) -> None:
    """From 3.2 on the worker takes them over one connection; every answer stands where its command does, in any version."""
    (tmp_path / "a.map").touch()
    config = SMALL + f"  http-request set-var(txn.x) str(),map({tmp_path}/a.map)\n"
    added = [f"add map {tmp_path}/a.map key{number} value" for number in range(300)]
    commands = [*added, "get weight app/none", f"get map {tmp_path}/a.map key299"]

    async def run(haproxy: HAProxy) -> list[str]:
        runtime = Runtime()
        assert await runtime.connect(str(haproxy.master), [], 10)
        assert runtime.capabilities.relays == (runtime.capabilities.version >= (3, 2))
        found = await runtime.send_each(commands)
        assert len((await runtime.read_dump(f"show map {tmp_path}/a.map", "0x")).splitlines()) == len(added)
        return found

    with HAProxy(tmp_path, config, binary=haproxy_binaries) as haproxy:
        *accepted, absent, last = asyncio.run(run(haproxy))
    assert accepted == [""] * len(added)
    assert absent == "No such server."
    assert 'value="value"' in last


BUSY = """frontend web
  bind 127.0.0.1:{port}
backend off
  disabled
  server a 127.0.0.1:1
"""


def held(port: int) -> socket.socket:
    """Half a request, which a worker that is stopping waits for."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(b"GET / HTTP/1.1\r\nHo")
    return connection


class Stale:
    """A master's socket that leads the next `requests` to an old worker, as one does whose connection was made before a reload."""

    def __init__(self, haproxy: HAProxy, path: Path, worker: int) -> None:
        self.haproxy, self.path, self.worker, self.requests = haproxy, path, worker, 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.read(65536)).decode()
        if self.requests:
            self.requests -= 1
            request = request.replace("@1 ", f"@!{self.worker} ")
        writer.write((await asyncio.to_thread(ask, str(self.haproxy.master), request)).encode())
        writer.close()

    def talk(self, work: Callable[[Runtime], Awaitable[T]]) -> T:
        async def run() -> T:
            async with await asyncio.start_unix_server(self._serve, str(self.path)):
                runtime = Runtime()
                assert await runtime.connect(str(self.path), [], 0)
                return await work(runtime)

        return asyncio.run(run())


def test_a_worker_that_is_stopping_does_not_refuse_for_the_one_that_serves(tmp_path: Path, haproxy_binaries: str) -> None:
    port = free_port()
    with HAProxy(tmp_path, SMALL + BUSY.format(port=port), binary=haproxy_binaries) as haproxy, closing(held(port)):
        master, old = Stale(haproxy, tmp_path / "stale.sock", haproxy.worker_pid()), haproxy.worker_pid()
        haproxy.ask_master("reload")
        while old == haproxy.worker_pid():
            time.sleep(0.01)
        haproxy.wait_until_it_answers()
        assert "Proxy is disabled" in haproxy.ask_master(f"@!{old} set server app/a weight 1"), "or this proves nothing"

        async def changed(runtime: Runtime, weight: int, times: int) -> int | None:
            # The first is the command itself, those after it ask who has refused it.
            master.requests = times
            await commands.apply(runtime, [commands.weight("app", "a", weight)] * (commands.MANY + 1 if times > 9 else 1))
            return next(iter(await runtime.servers("app"))).uweight

        for weight, times in ((11, 1), (12, 4), (13, 10)):
            assert master.talk(lambda runtime, weight=weight, times=times: changed(runtime, weight, times)) == weight
            assert not master.requests


def test_a_worker_that_is_stopping_without_another_is_absent(tmp_path: Path, haproxy_binary: str) -> None:
    port = free_port()
    with HAProxy(tmp_path, SMALL + BUSY.format(port=port), binary=haproxy_binary) as haproxy, closing(held(port)):

        async def talk() -> None:
            runtime = await connected(haproxy)
            os.kill(haproxy.worker_pid(), signal.SIGUSR1)
            while "Stopping: 1" not in await runtime.send("show info"):
                await asyncio.sleep(0.01)
            with pytest.raises(RuntimeAbsent, match=r"master\.sock: the worker is stopping, and no other worker answers"):
                await runtime.execute("set server app/a weight 7")

        asyncio.run(talk())


@newest
def test_a_backend_that_the_file_disables_refuses(tmp_path: Path, haproxy_binaries: str) -> None:
    with HAProxy(tmp_path, SMALL + BUSY.format(port=free_port()), binary=haproxy_binaries) as haproxy:

        async def talk() -> None:
            runtime = await connected(haproxy)
            with pytest.raises(RuntimeRefused, match=r"^Proxy is disabled\. \[set server off/a weight 7\]$"):
                await runtime.execute("set server off/a weight 7")

        asyncio.run(talk())
