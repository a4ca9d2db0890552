"""Which socket is chosen, kept, and found again."""

import asyncio
from pathlib import Path

import pytest

from native.errors import RuntimeAbsent, RuntimeRefused
from native.runtime.client import Runtime
from tests.haproxy.process import HAProxy


async def connected(haproxy: HAProxy, *, master: bool = True) -> Runtime:
    runtime = Runtime(timeout=10)
    assert await runtime.connect(str(haproxy.master) if master else None, [str(haproxy.stats)], 5, 0.02)
    return runtime


def test_the_master_comes_first(haproxy: HAProxy) -> None:
    runtime = asyncio.run(connected(haproxy))
    assert runtime.address == str(haproxy.master) and runtime.master
    assert asyncio.run(runtime.worker_pid()) == haproxy.worker_pid()


def test_then_the_stats_sockets_in_their_order(haproxy: HAProxy, tmp_path: Path) -> None:
    runtime = Runtime()
    places = [str(tmp_path / "none.sock"), str(haproxy.stats)]
    assert asyncio.run(runtime.connect(str(tmp_path / "no-master.sock"), places, 0, 0.02))
    assert runtime.address == str(haproxy.stats) and runtime.master is None


def test_a_tcp_address_is_no_master(haproxy: HAProxy) -> None:
    runtime = Runtime()
    assert asyncio.run(runtime.connect("ipv4@127.0.0.1:9999", [str(haproxy.stats)], 0, 0.02))
    assert runtime.address == str(haproxy.stats)


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


def test_another_socket_takes_over_at_once(haproxy: HAProxy) -> None:
    async def talk() -> None:
        runtime = await connected(haproxy)
        assert haproxy.master
        haproxy.master.unlink()
        assert await runtime.worker_pid() == haproxy.worker_pid()
        assert runtime.address == str(haproxy.stats)

    asyncio.run(talk())


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
        assert await runtime.ask("set server app/plain weight 7") == ""
        with pytest.raises(RuntimeRefused) as caught:
            await runtime.ask("set server app/ghost weight 7")
        assert (caught.value.answer, caught.value.command) == ("No such server.", "set server app/ghost weight 7")
        assert {row.name: row.uweight for row in await runtime.servers("app")}["plain"] == 7
        with pytest.raises(RuntimeRefused, match="Can't find backend"):
            await runtime.servers("ghost")

    asyncio.run(talk())
