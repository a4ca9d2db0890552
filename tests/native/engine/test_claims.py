"""What a client states as a whole is so in the process as well, also where others have changed the process and the text does not change."""

from pathlib import Path

import pytest

from haproxy_native.commit.change import Outcome
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.overrides.overrides import Overrides
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import reload, run, running_engine

CONFIG = """\
global
  stats socket {stats} level admin
defaults base
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
frontend web from base
  bind 127.0.0.1:%d
  default_backend app
backend app from base
  server s1 127.0.0.1:1 weight 10 maxconn 20 check port 9 addr 127.0.0.9 inter 1h
  server s2 127.0.0.1:2 weight 10
backend old from base
  balance source
  server s1 127.0.0.1:1 weight 10
"""
# What others send, and what sets it back; None for a reload.
CHANGES = [
    ("set server app/s1 addr 127.0.0.9 port 77", ["set server app/s1 addr 127.0.0.1 port 1"]),
    ("set server app/s1 addr 127.0.0.9", ["set server app/s1 addr 127.0.0.1 port 1"]),
    ("set server app/s1 weight 5", ["set server app/s1 weight 10"]),
    ("set server app/s1 state maint", ["set server app/s1 state ready"]),
    ("set server app/s1 state drain", ["set server app/s1 state ready"]),
    ("set maxconn server app/s1 5", ["set maxconn server app/s1 20"]),
    ("disable health app/s1", ["enable health app/s1"]),
    ("set server app/s1 check-port 8", ["set server app/s1 check-port 9"]),
    (
        "set server app/s1 addr 127.0.0.9 port 77; set server app/s1 weight 0",
        ["set server app/s1 addr 127.0.0.1 port 1", "set server app/s1 weight 10"],
    ),
    ("set server old/s1 weight 0", ["set server old/s1 weight 10"]),
    ("set server app/s1 weight 10", []),
    ("set server app/s1 state maint; del server app/s1", None),
]
ONE = frozenset({("app", "s1"), ("old", "s1")})


@pytest.fixture(params=[*binaries.EACH[:-1], pytest.param("3.2", marks=pytest.mark.soak), "3.4"])
def haproxy(request: pytest.FixtureRequest, tmp_path: Path) -> HAProxy:
    with HAProxy(tmp_path, CONFIG % free_port(), binary=binaries.exactly(request.param)) as process:
        yield process


def state(haproxy: HAProxy) -> list[list[str]]:
    """Address, state, weight, port and the checks of each server."""
    rows = [line.split(" ") for line in haproxy.ask("show servers state").splitlines()[2:] if line]
    return [[row[3], row[4], row[6], row[7], row[13], row[18], row[21], row[22]] for row in rows]


async def put_back(engine: Engine, way: str) -> Outcome:
    return await engine.write(lambda document: document, version=engine.version(), claimed=ONE, skips_same=way == "patch")


@pytest.mark.parametrize("way", ["put", "patch"])
def test_each_change_of_others_is_set_back(haproxy: HAProxy, way: str) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            before = state(haproxy)
            for change, commands in CHANGES:
                for command in change.split("; "):
                    haproxy.ask(command)
                outcome = await put_back(engine, way)
                if commands is None:
                    assert outcome.reload_id, change
                    break
                assert (sorted(outcome.commands), outcome.live) == (sorted(commands), True), change
                assert state(haproxy) == before, change

    run(work())


def test_only_what_is_claimed(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            haproxy.ask("set server app/s2 weight 5")
            haproxy.ask("set server app/s1 weight 5")
            haproxy.ask("set server app/s1 state maint")
            outcome = await engine.write(lambda document: document, version=engine.version())
            assert outcome.live and not outcome.commands
            outcome = await engine.write(lambda document: document, version=engine.version(), claimed=ONE)
            assert sorted(outcome.commands) == ["set server app/s1 state ready", "set server app/s1 weight 10"]

    run(work())


def test_a_push_of_the_same_text_sets_nothing_back(haproxy: HAProxy) -> None:
    """Whoever sends the whole text states nothing of one server: a drain by hand stays."""

    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            haproxy.ask("set server app/s1 state drain")
            before = state(haproxy)
            assert not (await engine.plan(engine.raw())).commands
            outcome = await engine.push_raw(engine.raw(), version=engine.version())
            assert outcome.live and not outcome.commands and state(haproxy) == before

    run(work())


def test_overrides_stay(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine, Overrides(engine, Editor()) as overrides:
            (before,) = [each for each in await engine.runtime.servers("app") if each.name == "s1"]
            haproxy.ask("set server app/s1 weight 5")
            (after,) = [each for each in await engine.runtime.servers("app") if each.name == "s1"]
            overrides.record([(before, after)])
            haproxy.ask("set server app/s1 addr 127.0.0.3 port 7")
            outcome = await put_back(engine, "put")
            assert outcome.commands == ["set server app/s1 addr 127.0.0.1 port 1"]

    run(work())


@pytest.mark.parametrize("way", ["put", "push", "patch"])
def test_nothing_is_in_effect_of_a_worker_of_which_nothing_is_known(tmp_path: Path, way: str) -> None:
    with HAProxy(tmp_path, CONFIG % free_port(), binary=binaries.exactly("3.2")) as haproxy:

        async def work() -> None:
            haproxy.file.write_text(haproxy.file.read_text().replace("weight 10 maxconn", "weight 11 maxconn"))
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert engine.running is None
                assert (await put_back(engine, way)).reload_id
                assert (await put_back(engine, way)).reload_id, "it has not come yet"
                await reload(engine)
                assert (await put_back(engine, way)).live
                assert "11" in state(haproxy)[0]

        run(work())
