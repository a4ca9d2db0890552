"""Run `ctl events --post`: each event reaches the receiver at least once, despite kills and refusals. Lost events are reported."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl
from tests.haproxy.forked import Forked, nursery
from tests.haproxy.process import SMALL, HAProxy, free_port
from tests.receiver import Handler, Receiver
from tests.until import until


class Poster:
    """Runs `ctl events --post` with a cursor file, and starts it again after each end. `said` is its log."""

    def __init__(self, ctl: Ctl, directory: Path) -> None:
        self._ctl, self.cursor, self._log = ctl, directory / "cursor", directory / "posted.log"
        self.process: Forked | None = None

    @property
    def said(self) -> str:
        return self._log.read_text()

    def start(self, url: str, *words: str) -> None:
        """Start the process, and wait until it follows the stream."""
        command = ["ctl", "events", "--types", "config", "--post", url, "--cursor", str(self.cursor), *words]
        self.process = nursery().start(command, self._log, self._ctl.environment)
        until(self.cursor.exists)

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()

    def ends(self) -> int:
        assert self.process
        return self.process.wait(60)


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[Quick]:
    with HAProxy(tmp_path, SMALL) as haproxy, Quick(haproxy) as running:
        yield running


@pytest.fixture
def poster(sidecar: Quick, tmp_path: Path) -> Iterator[Poster]:
    made = Poster(Ctl(sidecar.port, tmp_path), tmp_path)
    yield made
    made.kill()


@contextmanager
def posting(poster: Poster, receiver: Receiver, *words: str) -> Iterator[None]:
    poster.start(receiver.url, *words)
    try:
        yield
    finally:
        poster.kill()


def add(sidecar: Quick, name: str) -> str:
    answer = sidecar.post("backends", {"name": name}, version=sidecar.version())
    assert answer.status_code in (201, 202), answer.text
    return f"backend/{name}"


def test_an_event_is_posted_as_the_stream_has_it(sidecar: Quick, poster: Poster, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("t0ken\n")
    token.chmod(0o600)
    with Receiver() as receiver, posting(poster, receiver, "--post-token-file", str(token)):
        add(sidecar, "one")
        receiver.until(lambda each: each.objects() == ["backend/one"])
        request = receiver.taken[0]
        assert (request.headers["Content-Type"], request.headers["Authorization"]) == ("application/json", "Bearer t0ken")
        assert {"id", "time", "type", "object", "data"} == set(request.event)
        assert request.event["data"]["version"] == sidecar.version()
        until(lambda: poster.cursor.read_text() == f"{request.event['id']}\n")


def test_a_kill_between_delivery_and_cursor_sends_the_event_again(sidecar: Quick, poster: Poster) -> None:
    def kill(handler: Handler) -> None:
        assert poster.process
        poster.process.kill()
        handler.say(204)

    with Receiver(kill) as receiver, posting(poster, receiver):
        add(sidecar, "one")
        poster.ends()
        add(sidecar, "two")
        poster.start(receiver.url)
        receiver.until(lambda each: each.objects() == ["backend/one", "backend/two"])
        assert [each.event["object"] for each in receiver.requests] == ["backend/one", *receiver.objects()]
        assert receiver.requests[0].event == receiver.requests[1].event


def test_an_event_waits_for_a_receiver_that_is_down(sidecar: Quick, poster: Poster) -> None:
    port = free_port()
    poster.start(f"http://127.0.0.1:{port}/hook")
    for name in ("one", "two"):
        add(sidecar, name)
    until(lambda: "Connection refused; trying again in 0.5 s" in poster.said)
    with Receiver(port=port) as receiver:
        receiver.until(lambda each: each.objects() == ["backend/one", "backend/two"])


@pytest.mark.parametrize("status", [302, 308, 404, 503])
def test_only_2xx_is_success(sidecar: Quick, poster: Poster, status: int) -> None:
    """A redirect is not followed, because it would send the event to a host that the operator has not named."""
    with Receiver() as elsewhere:

        def answer(handler: Handler) -> None:
            handler.say(status, Location=elsewhere.url)

        with Receiver(answer) as receiver, posting(poster, receiver):
            add(sidecar, "one")
            receiver.until(lambda each: len(each.requests) == 2)
            assert not elsewhere.requests and f"the receiver answered {status}; trying again" in poster.said


def test_lost_events_are_reported_as_a_gap(sidecar: Quick, poster: Poster) -> None:
    """After a restart, the server has no former events."""
    with Receiver() as receiver, posting(poster, receiver):
        add(sidecar, "one")
        receiver.until(lambda each: each.objects() == ["backend/one"])
        before = receiver.taken[0].event["id"]
        until(lambda: poster.cursor.read_text() == f"{before}\n")
        poster.kill()
        add(sidecar, "lost")
        sidecar.stop()
        sidecar.start()
        poster.start(receiver.url)
        receiver.until(lambda each: len(each.taken) == 2)
        add(sidecar, "two")
        receiver.until(lambda each: each.objects() == ["backend/one", "", "backend/two"])
        gap = receiver.taken[1].event
        assert (gap["type"], gap["data"]) == ("gap", {"after": before}) and int(gap["id"]) > int(before)
        assert f"gap: events after {before} and up to {gap['id']} are lost" in poster.said


def test_kills_and_refusals_lose_no_event(sidecar: Quick, poster: Poster) -> None:
    chance = random.Random(7)

    def sometimes(handler: Handler) -> None:
        assert poster.process
        if chance.random() < 0.3:
            poster.process.kill()
        handler.say(chance.choice((204, 204, 302, 500)))

    wanted = []
    with Receiver(otherwise=sometimes) as receiver, posting(poster, receiver):
        for number in range(12):
            wanted.append(add(sidecar, f"b{number}"))
            assert poster.process
            if poster.process.poll() is not None:
                poster.start(receiver.url)
        receiver.otherwise = 204
        poster.kill()
        poster.start(receiver.url)
        receiver.until(lambda each: wanted[-1] in each.objects())
        # The events are in order, each at least once. A repeated event directly follows itself.
        ids = [int(each.event["id"]) for each in receiver.requests]
        assert ids == sorted(ids) and list(dict.fromkeys(each.event["object"] for each in receiver.requests)) == wanted


def test_what_cannot_be_done_is_refused(sidecar: Quick, tmp_path: Path) -> None:
    ctl, cursor = Ctl(sidecar.port, tmp_path), tmp_path / "cursor"
    assert "--cursor FILE are required together" in ctl.refusal(2, "events", "--post", "http://127.0.0.1:1/")
    for address in ("ftp://127.0.0.1/", "http://me:secret@127.0.0.1/", "127.0.0.1:1", "http://[::1/x", "http://127.0.0.1:99999/"):
        said = ctl.refusal(2, "events", "--post", address, "--cursor", str(cursor))
        assert "--post must be http://HOST/PATH" in said and "secret" not in said
    cursor.write_text("yesterday\n")
    assert "does not contain the id of an event" in ctl.refusal(2, "events", "--post", "http://127.0.0.1:1/", "--cursor", str(cursor))
