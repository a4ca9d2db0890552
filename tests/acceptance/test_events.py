"""Test `/v3/sidecar/events` with a real HAProxy: events are sent at once, only once, and a client that connects again misses none."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.farm import Farm, farm_of
from tests.acceptance.follower import PATH, Event, Follower
from tests.acceptance.quick import SERVICES
from tests.until import until

LINES = """\
    default_backend shop

backend shop from plain
    server web1 127.0.0.1:{one} weight 20
    server web2 127.0.0.1:{two} weight 20

backend other from plain
    server web1 127.0.0.1:{two}

backend checked from plain
    server web1 127.0.0.1:{two} check port {two} inter 100ms fall 1 rise 1

userlist people
    user anna insecure-password verysecret
"""
RING = """
ring state-events
    format raw
    maxlen 1024
    size 1048576
"""


@pytest.fixture(params=[pytest.param("2.6", marks=pytest.mark.soak), "3.4"])
def farm(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Farm]:
    with farm_of(Farm, tmp_path, request.param, LINES, "one", "two") as found:
        yield found


@pytest.fixture(params=[*(pytest.param(each, marks=pytest.mark.soak) for each in ("2.6", "3.2")), "3.4"])
def pushing(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Farm]:
    """Run a server for a HAProxy that logs states of servers to a ring."""
    lines = LINES.replace("from plain\n    server", "from plain\n    log global\n    server") + RING
    with farm_of(Farm, tmp_path, request.param, lines, "one", "two", settings="log ring@state-events format raw local0 notice") as found:
        yield found


def is_server(object_: str, **members: Any) -> Any:
    def holds(event: Event) -> bool:
        return event["object"] == object_ and all(event["data"].get(name) == value for name, value in members.items())

    return holds


def set_server(farm: Farm, name: str, **values: Any) -> None:
    answer = farm.sidecar.put(f"{SERVICES}/runtime/backends/shop/servers/{name}", values)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("farm", ["2.6", "3.4"], indirect=True)
def test_what_happens_is_sent_to_those_who_want_it(farm: Farm) -> None:
    sidecar = farm.sidecar
    with Follower(sidecar) as all_, Follower(sidecar, object="backend/other") as other, Follower(sidecar, types="reload") as reloads:
        set_server(farm, "web1", admin_state="drain")
        event = all_.until(is_server("backend/shop/server/web1", admin_state="drain"))
        assert event["data"]["former"] == {"admin_state": "ready"}
        farm.sidecar.haproxy.ask("set server shop/web2 weight 7")
        event = all_.until(is_server("backend/shop/server/web2", weight=7))
        assert event["type"] == "server" and event["data"]["change"] == "changed"
        assert sidecar.put_server("web1", {"weight": 9}, "other").status_code in (200, 202)
        event = other.of("config")
        assert {"object": "backend/other/server/web1", "member": "weight", "new": 9} in event["data"]["effects"]
        assert event["object"] == "backend/other/server/web1" and event["data"]["author"] == "admin"
        farm.reload()
        assert all_.of("worker")["data"]["pid"] == int(sidecar.haproxy.ask("show info").partition("\nPid: ")[2].split()[0])
        assert reloads.of("reload")["data"]["status"] == "succeeded"
        assert {each["type"] for each in reloads.events} == {"reload"}
        assert all(each["object"].startswith("backend/other") or each["type"] == "config" for each in other.events)
        ids = [int(each["id"]) for each in all_.events]
        assert ids == sorted(set(ids))


def test_what_was_missed_comes_again(farm: Farm) -> None:
    with Follower(farm.sidecar) as first:
        set_server(farm, "web1", weight=5)
        last = first.until(is_server("backend/shop/server/web1", weight=5))
    set_server(farm, "web1", weight=6)
    assert farm.sidecar.post("backends", {"name": "late", "from": "plain"}, version=farm.sidecar.version()).status_code in (201, 202)
    with Follower(farm.sidecar, last["id"]) as again:
        again.until(is_server("backend/shop/server/web1", weight=6))
        again.until(lambda event: event["type"] == "config" and event["object"] == "backend/late")
        assert all(int(each["id"]) > int(last["id"]) for each in again.events)


def test_where_the_past_is_gone_there_is_a_snapshot(farm: Farm) -> None:
    with Follower(farm.sidecar, "1") as late:
        snapshot = late.of("snapshot")
        assert snapshot["data"]["lost"] and snapshot["data"]["version"] == farm.sidecar.version()
        assert {each["object"] for each in snapshot["data"]["servers"]} >= {"backend/shop/server/web1", "backend/other/server/web1"}
        assert "ring state-events" in snapshot["data"]["lines_to_add"]
    with Follower(farm.sidecar, snapshot="true", types="stats", object="backend/other") as asked:
        snapshot = asked.of("snapshot")
        assert not snapshot["data"]["lost"]
        assert {each["object"] for each in snapshot["data"]["stats"]} == {"backend/other", "backend/other/server/web1"}
        assert all(each["counters"]["stot"] == 0 for each in snapshot["data"]["stats"])
    with Follower(farm.sidecar, snapshot="true", types="stats", object="backend/other", zeros="false") as asked:
        counters = [each["counters"] for each in asked.of("snapshot")["data"]["stats"]]
        assert len(counters) == 2 and all(0 not in each.values() and "status" in each for each in counters)


def is_of_shop(event: Any) -> bool:
    return event["object"] == "backend/shop" and "stot" in event["data"]["counters"]


def test_counters_that_change(farm: Farm) -> None:
    with Follower(farm.sidecar, types="stats", object="backend/shop") as stats:

        def counted() -> bool:
            httpx2.get(farm.url, timeout=60, verify=False)
            return any(map(is_of_shop, stats.events))

        # Only changes after the first poll are events.
        until(counted)
        event = stats.until(is_of_shop)
        assert event["data"]["counters"]["stot"] >= 1
        assert "pxname" not in event["data"]["counters"]
    with Follower(farm.sidecar, types="stats", since="10m") as late:
        late.until(lambda each: each["id"] == event["id"])


def test_no_secret_is_sent(farm: Farm) -> None:
    with Follower(farm.sidecar, types="config") as config:
        answer = farm.sidecar.put(
            "users/anna",
            {"username": "anna", "password": "newsecret", "secure_password": False},
            userlist="people",
            version=farm.sidecar.version(),
        )
        assert answer.status_code in (200, 202), answer.text
        event = config.of("config")
    assert "secret" not in str(event["data"]["effects"])
    assert any("<masked>" in str(each) for each in event["data"]["effects"])


def test_stored_files(farm: Farm) -> None:
    with Follower(farm.sidecar, types="storage,certificate") as files:
        path = f"{SERVICES}/storage/maps"
        assert farm.sidecar.client.post(path, files={"file_upload": ("hosts.map", b"a b\n")}).status_code == 201
        event = files.of("storage")
        assert (event["object"], event["data"]["change"], event["data"]["author"]) == ("map/hosts.map", "created", "admin")
        assert farm.sidecar.client.delete(f"{path}/hosts.map").status_code == 204
        files.until(lambda event: event["data"]["change"] == "deleted")


def test_operations_and_confirmations(farm: Farm) -> None:
    with Follower(farm.sidecar, types="operation,confirmation") as events:
        answer = farm.sidecar.post("/v3/sidecar/reloads")
        assert answer.status_code == 202
        object_ = f"operation/{answer.json()['id']}"
        events.until(lambda event: event["object"] == object_ and event["data"]["status"] == "succeeded")
        answer = farm.sidecar.put_server("web1", {"weight": 9}, "shop", version=farm.sidecar.version(), confirm="60s")
        id_ = answer.headers["Location"].rpartition("/")[2]
        for step in ("pending", "confirmed"):
            events.until(lambda event, step=step: event["object"] == f"confirmation/{id_}" and event["data"]["status"] == step)
            farm.sidecar.post(f"/v3/sidecar/confirmations/{id_}/confirm")


@pytest.mark.parametrize("pushing", ["2.6", "3.4"], indirect=True)
def test_a_state_is_pushed(pushing: Farm) -> None:
    with Follower(pushing.sidecar, types="server", snapshot="true") as servers:
        assert servers.of("snapshot")["data"]["lines_to_add"] == {}
        for name in ("web1", "web2"):
            for state in ("maint", "ready"):
                began = time.time()
                pushing.sidecar.haproxy.ask(f"set server shop/{name} state {state}")
                servers.until(
                    lambda event, name=name, state=state, began=began: (
                        event["arrived"] >= began and is_server(f"backend/shop/server/{name}", admin_state=state)(event)
                    )
                )


def test_a_state_is_seen_without_a_ring(farm: Farm) -> None:
    with Follower(farm.sidecar, types="server", snapshot="true") as servers:
        servers.of("snapshot")
        for state in ("maint", "ready"):
            began = time.time()
            farm.sidecar.haproxy.ask(f"set server shop/web1 state {state}")
            servers.until(is_state(state, began))


def is_state(state: str, after: float) -> Any:
    return lambda event: event["arrived"] >= after and is_server("backend/shop/server/web1", admin_state=state)(event)


def test_a_reader_of_the_ring_lets_the_former_worker_go(pushing: Farm) -> None:
    with Follower(pushing.sidecar, types="server,worker") as servers:
        former = int(pushing.sidecar.haproxy.ask("show info").partition("\nPid: ")[2].split()[0])
        pushing.reload()
        servers.of("worker")
        deadline = time.monotonic() + 120
        while Path(f"/proc/{former}").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        pushing.sidecar.haproxy.ask("set server shop/web1 state maint")
        servers.until(is_server("backend/shop/server/web1", admin_state="maint"))


def test_the_server_stops_though_some_follow(farm: Farm) -> None:
    with Follower(farm.sidecar) as follower:
        farm.sidecar.stop()
        assert follower.ended.wait(60)
        farm.sidecar.start()
        with Follower(farm.sidecar, str(time.time_ns() // 1000 - 10**9)) as again:
            assert again.of("snapshot")["data"]["lost"]


def test_what_is_asked_wrongly(farm: Farm) -> None:
    for query, named in (({"types": "server,nosuch"}, "types"), ({"since": "soon"}, "since")):
        answer = farm.sidecar.client.get(PATH, params=query)
        assert answer.status_code == 400 and named in answer.json()["message"]
    answer = farm.sidecar.client.get(PATH, headers={"Last-Event-ID": "x"})
    assert answer.status_code == 400 and "Last-Event-ID" in answer.json()["message"]
    assert farm.sidecar.client.get(PATH, params={"end_after": "0"}).text.startswith(":")


def test_a_server_goes_down_with_the_reason(farm: Farm) -> None:
    port, name = farm.web.ports["two"], "backend/checked/server/web1"
    with Follower(farm.sidecar, types="server") as follower:
        farm.sidecar.haproxy.ask("set server checked/web1 check-port 1")
        assert follower.until(is_server(name, operational_state="down"))["data"]["check"] == "L4CON"
        farm.sidecar.haproxy.ask(f"set server checked/web1 check-port {port}")
        assert follower.until(is_server(name, operational_state="up"))["data"]["check"] == "L4OK"


def test_the_last_hour_of_counters_over_a_reload(farm: Farm) -> None:
    """The history is recorded with and without a subscriber to counters."""
    sidecar, path = farm.sidecar, "/v3/sidecar/stats_history"

    def numbers(object_: str, measure: str = "requests") -> list[float | None]:
        proxies, servers = sidecar.get(path, object=object_).json()
        assert (proxies["interval"], servers["interval"]) == (5, 60)
        rows = {row["object"]: row for row in proxies["rows"] + servers["rows"]}
        return rows.get(object_, {}).get(measure, [])

    def send() -> None:
        with httpx2.Client(timeout=60, verify=False) as client:
            for _ in range(20):
                client.get(farm.url)

    until(lambda: numbers("frontend/site"))
    send()
    until(lambda: numbers("frontend/site")[-1])
    assert numbers("backend/shop/server/web1", "sessions") == [0], "the first sample of a minute"
    with Follower(sidecar, types="stats"):
        before = len(numbers("frontend/site"))
        farm.reload()
        send()
        until(lambda: len(numbers("frontend/site")) > before + 1)
    after = numbers("frontend/site")
    assert None in after[before:] and all(each is None or each >= 0 for each in after)
    assert sidecar.get(path, counters="frontend", measures="sessions", since="1m").json()[0]["rows"][0].keys() == {"object", "sessions"}
    refused = sidecar.get(path, measures="sessions,nosuch")
    assert refused.status_code == 400 and "unknown measure 'nosuch'; expected requests, " in refused.json()["message"]
