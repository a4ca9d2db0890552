import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from haproxy_native.event_stream.servers import Looked, ServerWatch, as_dict, pause
from haproxy_native.event_stream.stream import SERVER, EventStream, Wanted
from haproxy_native.runtime.server_state import server_states
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, run, running_engine

S1 = "backend/app/server/s1"


def test_rows_are_read_as_the_runtime_api_reads_them(tmp_path: Path) -> None:
    lines = CONFIG % free_port() + "  server s2 127.0.0.1:2 disabled\n  server s3 127.0.0.1:3 check\n  server sock /tmp/none.sock\n"
    with HAProxy(tmp_path, lines) as haproxy:
        haproxy.ask("set server app/s3 state drain")
        text = haproxy.ask("show servers state")
    rows, known = Looked.at(text).rows, server_states(text)
    assert [rows[each.backend_name, each.name][1] for each in known] == ["s1", "s2", "s3", "sock"] == [name for _, name in rows]
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
                engine.context.events.listen(watch.heard)
                running = asyncio.create_task(watch.run())
                with stream.subscription(Wanted({SERVER})) as subscription:
                    (row,) = await watch.now()
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


async def seconds_until_seen(directory: Path, lines: str, states: Sequence[str], rest: float = 0.0) -> list[float]:
    """From each command on HAProxy's socket to its event; `rest` lies between an event and the next command."""
    late = list[float]()
    with HAProxy(directory, CONFIG % free_port() + lines) as haproxy:
        async with running_engine(directory, haproxy) as engine:
            stream = EventStream()
            running = asyncio.create_task(ServerWatch(engine, stream).run())
            with stream.subscription(Wanted({SERVER})) as subscription:
                await asyncio.sleep(1.2)
                for state in states:
                    began = time.monotonic()
                    haproxy.ask(f"set server app/s1 state {state}")
                    assert (await following(subscription))["admin_state"] == state
                    late.append(time.monotonic() - began)
                    await asyncio.sleep(rest)
            running.cancel()
    return late


def test_a_state_is_seen_soon_without_a_ring_and_where_one_reports_others(tmp_path: Path) -> None:
    """Within half a second, although all rows are read once a second."""
    ring = "ring events\n  format raw\n  maxlen 1024\n  size 65536\n"
    with_ring = ring + "backend pushed\n  log ring@events format raw local0 notice\n  server t1 127.0.0.1:1\n"

    async def work(directory: Path, lines: str) -> None:
        late = await seconds_until_seen(directory, lines, ("drain", "ready") * 2, rest=0.13)
        assert sorted(late)[1] <= 0.5, late

    for name, lines in {"none": "", "some": with_ring}.items():
        (directory := tmp_path / name).mkdir()
        run(work(directory, lines))


def test_what_changes_back_between_two_glances(tmp_path: Path) -> None:
    """It was a second late where it came back before the next glance, and a look at all rows had seen it in between."""

    async def work() -> None:
        late = await seconds_until_seen(tmp_path, "", ("drain", "ready") * 16)
        assert len([each for each in late if each > 0.6]) <= 1, late

    run(work())


def test_glances_are_rare_where_each_takes_long() -> None:
    assert pause([]) == pause([0.01, 0.6]) == pause([0.015]) == 0.25
    assert pause([0.09, 0.03]) == 0.5


def test_many_backends_at_once_are_seen_by_one_glance(tmp_path: Path) -> None:
    backends = "".join(f"backend b{number}\n  server one 127.0.0.1:1\n" for number in range(30))

    async def work() -> None:
        with HAProxy(tmp_path, CONFIG % free_port() + backends) as haproxy:
            async with running_engine(tmp_path, haproxy) as engine:
                stream = EventStream()
                running = asyncio.create_task(ServerWatch(engine, stream).run())
                seen: set[str] = set()
                with stream.subscription(Wanted({SERVER})) as subscription:
                    await asyncio.sleep(0.8)
                    for number in range(30):
                        haproxy.ask(f"set server b{number}/one state maint")
                    while len(seen) < 30 and (events := await subscription.read(5)):
                        seen |= {each.objects[0] for each in events}
                running.cancel()
                assert len(seen) == 30

    run(work())


async def following(subscription: Any) -> dict[str, Any]:
    (event,) = await subscription.read(5)
    assert event.objects == (S1,)
    return dict(json.loads(event.body)["data"])
