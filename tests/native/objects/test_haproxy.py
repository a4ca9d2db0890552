"""A file and its HAProxy: changes are committed, and live where they can be."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import haproxy_native
from haproxy_native.errors import BadRequest, Conflict, ReadOnly, Refused, ReloadFailed
from haproxy_native.objects.haproxy import HAProxy
from tests.haproxy.process import HAProxy as Process
from tests.native.objects.test_running import CONFIG


def use(tmp_path: Path, work: Callable[[HAProxy], Awaitable[None]]) -> Process:
    async def used(process: Process) -> None:
        async with haproxy_native.open(process.file, master=process.master, haproxy=process.binary, reload_delay=0.1) as haproxy:
            await work(haproxy)

    with Process(tmp_path, CONFIG) as process:
        asyncio.run(used(process))
    return process


def test_a_weight_is_live(tmp_path: Path) -> None:
    async def work(haproxy: HAProxy) -> None:
        async with haproxy.change() as change:
            change.backends["www"].servers["web1"].weight = 10
        assert (str(change.outcome), repr(change)) == ("version 2, live", "<Change of version 1: version 2, live>")
        assert (change.outcome.live, change.outcome.reload_id) == (True, None)
        assert [server.weight for server in await haproxy.runtime.servers("www")] == [10]
        assert haproxy.configuration.backends["www"].servers["web1"].weight == 10
        assert haproxy.version == change.outcome.version

    assert "server web1 127.0.0.1:1 weight 10" in use(tmp_path, work).file.read_text()


def test_what_only_a_reload_does_says_why(tmp_path: Path) -> None:
    async def work(haproxy: HAProxy) -> None:
        async with haproxy.change() as change:
            change.backends.add(name="api", mode="tcp")
        assert change.outcome.reload_id and change.outcome.changed
        assert str(change.outcome).startswith(f"version 2, reload {change.outcome.reload_id} is scheduled: backend: ")
        assert [reason.keyword for reason in change.outcome.reasons] == ["backend"]
        async with haproxy.change(force_reload=True) as change:
            change.backends["api"].servers.add(name="a", address="127.0.0.1", port=2)
        assert str(change.outcome).startswith("version 3, live")
        assert [server.name for server in await haproxy.runtime.servers("api")] == ["a"]

    use(tmp_path, work)


def test_nothing_changes_without_a_change_or_after_an_error(tmp_path: Path) -> None:
    async def work(haproxy: HAProxy) -> None:
        before = bytes(haproxy.configuration)
        async with haproxy.change() as change:
            change.backends["www"].servers["web1"].weight = 7
        assert (str(change.outcome), change.outcome.changed) == ("version 1, unchanged", False)
        with pytest.raises(ZeroDivisionError):
            async with haproxy.change() as change:
                change.backends["www"].servers["web1"].weight = 1 // 0
        assert repr(change) == "<Change of version 1: not committed>"
        with pytest.raises(BadRequest, match="it has an outcome after its block"):
            change.outcome  # noqa: B018
        with pytest.raises(Refused) as refused:
            async with haproxy.change() as change:
                change.backends["www"].servers["web1"].resolvers = "none"
        assert refused.value.alerts
        assert repr(refused.value) == f"Refused({refused.value.summary!r})" and "\n" not in refused.value.summary
        assert bytes(haproxy.configuration) == before

    use(tmp_path, work)


def test_a_failed_reload_says_why_in_one_line(tmp_path: Path) -> None:
    async def work(haproxy: HAProxy) -> None:
        with pytest.raises(ReloadFailed) as failed:
            async with haproxy.change(force_reload=True) as change:
                change.frontends.add(name="f").binds.add(name="b", address="192.0.2.1", port=1)
        assert failed.value.summary.startswith("Reload failed: Binding [") and "cannot bind socket" in failed.value.summary

    use(tmp_path, work)


def test_a_change_is_reverted_and_later_ones_stay(tmp_path: Path) -> None:
    async def work(haproxy: HAProxy) -> None:
        async with haproxy.change() as first:
            first.backends["www"].servers["web1"].weight = 10
        async with haproxy.change() as second:
            second.backends["www"].servers["web1"].maxconn = 5
        assert str(await haproxy.revert(first.outcome)) == "version 4, live"
        server = haproxy.configuration.backends["www"].servers["web1"]
        assert (server.weight, server.maxconn) == (7, 5)
        assert str(await haproxy.revert(first.outcome)) == "version 4, unchanged"
        async with haproxy.change() as third:
            third.backends["www"].servers["web1"].maxconn = 6
        with pytest.raises(Conflict):
            await haproxy.revert(second.outcome)

    use(tmp_path, work)


def test_a_change_of_the_process_is_reverted(tmp_path: Path) -> None:
    async def work(haproxy: HAProxy) -> None:
        server = haproxy.runtime.server("www", "web1")
        drained = await server.drain()
        assert str(await haproxy.revert(drained)) == "backend/www/server/web1 admin_state: drain -> ready, live until the next reload"
        assert (await server.state()).admin_state == "ready"
        assert not (await haproxy.revert(drained)).changed

    use(tmp_path, work)


def test_of_two_changes_of_one_version_the_second_conflicts(tmp_path: Path) -> None:
    async def work(haproxy: HAProxy) -> None:
        async def twice() -> None:
            async with haproxy.change() as late:
                late.backends["www"].servers["web1"].weight = 1
                async with haproxy.change() as change:
                    change.backends["www"].servers["web1"].weight = 2

        with pytest.raises(Conflict):
            await twice()
        assert haproxy.configuration.backends["www"].servers["web1"].weight == 2

    use(tmp_path, work)


def test_a_reload_without_a_way_to_reload_says_so(tmp_path: Path) -> None:
    async def used(process: Process) -> None:
        async with haproxy_native.open(process.file, haproxy=process.binary) as haproxy:
            with pytest.raises(ReloadFailed, match="cannot reload HAProxy"):
                async with haproxy.change(force_reload=True) as change:
                    change.backends.add(name="api")

    with Process(tmp_path, CONFIG) as process:
        asyncio.run(used(process))


def test_objects_outside_of_a_change_are_read_only(tmp_path: Path) -> None:
    async def work(haproxy: HAProxy) -> None:
        with pytest.raises(ReadOnly, match="snapshot"):
            haproxy.configuration.backends["www"].servers["web1"].weight = 1
        async with haproxy.change() as change:
            server = change.backends["www"].servers["web1"]
        with pytest.raises(ReadOnly, match="its change is over"):
            server.weight = 1

    use(tmp_path, work)
