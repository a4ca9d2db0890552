import asyncio
from collections.abc import Mapping
from pathlib import Path

import httpx2

from haproxy_native.features.events.statistics import Counters, Statistics, StatisticsWatch
from haproxy_native.features.events.stream import STATS, EventFilter, EventStream
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, run, running_engine

HEAD = "# pxname,svname,scur,status,lastchg,type,"


def differences(text: str, known: Statistics) -> tuple[Statistics, Mapping[str, Counters]]:
    now = Statistics(text)
    return now, {object_: row for changed in now.changed_since(known) for object_, row in changed.items()}


def test_rows_by_object() -> None:
    text = f"{HEAD}\nweb,FRONTEND,3,OPEN,,0,\nshop,s1,,no check,7,2,\nshop,BACKEND,1,UP,7,1,\n"
    assert Statistics(text).counters() == {
        "frontend/web": {"scur": 3, "status": "OPEN"},
        "backend/shop/server/s1": {"status": "no check", "lastchg": 7},
        "backend/shop": {"scur": 1, "status": "UP", "lastchg": 7},
    }
    assert Statistics("").counters() == {} == Statistics("Unknown command").counters()


def test_what_has_changed_but_by_the_clock() -> None:
    known, _ = differences(f"{HEAD}\nshop,s1,1,UP,7,2,\nshop,s2,1,UP,7,2,\n", Statistics())
    now, changed = differences(f"{HEAD}\nshop,s1,1,UP,8,2,\nshop,s2,2,UP,0,2,\n", known)
    assert changed == {"backend/shop/server/s2": {"scur": 2}}
    assert now.counters()["backend/shop/server/s1"]["lastchg"] == 8


def test_other_columns_are_all_told() -> None:
    known, _ = differences(f"{HEAD}\nshop,s1,1,UP,7,2,\n", Statistics())
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
                with stream.subscription(EventFilter({STATS}, "frontend/web")) as subscription:
                    while not watch._known:
                        await asyncio.sleep(0.01)
                    async with httpx2.AsyncClient(timeout=60) as client:
                        await client.get(f"http://127.0.0.1:{port}")
                    events = await subscription.read(60)
                assert b'"req_tot":1' in events[0].body and events[0].objects == ("frontend/web",)
                assert {each["object"] for each in await watch.read_counters()} == {"frontend/web", "backend/app", "backend/app/server/s1"}
                running.cancel()

    run(work())


def test_rows_that_come_and_go_change_and_rest() -> None:
    head = "# pxname,svname,scur,lastchg,lastsess,downtime,check_desc,type,"
    looks = [
        "a,s1,0,1,-1,0,,2,\na,s2,0,1,9,0,,2,\na,s3,0,1,-1,5,,2,\n",
        "a,s1,0,22,-1,0,,2,\na,s2,0,2,10,0,,2,\na,s3,0,2,-1,6,,2,\n",
        "a,s0,7,0,-1,0,,2,\na,s1,0,3,-1,0,,2,\na,s2,1,3,0,0,,2,\na,s3,0,3,-1,7,,2,\n",
        'a,s1,1,4,-1,0,,2,\na,s2,1,4,1,0,"a, b",2,\na,s3,1,0,-1,8,,2,\n',
        'a,s1,1,5,-1,0,,2,\na,s2,1,5,2,0,"a, b",2,\na,s3,1,1,-1,8,,2,\n',
        'a,s1,1,6,-1,0,,2,\na,s2,1,6,3,0,"a, c",2,\na,s3,0,2,-1,8,,2,\n',
    ]
    known, reported = Statistics(f"{head}\n{looks[0]}"), []
    for rows in looks[1:]:
        known, changed = differences(f"{head}\n{rows}", known)
        reported.append({object_.rpartition("/")[2]: row for object_, row in changed.items()})
    assert reported == [
        {},
        {"s0": {"scur": 7, "downtime": 0}, "s2": {"scur": 1}},
        {"s1": {"scur": 1}, "s2": {"check_desc": "a, b"}, "s3": {"scur": 1, "downtime": 8}},
        {},
        {"s2": {"check_desc": "a, c"}, "s3": {"scur": 0}},
    ]
    assert known.counters()["backend/a/server/s2"] == {"scur": 1, "lastchg": 6, "lastsess": 3, "downtime": 0, "check_desc": "a, c"}


def test_many_rows_of_which_some_come_and_some_go() -> None:
    """The answer has more rows than are compared without a pause."""
    rows = [f"shop,s{number},1,UP,7,2,\n" for number in range(1000)]
    known, _ = differences(f"{HEAD}\n{''.join(rows)}", Statistics())
    rows[20:40] = ["shop,new,1,UP,7,2,\n"]
    rows[700] = rows[700].replace(",1,", ",2,")
    now, changed = differences(f"{HEAD}\n{''.join(rows)}", known)
    name = rows[700].split(",")[1]
    assert changed == {"backend/shop/server/new": {"scur": 1, "status": "UP"}, f"backend/shop/server/{name}": {"scur": 2}}
    assert differences(f"{HEAD}\n{''.join(rows)}", now)[1] == {}


def test_counters_without_those_that_are_0() -> None:
    assert Statistics(f"{HEAD}\nshop,s1,0,UP,7,2,\n").counters(zeros=False) == {"backend/shop/server/s1": {"status": "UP", "lastchg": 7}}
