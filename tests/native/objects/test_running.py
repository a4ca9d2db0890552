"""What the running HAProxy says, as values."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

import haproxy_native
from haproxy_native.errors import BadValue, NotFound, RuntimeRefused
from haproxy_native.objects.running import Running
from tests.haproxy.process import HAProxy

CONFIG = """\
global
    stats socket {stats} mode 600 level admin
defaults
    mode http
    timeout client 5s
    timeout connect 5s
    timeout server 5s
backend www
    stick-table type ip size 100 expire 1h store gpc0,http_req_rate(10s)
    server web1 127.0.0.1:1 weight 7
"""
T = TypeVar("T")


def answer_of(tmp_path: Path, binary: str, ask: Callable[[Running], Awaitable[T]]) -> T:
    async def asked() -> T:
        async with haproxy_native.open(haproxy.file, haproxy=binary) as own:
            return await ask(own.runtime)

    with HAProxy(tmp_path, CONFIG, binary=binary) as haproxy:
        return asyncio.run(asked())


def test_entries_of_a_stick_table(tmp_path: Path, haproxy_binaries: str) -> None:
    async def ask(running: Running) -> None:
        table = running.stick_tables["www"]
        assert await table.entries() == []
        await table.set("192.0.2.1", gpc0=3)
        await table.set("192.0.2.2", gpc0=4)
        found = {entry.key: entry for entry in await table.entries()}
        assert {key: entry.gpc0 for key, entry in found.items()} == {"192.0.2.1": 3, "192.0.2.2": 4}
        first = found["192.0.2.1"]
        assert (first.http_req_rate, first.conn_cnt) == (0, None)
        assert first.exp is not None and 3_000_000 < first.exp <= 3_600_000
        assert [entry.gpc0 for entry in await table.entries("192.0.2.2")] == [4]
        await table.clear("192.0.2.1")
        assert [entry.key for entry in await table.entries()] == ["192.0.2.2"]
        about = await table.about()
        assert (about.type, about.size, about.used) == ("ip", 100, 1)
        assert list(await running.stick_tables.all()) == [about]

    answer_of(tmp_path, haproxy_binaries, ask)


def test_what_is_no_key_no_datum_and_no_table_is_refused(tmp_path: Path, haproxy_binary: str) -> None:
    async def ask(running: Running) -> None:
        with pytest.raises(BadValue, match="IPv4"):
            await running.stick_tables["www"].set("nonsense", gpc0=1)
        with pytest.raises(BadValue, match="an entry has no gpcO"):
            await running.stick_tables["www"].set("192.0.2.1", gpcO=1)
        with pytest.raises(NotFound, match="no stick table none"):
            await running.stick_tables["none"].about()
        with pytest.raises(RuntimeRefused):
            await running.stick_tables["none"].entries()

    answer_of(tmp_path, haproxy_binary, ask)


def test_servers_are_as_the_worker_has_them(tmp_path: Path, haproxy_binary: str) -> None:
    (server,) = answer_of(tmp_path, haproxy_binary, lambda running: running.servers("www"))
    assert (server.name, server.weight, server.admin_state, server.address, server.port) == ("web1", 7, "ready", "127.0.0.1", 1)
    assert repr(server) == "<ServerState www/web1 127.0.0.1:1, weight 7, ready, up>"


def test_a_server_is_changed_in_the_process_alone(tmp_path: Path, haproxy_binaries: str) -> None:
    async def ask(running: Running) -> None:
        web1 = running.server("www", "web1")
        assert str(await web1.drain()) == "backend/www/server/web1 admin_state: ready -> drain, live until the next reload"
        assert (await web1.state()).admin_state == "drain"
        assert (await web1.maintain()).members and (await web1.ready()).members
        outcome = await web1.set(weight=3, admin_state="drain", port=2)
        assert [(member.member, member.old, member.new) for member in outcome.members] == [
            ("admin_state", "ready", "drain"),
            ("weight", 7, 3),
            ("port", 1, 2),
        ]
        assert not outcome.lasting and repr(web1) == "<Server www/web1>"
        with pytest.raises(BadValue, match="700"):
            await web1.set(weight=700)
        for backend, name in (("www", "web2"), ("none", "web1")):
            with pytest.raises(NotFound, match=f"no server {name} of a backend {backend}"):
                await running.server(backend, name).drain()

    answer_of(tmp_path, haproxy_binaries, ask)
