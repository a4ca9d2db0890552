"""Webhooks of a running server beside a real HAProxy: what a receiver gets over kills, restarts and other settings."""

import random
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from ruamel.yaml import YAML

from tests.acceptance.quick import Quick
from tests.haproxy.process import SMALL, HAProxy
from tests.receiver import SECRET, Handler, Receiver
from tests.until import until

KILLS = 200


@contextmanager
def serving(tmp_path: Path, *webhooks: dict[str, Any]) -> Iterator[Quick]:
    with HAProxy(tmp_path, SMALL) as haproxy, Quick(haproxy, dataplaneapi={"webhooks": list(webhooks)}) as sidecar:
        yield sidecar


def hook(url: str, **more: Any) -> dict[str, Any]:
    return {"name": "ops", "url": url, "secret": SECRET, "types": ["config", "certificate", "storage"], **more}


def add(sidecar: Quick, name: str) -> None:
    answer = sidecar.post("backends", {"name": name}, version=sidecar.version())
    assert answer.status_code in (201, 202), answer.text


def metric(sidecar: Quick, name: str) -> float:
    lines = sidecar.client.get("/metrics").text.splitlines()
    return float(next(line for line in lines if line.startswith(name)).rpartition(" ")[2])


def test_events_and_their_figures(tmp_path: Path) -> None:
    with Receiver(500) as receiver, serving(tmp_path, hook(receiver.url)) as sidecar:
        add(sidecar, "one")
        event = receiver.of(lambda event: event["subject"] == "backend/one")
        assert event["type"] == "dataplane.config" and event["source"] == "//test/v3/sidecar/events"
        assert event["data"]["author"] == "admin" and event["data"]["version"] == sidecar.version()
        until(lambda: metric(sidecar, "dataplane_webhook_waiting_events") == 0)
        assert metric(sidecar, 'dataplane_webhook_events_total{outcome="delivered",webhook="ops"}') == 1
        assert metric(sidecar, 'dataplane_webhook_events_total{outcome="failed",webhook="ops"}') == 1
        assert metric(sidecar, "dataplane_webhook_last_status") == 204
        answer = sidecar.post("userlists", {"name": "people"}, version=sidecar.version())
        assert answer.status_code in (201, 202), answer.text
        body = {"username": "anna", "password": "verysecret", "secure_password": False}
        assert sidecar.post("users", body, userlist="people", version=sidecar.version()).status_code in (201, 202)
        event = receiver.of(lambda event: event["subject"] == "userlist/people/user/anna")
        assert "verysecret" not in str(event) and "<masked:" in str(event)


def test_a_kill_between_delivery_and_record_loses_nothing(tmp_path: Path) -> None:
    """The receiver kills the server before it answers."""
    killed = []

    def kill(handler: Handler) -> None:
        sidecar.process.kill()
        killed.append(1)
        handler.say(200)

    with Receiver(kill) as receiver, serving(tmp_path, hook(receiver.url)) as sidecar:
        add(sidecar, "one")
        until(lambda: sidecar.process.poll() is not None)
        sidecar.kill()
        sidecar.start()
        receiver.of(lambda event: event["subject"] == "backend/one")
        one, other = receiver.requests
        assert one.headers["webhook-id"] == other.headers["webhook-id"] and one.event == other.event
    assert killed == [1]


def test_hangup_moves_and_removes(tmp_path: Path) -> None:
    """The former receiver hangs, which holds no change up."""

    def hang(handler: Handler) -> None:
        handler.rfile.read(1)

    with Receiver(otherwise=hang) as former, Receiver() as other, serving(tmp_path, hook(former.url)) as sidecar:
        add(sidecar, "one")
        former.until(lambda each: len(each.requests) == 1)
        add(sidecar, "two")
        _change(sidecar, [hook(other.url)])
        other.until(lambda each: each.subjects == ["backend/one", "backend/two"])
        _change(sidecar, [])
        add(sidecar, "three")
        _change(sidecar, [hook(other.url)])
        add(sidecar, "four")
        other.until(lambda each: each.subjects[2:] == ["backend/four"])


def _change(sidecar: Quick, webhooks: list[dict[str, Any]]) -> None:
    yaml = YAML()
    settings = yaml.load(sidecar.file)
    settings["dataplaneapi"]["webhooks"] = webhooks
    yaml.dump(settings, sidecar.file)
    sidecar.process.send_signal(signal.SIGHUP)
    until(lambda: ('webhook="ops"' in sidecar.client.get("/metrics").text) == bool(webhooks))


@pytest.mark.soak
def test_kills_lose_no_change(tmp_path: Path) -> None:
    """Every change that was answered reaches the receiver; one that comes again has the id that it had, or that of its entry."""
    chance, answered = random.Random(5), list[str]()

    def sometimes(handler: Handler) -> None:
        handler.say(chance.choice((200, 200, 503)))

    with Receiver(500, otherwise=sometimes) as receiver, serving(tmp_path, hook(receiver.url)) as sidecar:
        for number in range(KILLS):
            killing = threading.Timer(0.2 + chance.random(), sidecar.process.kill)
            killing.start()
            with suppress(httpx2.TransportError):
                while True:
                    name = f"b{number}_{len(answered)}"
                    if sidecar.post("backends", {"name": name}, version=sidecar.version()).status_code in (201, 202):
                        answered.append(f"backend/{name}")
            killing.join()
            sidecar.kill()
            sidecar.start()
        receiver.until(lambda each: {*answered} <= {request.event["subject"] for request in each.requests}, 60)
    assert len(answered) > KILLS // 4
