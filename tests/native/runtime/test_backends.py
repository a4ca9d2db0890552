"""Backends of the running process: each command on HAProxy 3.4, and what is left when one is refused."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from haproxy_native.errors import RuntimeRefused, RuntimeUnverified
from haproxy_native.runtime import commands
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.commands import Command
from haproxy_native.runtime.verification import BackendIs
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

CONFIG = """global
  stats socket {stats} mode 600 level admin
defaults base
  mode http
  balance roundrobin
  timeout client 5s
  timeout connect 5s
  timeout server 5s
defaults hashed from base
  balance source
frontend web from base
  bind 127.0.0.1:PORT
  default_backend app
backend app from base
  server a 127.0.0.1:1
backend other from base
  server a 127.0.0.1:1
  server b 127.0.0.1:2
backend tabled from base
  stick-table type ip size 1k
backend tracked from base
  server a 127.0.0.1:1
  server b 127.0.0.1:PORT check inter 1h
backend tracking from base
  server a 127.0.0.1:1 track tracked/b
"""


@pytest.fixture
def haproxy(tmp_path: Path) -> Iterator[HAProxy]:
    with HAProxy(tmp_path, CONFIG.replace("PORT", str(free_port())), binary=binaries.exactly("3.4")) as started:
        yield started


def with_runtime(haproxy: HAProxy, work: Callable[[Runtime], Awaitable[None]]) -> None:
    async def run() -> None:
        runtime = Runtime(timeout=60)
        assert await runtime.connect(str(haproxy.master), [], 60, 0.02)
        await work(runtime)

    asyncio.run(run())


def applied(haproxy: HAProxy, *made: Command) -> set[str]:
    """The backends afterwards."""
    with_runtime(haproxy, lambda runtime: commands.apply(runtime, made))
    return set(haproxy.ask("show backend").split()[2:])


def status(haproxy: HAProxy, backend: str) -> str:
    return next(line for line in haproxy.ask(f"show stat {backend} 2 -1").splitlines() if line.startswith(f"{backend},")).split(",")[17]


def shown(haproxy: HAProxy) -> list[str]:
    """Backends, servers and their states."""
    rows = [line.split() for line in haproxy.ask("show servers state").splitlines()[2:] if line]
    return [f"{row[1]}/{row[3]} {row[6]}" for row in rows] + [status(haproxy, name) for name in haproxy.ask("show backend").split()[2:]]


def test_capabilities(haproxy: HAProxy) -> None:
    async def work(runtime: Runtime) -> None:
        assert runtime.capabilities.adds_backends and runtime.capabilities.deletes_backends
        assert runtime.capabilities.backend_keywords == {"mode", "guid"}

    with_runtime(haproxy, work)
    assert "usage" not in haproxy.ask("show backend"), "asking for the words makes nothing"


def test_one_comes_and_goes(haproxy: HAProxy) -> None:
    add = [
        commands.add_backend("new", "base", ("mode", "http")),
        *commands.add_server("new", "s", ("127.0.0.1:3",)),
        commands.publish_backend("new"),
    ]
    assert "new" in applied(haproxy, *add)
    assert status(haproxy, "new") == "UP"
    assert "new" not in applied(haproxy, *commands.delete_backend("new", [("s", "ready")]))


def test_one_of_the_file_goes(haproxy: HAProxy) -> None:
    """HAProxy puts what it said of the servers before its answer."""
    assert "other" not in applied(haproxy, *commands.delete_backend("other", [("a", "ready"), ("b", "ready")]))


REFUSED = [
    ("app", ["a"], "other configuration elements pointing to it"),
    ("tabled", [], "stick-table"),
    ("tracked", ["a", "b"], "This server cannot be removed"),
    ("other", ["a"], "has server b in"),
    ("absent", [], "backend"),
]


@pytest.mark.parametrize(("name", "servers", "why"), REFUSED)
def test_what_is_refused_is_asked_before_anything_is_emptied(haproxy: HAProxy, name: str, servers: list[str], why: str) -> None:
    before = shown(haproxy)
    with pytest.raises(RuntimeRefused, match=why):
        applied(haproxy, *commands.delete_backend(name, [(server, "ready") for server in servers]))
    assert shown(haproxy) == before


def test_what_was_done_is_taken_back(haproxy: HAProxy) -> None:
    before = shown(haproxy)
    server = commands.add_server("fixed", "s", ("127.0.0.1:3",))
    with pytest.raises(RuntimeRefused, match="dynamic"):
        applied(
            haproxy,
            commands.add_backend("fine", "base"),
            commands.add_backend("fixed", "hashed"),
            *server,
            commands.publish_backend("fine"),
        )
    with pytest.raises(RuntimeRefused, match="already used"):
        applied(
            haproxy,
            commands.add_backend("fine", "base"),
            *commands.add_server("fine", "s", ("127.0.0.1:3",)),
            commands.add_backend("web", "base"),
        )
    deleting = commands.delete_backend("other", [("a", "ready"), ("b", "ready")])
    emptied = next(place for place, command in enumerate(deleting) if command.text.startswith("del server"))
    with pytest.raises(RuntimeRefused, match="No such"):
        applied(haproxy, *deleting[:emptied], Command("del server other/none"))
    assert shown(haproxy) == before


def test_many_are_sent_together_and_taken_back_together(haproxy: HAProxy) -> None:
    """What stands behind a refusal is taken back, too, and nothing of it was ever published."""
    before = shown(haproxy)
    many = [
        command
        for number in range(60)
        for command in (
            commands.add_backend(f"n{number}", "base"),
            *commands.add_server(f"n{number}", "s", ("127.0.0.1:3", "check"), check=True),
        )
    ]
    publish = [commands.publish_backend(f"n{number}") for number in range(60)]
    with pytest.raises(RuntimeRefused, match="already used"):
        applied(haproxy, *many[:40], commands.add_backend("web", "base"), *many[40:], *publish)
    assert shown(haproxy) == before
    assert "publish" not in haproxy.log.read_text().replace("unpublish", "")
    assert len(applied(haproxy, *many, *publish)) == len({*haproxy.ask("show backend").split()[2:]}) == 65
    assert status(haproxy, "n59") == "UP"


def test_a_backend_that_is_not_what_it_should_be_is_noticed(haproxy: HAProxy) -> None:
    for check, text in ((BackendIs("other", False), "is published, not unpublished"), (BackendIs("other", None), "is published, not gone")):
        with pytest.raises(RuntimeUnverified, match=text):
            applied(haproxy, Command("publish backend other", check))
