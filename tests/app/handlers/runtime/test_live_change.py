"""What changes the process alone waits for other changes of the process, and for no check by HAProxy."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.commit.events import Committed, Event
from haproxy_native.request_context import NOBODY
from haproxy_native.text.section import Section
from tests.app.client import Client
from tests.native.engines import ByFunction
from tests.tls.pems import authority, made, revoking
from tests.tls.served import RUNTIME, quoted, tls_client, upload
from tests.tls.site import TlsSite

HELD_SECONDS = 0.05
NEW = made("live.example.com", 0x400)
SLOW = Section("backend", "slow", "backend slow\n    balance source\n")
Both = tuple[TlsSite, Client]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    with tls_client(tmp_path_factory.mktemp("tls")) as both:
        yield both


def calls(site: TlsSite) -> list[tuple[str, str, str, Any, int]]:
    """Name of the object, method, target, content of a file or JSON, status; each builds on those before."""
    plain, entries = quoted(site.path("plain.pem")), f"{RUNTIME}/ssl_crt_lists/entries?name={quoted(site.path('list.txt'))}"
    return [
        (f"certificate/{plain}", "PUT", f"{RUNTIME}/ssl_certs/{plain}", NEW.pem, 200),
        ("certificate/file.pem", "POST", f"{RUNTIME}/ssl_certs", NEW.pem, 201),
        (f"crt_list/{quoted(site.path('list.txt'))}", "POST", entries, {"file": "file.pem"}, 201),
        (f"crt_list/{quoted(site.path('list.txt'))}", "DELETE", f"{entries}&cert_file=file.pem", None, 204),
        ("certificate/file.pem", "DELETE", f"{RUNTIME}/ssl_certs/file.pem", None, 204),
        ("ca_file/file.pem", "POST", f"{RUNTIME}/ssl_ca_files", authority().cert, 201),
        ("ca_file/file.pem", "DELETE", f"{RUNTIME}/ssl_ca_files/file.pem", None, 204),
        ("crl_file/file.pem", "POST", f"{RUNTIME}/ssl_crl_files", revoking(authority()), 201),
        ("crl_file/file.pem", "DELETE", f"{RUNTIME}/ssl_crl_files/file.pem", None, 204),
    ]


async def hold(lock: asyncio.Lock) -> asyncio.Event:
    """Another change has the lock, for a moment. Returns what is set when it releases it."""
    released = asyncio.Event()

    def release() -> None:
        released.set()
        lock.release()

    await lock.acquire()
    asyncio.get_running_loop().call_later(HELD_SECONDS, release)
    return released


def test_each_waits_for_the_change_before_it_and_is_an_event(both: Both) -> None:
    site, client = both
    events: list[Event] = []
    client.engine.context.events.listen(events.append)
    for name, method, target, content, status in calls(site):
        events.clear()
        released = client.runner.run(hold(client.engine.context.process_lock))
        got = upload(client, method, target, content) if isinstance(content, str) else client(method, target, content)
        assert (target, got.status, got.body) == (target, status, b"")
        assert released.is_set(), target
        changes = [event.change for event in events if isinstance(event, Committed)]
        assert [change.object for change in changes if change.sole_operation] == [name]
    assert site.serial("FILE") == 0x400


def test_none_waits_for_a_check(tmp_path: Path) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    check = tmp_path / "check"
    check.write_text(f"#!/bin/sh\ntouch {begun}\nwhile ! [ -e {go} ]; do sleep 0.05; done\n")
    check.chmod(0o755)
    with tls_client(tmp_path, validate_cmd=str(check)) as (site, client):
        checking = client.runner.get_loop().create_task(client.engine.amend([ByFunction(lambda found: found.insert(SLOW))], author=NOBODY))
        while not begun.exists():
            client.runner.run(asyncio.sleep(0.01))
        assert upload(client, "PUT", f"{RUNTIME}/ssl_certs/{quoted(site.path('plain.pem'))}", NEW.pem).status == 200
        assert not checking.done()
        go.touch()
        client.runner.run(asyncio.wait_for(checking, 60))
        assert site.serial("FILE") == 0x400
