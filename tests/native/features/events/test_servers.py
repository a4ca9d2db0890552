import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.features.events import servers
from haproxy_native.features.events.servers import ServerWatch, as_dict, rows_of, scan_pause
from haproxy_native.features.events.stream import SERVER, EventFilter, EventStream
from haproxy_native.runtime.server_state import server_states
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, run, running_engine

S1 = "backend/app/server/s1"


def test_rows_are_read_as_the_runtime_api_reads_them(tmp_path: Path) -> None:
    lines = CONFIG % free_port() + "  server s2 127.0.0.1:2 disabled\n  server s3 127.0.0.1:3 check\n  server sock /tmp/none.sock\n"
    with HAProxy(tmp_path, lines) as haproxy:
        haproxy.ask("set server app/s3 state drain")
        text = haproxy.ask("show servers state")
    rows, known = rows_of(text), server_states(text)
    assert [rows[each.backend_name, each.name][2] for each in known] == ["s1", "s2", "s3", "sock"] == [name for _, name in rows]
    for each in known:
        assert as_dict(rows[each.backend_name, each.name]) == {
            "operational_state": each.operational_state,
            "admin_state": each.admin_state,
            "weight": each.weight,
            "address": each.address,
            "port": each.port,
        }


def test_what_changes_is_published_with_what_it_was(tmp_path: Path) -> None:
    async def work() -> None:
        with HAProxy(tmp_path, CONFIG % free_port()) as haproxy:
            async with running_engine(tmp_path, haproxy) as engine:
                stream = EventStream()
                watch = ServerWatch(engine, stream)
                engine.context.events.listen(watch.on_event)
                running = asyncio.create_task(watch.run())
                with stream.subscription(EventFilter({SERVER})) as subscription:
                    (row,) = await watch.read_servers()
                    assert row == {"object": S1, "operational_state": "up", "admin_state": "ready", "weight": 10} | {
                        "address": "127.0.0.1",
                        "port": 1,
                    }
                    haproxy.ask("set server app/s1 weight 3")
                    data = await following(subscription)
                    assert data["change"] == "changed" and data["weight"] == 3 and data["former"] == {"weight": 10}
                    haproxy.ask("set server app/s1 state maint")
                    assert (await following(subscription))["admin_state"] == "maint"
                    haproxy.ask("del server app/s1")
                    assert (await following(subscription))["change"] == "deleted"
                running.cancel()

    run(work())


@pytest.fixture
def scans_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first poll, poll again only when a test requests it, so that only scans find changes."""
    monkeypatch.setattr(servers, "POLL_SECONDS", 3600.0)


async def follow_states(directory: Path, lines: str, states: Sequence[str], polled: Sequence[str | None] = ()) -> None:
    """Set these states of a server on HAProxy's socket, wait for the event of each, and then poll these backends."""
    with HAProxy(directory, CONFIG % free_port() + lines) as haproxy:
        async with running_engine(directory, haproxy) as engine:
            stream = EventStream()
            watch = ServerWatch(engine, stream)
            running = asyncio.create_task(watch.run())
            with stream.subscription(EventFilter({SERVER})) as subscription:
                while not watch.known:
                    await asyncio.sleep(0.01)
                for state in states:
                    haproxy.ask(f"set server app/s1 state {state}")
                    assert (await following(subscription))["admin_state"] == state
                    watch.poll_soon(*polled)
            running.cancel()


RING = "ring events\n  format raw\n  maxlen 1024\n  size 65536\n"
WITH_RING = RING + "backend pushed\n  log ring@events format raw local0 notice\n  server t1 127.0.0.1:1\n"


def test_a_ring_reports_a_state(tmp_path: Path, scans_only: None) -> None:
    """A ring that reports all servers replaces scans."""
    run(follow_states(tmp_path, "  log ring@events format raw local0 notice\n" + RING, ("maint", "ready") * 2))


@pytest.mark.parametrize("lines", ["", WITH_RING], ids=["no ring", "a ring that reports others"])
def test_a_scan_finds_a_state(tmp_path: Path, scans_only: None, lines: str) -> None:
    run(follow_states(tmp_path, lines, ("drain", "ready") * 2))


@pytest.mark.parametrize("polled", [(), (None,), ("app",)], ids=["nothing", "all rows", "the backend"])
def test_a_state_that_changes_back_between_two_scans(tmp_path: Path, scans_only: None, polled: tuple[str | None, ...]) -> None:
    """The second change must be found although the state is the same as at the scan before, because a poll has seen the first change."""
    run(follow_states(tmp_path, "", ("drain", "ready") * 8, polled))


def test_scans_are_rare_if_each_takes_long() -> None:
    assert scan_pause([]) == scan_pause([0.01, 0.6]) == scan_pause([0.015]) == 0.25
    assert scan_pause([0.09, 0.03]) == 0.5


def test_one_scan_finds_many_changed_backends(tmp_path: Path, scans_only: None) -> None:
    backends = "".join(f"backend b{number}\n  server one 127.0.0.1:1\n" for number in range(30))

    async def work() -> None:
        with HAProxy(tmp_path, CONFIG % free_port() + backends) as haproxy:
            async with running_engine(tmp_path, haproxy) as engine:
                stream = EventStream()
                watch = ServerWatch(engine, stream)
                running = asyncio.create_task(watch.run())
                seen: set[str] = set()
                with stream.subscription(EventFilter({SERVER})) as subscription:
                    while not watch.known:
                        await asyncio.sleep(0.01)
                    for number in range(30):
                        haproxy.ask(f"set server b{number}/one state maint")
                    while len(seen) < 30 and (events := await subscription.read(60)):
                        seen |= {each.objects[0] for each in events}
                running.cancel()
                assert len(seen) == 30

    run(work())


async def following(subscription: Any) -> dict[str, Any]:
    (event,) = await subscription.read(60)
    assert event.objects == (S1,)
    return dict(json.loads(event.body)["data"])


def test_a_poll_of_all_is_older_than_a_poll_of_a_backend_during_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of that backend in the answer about all servers are older, and are not published."""
    servers_ = "".join(f"  server number{number} 127.0.0.1:{number + 1} weight 10\n" for number in range(1000))
    lines = CONFIG % free_port() + f"backend first\n{servers_}backend last\n  server one 127.0.0.1:1 weight 10\n"

    async def work() -> None:
        with HAProxy(tmp_path, lines) as haproxy:
            async with running_engine(tmp_path, haproxy) as engine:
                stream, seen, pieces = EventStream(), asyncio.Event(), 0
                watch = ServerWatch(engine, stream)

                async def interrupted(given: Iterable[Any]) -> AsyncIterator[Any]:
                    nonlocal pieces
                    for pieces, piece in enumerate(given):
                        if watch._has_polled and not pieces:
                            haproxy.ask("set server last/one weight 3")
                            watch.poll_soon("last")
                        yield piece
                    if watch._has_polled:
                        seen.set()

                monkeypatch.setattr(servers, "with_pauses", interrupted)
                with stream.subscription(EventFilter({SERVER})) as subscription:
                    running = asyncio.create_task(watch.run())
                    await seen.wait()
                    running.cancel()
                    events = subscription.available()
                assert pieces >= 2
                assert [event.objects for event in events] == [("backend/last/server/one",)]
                assert json.loads(events[0].body)["data"]["weight"] == 3

    run(work())
