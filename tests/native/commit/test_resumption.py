"""A reload that the former process left open gets its outcome, wherever that process ended."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.commit.watch import ProcessWatch
from haproxy_native.engine import Engine
from haproxy_native.reload.records import IN_PROGRESS, INTERRUPTED, Phase, ReloadRecord
from haproxy_native.request_context import NOBODY
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, ByFunction, adding, reload, run, running_engine


def after_a_crash(
    directory: Path,
    left: Callable[[Engine, ReloadRecord], ReloadRecord],
    meanwhile: Callable[[HAProxy], object],
    work: Callable[[Engine, str], object],
) -> None:
    """A reload is promised and left as `left` says; `meanwhile` happens without the server, and `work` looks at the next one."""

    async def within() -> None:
        with HAProxy(directory, CONFIG.replace("%d", str(free_port())), binary=binaries.exactly("3.2")) as haproxy:
            async with running_engine(directory, haproxy) as engine:
                identity = (await engine.write([ByFunction(adding("more"))], Version(1), author=NOBODY)).reload_id or ""
                records = engine.reloads.records
                records.update(left(engine, records.get(identity)))
            meanwhile(haproxy)
            async with running_engine(directory, haproxy) as engine:
                await work(engine, identity)

    run(within())


def loading(engine: Engine, record: ReloadRecord) -> ReloadRecord:
    return replace(record, started=record.requested, version=engine.version(), phase=Phase.LOADING)


def nothing(haproxy: HAProxy) -> None:
    pass


@pytest.mark.parametrize(
    "phase", [Phase.LOADING, Phase.REFUSED, *(pytest.param(phase, marks=pytest.mark.soak) for phase in (Phase.REQUESTED, Phase.WAITING))]
)
def test_what_no_worker_has_loaded_is_loaded_now(tmp_path: Path, phase: Phase) -> None:
    async def work(engine: Engine, identity: str) -> None:
        assert engine.reloads.pending == identity
        assert (await reload(engine)).id == identity
        assert engine.reloads.records.get(identity).status == "succeeded"
        assert engine.running is engine.document

    after_a_crash(tmp_path, lambda engine, record: replace(loading(engine, record), phase=phase), nothing, work)


def test_what_a_worker_has_loaded_meanwhile_has_succeeded(tmp_path: Path) -> None:
    async def work(engine: Engine, identity: str) -> None:
        assert engine.reloads.pending is None
        record = engine.reloads.records.get(identity)
        assert (record.status, record.verified, record.pid_after) == ("succeeded", True, engine.context.running.worker.pid)

    after_a_crash(tmp_path, loading, lambda haproxy: haproxy.ask_master("reload"), work)


def test_a_second_worker_that_comes_late_of_it_is_replaced(tmp_path: Path) -> None:
    """Nothing tells what it has read."""
    beside: list[HAProxy] = []

    async def work(engine: Engine, identity: str) -> None:
        beside[0].ask_master("reload")
        beside[0].file.touch()
        await ProcessWatch(engine.context).poll()
        assert engine.running is None and engine.reloads.pending
        assert (await reload(engine)).status == "succeeded" and engine.running is engine.document

    def once(haproxy: HAProxy) -> None:
        beside.append(haproxy)
        haproxy.ask_master("reload")

    after_a_crash(tmp_path, loading, once, work)


def test_what_was_refused_and_put_back_has_failed(tmp_path: Path) -> None:
    """The file holds again what runs, under a higher version than the refused one."""

    def refused(engine: Engine, record: ReloadRecord) -> ReloadRecord:
        return replace(loading(engine, record), phase=Phase.REFUSED, version=engine.version() - 1, error="no", response="it says no")

    async def work(engine: Engine, identity: str) -> None:
        record = engine.reloads.records.get(identity)
        assert (record.status, record.error, record.response) == ("failed", "no", "it says no")

    after_a_crash(tmp_path, refused, nothing, work)


def test_what_was_edited_by_hand_since_is_not_known(tmp_path: Path) -> None:
    """Nobody has asked for the new text to be loaded."""

    async def work(engine: Engine, identity: str) -> None:
        assert engine.reloads.pending is None
        record = engine.reloads.records.get(identity)
        assert (record.status, record.error) == ("failed", INTERRUPTED)

    after_a_crash(tmp_path, loading, lambda haproxy: haproxy.write(CONFIG.replace("%d", str(free_port()))), work)


def test_two_that_were_open_end_as_one(tmp_path: Path) -> None:
    ids: list[str] = []

    def two(engine: Engine, record: ReloadRecord) -> ReloadRecord:
        ids.append(engine.reloads.records.issue().id)
        return loading(engine, record)

    async def work(engine: Engine, identity: str) -> None:
        first, second = (engine.reloads.records.get(each) for each in (identity, *ids))
        assert (first.continued_in, first.status, engine.reloads.pending) == (second.id, IN_PROGRESS, second.id)
        await reload(engine)
        assert [engine.reloads.records.get(each.id).status for each in (first, second)] == ["succeeded", "succeeded"]

    after_a_crash(tmp_path, two, nothing, work)
