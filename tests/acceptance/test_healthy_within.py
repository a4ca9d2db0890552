"""New backends that are published when they are healthy, or not at all."""

import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from tests.acceptance import test_live_backends
from tests.acceptance.quick import SERVICES, is_live
from tests.acceptance.test_live_backends import Stage, staged
from tests.haproxy.process import free_port

# The same HAProxy with web servers.
stage, steady = test_live_backends.stage, test_live_backends.steady
CHECKED = {"check": "enabled", "inter": 30, "rise": 1, "fall": 1}


def dead(**members: Any) -> dict[str, Any]:
    return {"name": "dead", "address": "127.0.0.1", "port": free_port(), **CHECKED, **members}


def add(stage: Stage, name: str, within: str, *servers: dict[str, Any], **parameters: Any) -> Any:
    body = {"name": name, "from": "base", "servers": {each["name"]: each for each in servers}}
    chosen = parameters or {"version": stage.sidecar.version()}
    return stage.sidecar.post("backends", body, full_section=True, healthy_within=within, **chosen)


def test_one_server_that_is_up_is_enough(steady: Stage) -> None:
    answer = add(steady, "shop", "20s", dead(), steady.server(**CHECKED))
    assert answer.status_code == 201, answer.text
    assert steady.sidecar.stat("BACKEND", "shop")["status"] == "UP"
    assert steady.asked("/shop/x") == "two"
    assert is_live(steady.delete("shop"))


def test_without_checks_it_is_healthy(steady: Stage) -> None:
    assert add(steady, "plain", "5", steady.server()).status_code == 201
    assert steady.asked("/plain/x") == "two"
    assert is_live(steady.delete("plain"))
    assert steady.sidecar.post("backends", {"name": "empty"}, version=steady.sidecar.version(), healthy_within="5").status_code == 201
    assert is_live(steady.delete("empty"))


def test_without_a_server_that_is_up_the_change_is_taken_back(steady: Stage) -> None:
    """Up to its end nobody meets it, and what others commit meanwhile stays."""
    before = steady.sidecar.get("backends").json()
    with ThreadPoolExecutor() as pool:
        adding = pool.submit(add, steady, "ill", "1s", dead())
        while "ill" not in steady.running():
            time.sleep(0.01)
        assert steady.asked("/ill/x") == "one"
        assert is_live(steady.add("meanwhile")), "only that request waits"
        answer = adding.result()
    assert answer.status_code == 409, answer.text
    assert "backend ill has no server that is up after 1 s" in answer.json()["message"]
    # Of a check HAProxy says no more while the next one is under way.
    assert re.search(r"server dead: DOWN, L4CON(.*Connection refused|$)", answer.json()["message"]), answer.text
    assert "ill" not in steady.running()
    assert is_live(steady.delete("meanwhile"))
    assert steady.sidecar.get("backends").json() == before


def test_a_server_that_comes_up_late(steady: Stage) -> None:
    late = dead()
    with ThreadPoolExecutor() as pool:
        adding = pool.submit(add, steady, "late", "20s", late)
        while "DOWN" not in steady.sidecar.stat("dead", "late").get("status", ""):
            time.sleep(0.01)
        with socket.create_server(("127.0.0.1", late["port"])):
            assert adding.result().status_code == 201
    assert "UNPUB" not in steady.sidecar.stat("BACKEND", "late")["status"]
    assert is_live(steady.delete("late"))


def test_in_a_transaction_and_a_raw_push(steady: Stage) -> None:
    transaction = steady.sidecar.transaction()
    refused = add(steady, "t", "1s", dead(), transaction_id=transaction)
    assert (refused.status_code, "commit of a transaction" in refused.json()["message"]) == (400, True)
    body = {"name": "t", "servers": {"dead": dead()}}
    assert steady.sidecar.post("backends", body, transaction_id=transaction, full_section=True).status_code == 202
    assert steady.sidecar.commit(transaction, healthy_within="300ms").status_code == 409
    failed = f"{SERVICES}/transactions/{transaction}"
    assert steady.sidecar.get(failed).json() == {"id": transaction, "status": "failed"}
    assert transaction in [each["id"] for each in steady.sidecar.get(f"{SERVICES}/transactions", status="failed").json()]
    assert "backend t" in steady.sidecar.get("raw", transaction_id=transaction).text
    again = steady.sidecar.commit(transaction)
    assert (again.status_code, "is failed" in again.json()["message"]) == (406, True), again.text
    assert steady.sidecar.delete(failed).status_code == 204
    text = steady.sidecar.get("raw").text
    pushed = f"{text}\nbackend t from base\n    server two 127.0.0.1:PORT check\n"
    answer = steady.sidecar.post("raw", pushed.replace("PORT", str(free_port())), version=steady.sidecar.version(), healthy_within="300ms")
    assert answer.status_code == 409, answer.text
    assert "backend t" not in steady.sidecar.text()
    answer = steady.sidecar.post(
        "raw", pushed.replace("PORT", str(steady.web.ports["two"])), version=steady.sidecar.version(), healthy_within="20s"
    )
    assert answer.status_code == 201, answer.text
    assert is_live(steady.delete("t"))


REFUSED = [
    ({"healthy_within": "soon"}, "healthy_within"),
    ({"healthy_within": "11m"}, "healthy_within"),
    ({"healthy_within": "1s", "force_reload": True}, "neither force_reload nor skip_reload"),
]


@pytest.mark.parametrize(("parameters", "message"), REFUSED)
def test_what_makes_no_sense(steady: Stage, parameters: dict[str, Any], message: str) -> None:
    answer = steady.sidecar.post("backends", {"name": "x"}, version=steady.sidecar.version(), **parameters)
    assert (answer.status_code, message in answer.json()["message"]) == (400, True), answer.text


def test_what_needs_a_reload_is_refused_before_anything_changes(steady: Stage) -> None:
    before = steady.sidecar.text()
    body = {"name": "own", "from": "base", "balance": {"algorithm": "source"}}
    answer = steady.sidecar.post("backends", body, version=steady.sidecar.version(), healthy_within="1s")
    assert answer.status_code == 400
    assert "balance" in answer.json()["message"]
    assert steady.sidecar.text() == before


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    yield from staged("3.2", tmp_path_factory.mktemp("older"))


def test_before_haproxy_3_4_it_is_refused(older: Stage) -> None:
    answer = add(older, "shop", "1s", older.server(**CHECKED))
    assert answer.status_code == 400
    assert "adds no backend in the running process" in answer.json()["message"]
    assert "shop" not in older.sidecar.text()


def test_after_a_kill_in_the_wait_the_next_reload_publishes_it(stage: Stage) -> None:
    with ThreadPoolExecutor() as pool:
        adding = pool.submit(add, stage, "orphan", "60s", dead())
        while "orphan" not in stage.running():
            time.sleep(0.01)
        stage.sidecar.process.kill()
        stage.sidecar.process.wait()
        with pytest.raises(httpx2.TransportError):
            adding.result()
    stage.sidecar.client.close()
    assert "UNPUB" in stage.sidecar.stat("BACKEND", "orphan")["status"]
    worker = stage.sidecar.haproxy.worker_pid()
    stage.sidecar.start()
    deadline = time.monotonic() + 20
    while stage.sidecar.haproxy.worker_pid() == worker or "UNPUB" in stage.sidecar.stat("BACKEND", "orphan")["status"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    answer = stage.delete("orphan")
    assert is_live(answer), stage.sidecar.why(answer)
