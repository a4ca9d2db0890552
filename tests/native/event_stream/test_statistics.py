import asyncio
from pathlib import Path

import httpx2

from haproxy_native.event_stream.statistics import Looked, StatisticsWatch, differences
from haproxy_native.event_stream.stream import STATS, EventStream, Wanted
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, run, running_engine

HEAD = "# pxname,svname,scur,status,lastchg,type,"


def test_rows_by_object() -> None:
    text = f"{HEAD}\nweb,FRONTEND,3,OPEN,,0,\nshop,s1,,no check,7,2,\nshop,BACKEND,1,UP,7,1,\n"
    assert Looked.at(text).counters == {
        "frontend/web": {"scur": 3, "status": "OPEN"},
        "backend/shop/server/s1": {"status": "no check", "lastchg": 7},
        "backend/shop": {"scur": 1, "status": "UP", "lastchg": 7},
    }
    assert Looked.at("").counters == {} == Looked.at("Unknown command").counters


def test_what_has_changed_but_by_the_clock() -> None:
    known, _ = differences(f"{HEAD}\nshop,s1,1,UP,7,2,\nshop,s2,1,UP,7,2,\n", Looked())
    now, changed = differences(f"{HEAD}\nshop,s1,1,UP,8,2,\nshop,s2,2,UP,0,2,\n", known)
    assert changed == {"backend/shop/server/s2": {"scur": 2}}
    assert now.counters["backend/shop/server/s1"]["lastchg"] == 8


def test_other_columns_are_all_told() -> None:
    known, _ = differences(f"{HEAD}\nshop,s1,1,UP,7,2,\n", Looked())
    _, changed = differences("# pxname,svname,stot,status,type,\nshop,s1,9,UP,2,\n", known)
    assert changed == {"backend/shop/server/s1": {"stot": 9, "status": "UP"}}


def test_counters_of_a_haproxy(tmp_path: Path) -> None:
    port = free_port()

    async def work() -> None:
        with HAProxy(tmp_path, CONFIG % port) as haproxy:
            async with running_engine(tmp_path, haproxy) as engine:
                stream = EventStream()
                watch = StatisticsWatch(engine, stream)
                running = asyncio.create_task(watch.run())
                with stream.subscription(Wanted({STATS}, "frontend/web")) as subscription:
                    await asyncio.sleep(0.5)
                    async with httpx2.AsyncClient() as client:
                        await client.get(f"http://127.0.0.1:{port}")
                    events = await subscription.read(5)
                assert b'"req_tot":1' in events[0].body and events[0].objects == ("frontend/web",)
                assert {each["object"] for each in await watch.now()} == {"frontend/web", "backend/app", "backend/app/server/s1"}
                running.cancel()

    run(work())
