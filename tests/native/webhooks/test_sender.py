"""One attempt, over real sockets."""

import asyncio
import json
import ssl
import time
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.webhooks import sender as senders
from haproxy_native.webhooks.pace import Answer
from haproxy_native.webhooks.queue import Waiting
from haproxy_native.webhooks.sender import Sender
from haproxy_native.webhooks.webhook import Webhook
from tests.app.authority import Authority
from tests.receiver import SECRET, Handler, Receiver

WAITING = Waiting(7, 0.0, json.dumps({"id": "5", "time": "t", "type": "config", "object": "backend/b", "data": {}}).encode())


def attempts(url: str, number: int = 1, **more: Any) -> list[Answer]:
    async def work() -> list[Answer]:
        sender = Sender(Webhook("a", url, **({"secret": SECRET} | more)), "//here")
        try:
            return [await sender.send(WAITING) for _ in range(number)]
        finally:
            await sender.close()

    return asyncio.run(work())


def attempt(url: str, **more: Any) -> Answer:
    return attempts(url, **more)[0]


def hang_up_in_the_midst(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    handler.close_connection = True


def test_it_is_taken() -> None:
    with Receiver() as receiver:
        assert attempt(receiver.url) == Answer(204)
        (request,) = receiver.requests
    assert request.event["sequence"] == "0000000007" and request.headers["webhook-id"] == request.event["id"] == "5"
    assert request.headers["Content-Type"] == "application/cloudevents+json"
    assert abs(int(request.headers["webhook-timestamp"]) - time.time()) < 60


def test_a_connection_is_kept() -> None:
    peers = []
    with Receiver(otherwise=lambda handler: (peers.append(handler.client_address), handler.say(200, b"thanks"))[1]) as receiver:
        assert attempts(receiver.url, 3) == [Answer(200)] * 3
    assert len(set(peers)) == 1


def test_it_is_refused() -> None:
    with Receiver(lambda handler: handler.say(503, b"not\nnow", Retry_After="7")) as receiver:
        assert attempt(receiver.url) == Answer(503, "not now", 7)


def test_a_redirect_is_not_followed() -> None:
    with Receiver() as other, Receiver(lambda handler: handler.say(307, Location=other.url)) as receiver:
        assert attempt(receiver.url).status == 307 and not other.requests


def test_a_body_that_is_long_or_ends_early_is_an_answer() -> None:
    with Receiver(lambda handler: handler.say(200, b"x" * (8 << 20)), hang_up_in_the_midst) as receiver:
        assert attempts(receiver.url, 3) == [Answer(200), Answer(200), Answer(204)]


def test_one_that_hangs_up_or_hangs_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang_up(handler: Handler) -> None:
        handler.close_connection = True

    def hang(handler: Handler) -> None:
        while handler.rfile.read(1):
            pass

    def drip(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n")
        while handler.wfile.write(b"X: y\r\n"):
            time.sleep(0.01)

    with Receiver(hang_up) as receiver:
        assert attempt(receiver.url).status == 0
    monkeypatch.setattr(senders, "SECONDS", 0.2)
    for behaviour in (hang, drip):
        with Receiver(behaviour) as receiver:
            assert attempt(receiver.url) == Answer(error="no answer within 0.2 seconds")


def test_none_listens() -> None:
    with Receiver() as receiver:
        pass
    answer = attempt(receiver.url)
    assert answer.status == 0 and "ConnectError" in answer.error


def test_the_certificate_is_verified(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.issue("server"))
    with Receiver(context=context) as receiver:
        assert attempt(receiver.url, ca_file=str(authority.file)) == Answer(204)
        assert "CERTIFICATE_VERIFY_FAILED" in attempt(receiver.url).error
        assert "nosuch" in attempt(receiver.url, ca_file=str(tmp_path / "nosuch")).error


def test_a_secret_is_read_for_each(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    with Receiver() as receiver:
        assert "FileNotFoundError" in attempt(receiver.url, secret="", secret_file=str(file)).error and not receiver.requests
        file.write_text(SECRET)
        assert attempt(receiver.url, secret="", secret_file=str(file)) == Answer(204)
