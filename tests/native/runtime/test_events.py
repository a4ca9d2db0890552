"""Events of the worker: one by one, and again and again."""

import asyncio
import logging
from pathlib import Path

import pytest

from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.events import EventListener, NoEvents, event
from tests.haproxy import binaries
from tests.haproxy.process import SMALL, HAProxy, ask


@pytest.mark.parametrize(
    ("message", "category", "text"),
    [
        (b"\n<0>2026-11-22T05:35:03.389940+00:00 acme newcert @s/foo.pem\n\0", "acme", "acme newcert @s/foo.pem"),
        (b"<0>2026-11-22T05:35:03.389940+00:00 acme deploy x\na\n\nb\n\0", "acme", "acme deploy x\na\n\nb"),
        (b"2026-11-22T05:35:03.389940+01:00 \0", "", ""),
    ],
)
def test_one_message(message: bytes, category: str, text: str) -> None:
    assert event(message)[1:] == (category, text)


def test_messages_that_are_no_events() -> None:
    with pytest.raises(NoEvents, match="Permission denied"):
        event(b"\n[3]: Permission denied\n\n\0")
    with pytest.raises(ValueError):
        event(b"nonsense\0")


def test_a_listener_outlives_reloads_and_the_master(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It is at work as long as there are listeners, stops when there are none, and is at work again after that."""
    caplog.set_level(logging.DEBUG, "haproxy_native.runtime.events")

    async def work() -> None:
        with HAProxy(tmp_path, SMALL, binary=binaries.of((3, 2))) as haproxy:
            runtime = Runtime()
            await runtime.connect(str(haproxy.master), [], 60, 0.02)
            listener = EventListener(runtime, print, longest_pause=0.2)
            listener.start()
            await heard(haproxy)
            await asyncio.to_thread(haproxy.ask_master, "reload")
            # During the reload it may have reached the former worker.
            listener.leave_worker()
            await heard(haproxy)
        async with asyncio.timeout(60):
            while "reading HAProxy's events failed" not in caplog.text:
                await asyncio.sleep(0.02)
        with HAProxy(tmp_path, SMALL, binary=binaries.of((3, 2))) as haproxy:
            await heard(haproxy)
        await listener.stop()

    asyncio.run(work())
    levels = [record.levelname for record in caplog.records]
    assert levels[0] == "WARNING"
    assert set(levels[1:]) <= {"DEBUG"}


async def heard(haproxy: HAProxy) -> None:
    """The worker has a connection that came through its master."""
    async with asyncio.timeout(60):
        while "proto=sockpair" not in await asyncio.to_thread(sessions, haproxy):
            await asyncio.sleep(0.02)


def sessions(haproxy: HAProxy) -> str:
    try:
        return ask(haproxy.stats, "show sess")
    except OSError:
        return ""
