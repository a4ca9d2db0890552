"""Store, set and delete overrides with a real HAProxy. tests/acceptance/test_overrides.py has tests with the whole server."""

from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.commit.servers_in_process import MEMBERS, revert_servers, store_members
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.errors import NotFound
from haproxy_native.features.overrides.overrides import Overrides
from haproxy_native.request_context import NOBODY
from haproxy_native.runtime import commands
from haproxy_native.runtime.server_state import ServerState
from tests.haproxy.process import HAProxy
from tests.native.engines import ByFunction, reload, run, running_engine, substituting

OBJECT = "backend/app/server/s1"


def test_made_again_and_taken_back(haproxy: HAProxy, tmp_path: Path) -> None:
    async def story() -> None:
        async with running_engine(tmp_path, haproxy) as engine:
            overrides = Overrides(engine, Editor())

            async def state() -> ServerState:
                return (await engine.runtime.servers("app"))[0]

            before = await state()
            await commands.apply(engine.runtime, [commands.weight("app", "s1", 3), commands.state("app", "s1", "drain")])
            await overrides.store_members([(before, await state())], ["weight"], author=NOBODY)
            assert [(each.object, each.member, each.value, each.former) for each in overrides.all()] == [(OBJECT, "weight", 3, 10)]
            assert [(each.member, each.value) for each in await overrides.outside()] == [("admin_state", "drain")]
            await reload(engine)
            after = await state()
            assert (after.uweight, after.forced_state) == (3, "ready") and await overrides.outside() == []
            # A change of another member may replace the server in the process: what is kept is there again.
            await engine.write([ByFunction(substituting("weight 10", "weight 10 maxconn 7"))], Version(1), author=NOBODY)
            await overrides.reconcile()
            assert (await state()).uweight == 3 and len(overrides.all()) == 1
            await overrides.delete(OBJECT, author=NOBODY)
            assert (await state()).uweight == 10 and overrides.all() == []
            with pytest.raises(NotFound):
                await overrides.delete(OBJECT, author=NOBODY)

    run(story())


def test_a_server_with_another_name(haproxy: HAProxy, tmp_path: Path) -> None:
    """The override of the former name ends. If the renaming fails, the overrides stay as they were."""

    async def story() -> None:
        async with running_engine(tmp_path, haproxy) as engine:
            overrides = Overrides(engine, Editor())
            before = (await engine.runtime.servers("app"))[0]
            await commands.apply(engine.runtime, [commands.weight("app", "s1", 3)])
            await overrides.store_members([(before, (await engine.runtime.servers("app"))[0])], MEMBERS, author=NOBODY)
            assert overrides.list_stored_names("backend/app") == overrides.list_stored_names(OBJECT) == [f"override of weight of {OBJECT}"]
            assert overrides.list_stored_names("backend/ap") == []
            with pytest.raises(NotFound):
                async with overrides.follow_rename("backend/app", "backend/shop", author=NOBODY):
                    raise NotFound
            assert [each.object for each in overrides.all()] == [OBJECT]
            async with overrides.follow_rename("backend/app", "backend/shop", author=NOBODY):
                assert {each.object for each in overrides.all()} == {OBJECT, "backend/shop/server/s1"}
            assert {(each.value, each.former) for each in overrides.all()} == {(3, 10)}

    run(story())


def test_the_first_one_is_not_made_twice(haproxy: HAProxy, tmp_path: Path) -> None:
    """A value that others have set after the first override stays."""

    async def story() -> None:
        async with running_engine(tmp_path, haproxy) as engine, Overrides(engine, Editor()) as overrides:
            before = (await engine.runtime.servers("app"))[0]
            await commands.apply(engine.runtime, [commands.state("app", "s1", "drain")])
            await overrides.store_members([(before, (await engine.runtime.servers("app"))[0])], ["admin_state"], author=NOBODY)
            await engine.runtime.send("set server app/s1 state ready")
            for _ in range(3):
                await overrides.reconcile()
            assert (await engine.runtime.servers("app"))[0].forced_state == "ready"

    run(story())


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        ("weight 10", "weight 10 maxconn 7", {"weight", "admin_state"}),
        ("weight 10", "weight 11", {"admin_state"}),
        ("weight 10", "weight 10 disabled", {"weight"}),
        ("server s1", "server s9", set()),
    ],
)
def test_what_changes_while_nobody_looks_ends_them(haproxy: HAProxy, tmp_path: Path, old: str, new: str, left: set[str]) -> None:
    """The configuration was changed by hand, or by a commit after which this server was killed."""

    async def kept() -> None:
        async with running_engine(tmp_path, haproxy) as engine:
            overrides = Overrides(engine, Editor())
            before = (await engine.runtime.servers("app"))[0]
            await commands.apply(engine.runtime, [commands.weight("app", "s1", 3), commands.state("app", "s1", "drain")])
            await overrides.store_members([(before, (await engine.runtime.servers("app"))[0])], MEMBERS, author=NOBODY)
            await overrides.reconcile()
            assert len(overrides.all()) == 2

    async def again() -> None:
        async with running_engine(tmp_path, haproxy) as engine, Overrides(engine, Editor()) as overrides:
            assert {each.member for each in overrides.all()} == left

    run(kept())
    haproxy.file.write_text(haproxy.file.read_text().replace(old, new))
    run(again())


def test_one_that_is_set_after_the_configuration_has_changed_it(haproxy: HAProxy, tmp_path: Path) -> None:
    async def story() -> None:
        async with running_engine(tmp_path, haproxy) as engine:
            overrides = Overrides(engine, Editor())
            first = (await engine.runtime.servers("app"))[0]
            await commands.apply(engine.runtime, [commands.weight("app", "s1", 3)])
            await overrides.store_members([(first, (await engine.runtime.servers("app"))[0])], MEMBERS, author=NOBODY)
            await engine.write([ByFunction(substituting("weight 10", "weight 20"))], Version(1), author=NOBODY)
            before = (await engine.runtime.servers("app"))[0]
            await commands.apply(engine.runtime, [commands.weight("app", "s1", 4)])
            await overrides.store_members([(before, (await engine.runtime.servers("app"))[0])], MEMBERS, author=NOBODY)
            await overrides.reconcile()
            assert [each.value for each in overrides.all()] == [4]

    run(story())


def test_what_was_set_already_is_kept_when_it_is_asked_for(haproxy: HAProxy, tmp_path: Path) -> None:
    """The value was set by others, or by a call that was killed between the command and the write of the override."""

    async def story() -> None:
        async with running_engine(tmp_path, haproxy) as engine:
            overrides = Overrides(engine, Editor())

            async def hold(*asked: commands.Command) -> dict[str, tuple[object, object]]:
                await commands.apply(engine.runtime, list(asked))
                state = (await engine.runtime.servers("app"))[0]
                await overrides.store_members([(state, state)], ["admin_state"], author=NOBODY)
                return {each.member: (each.value, each.former) for each in overrides.all()}

            assert await hold() == {}
            assert await hold(commands.weight("app", "s1", 3), commands.state("app", "s1", "drain")) == {"admin_state": ("drain", "ready")}
            assert await hold(commands.state("app", "s1", "maint")) == {"admin_state": ("maint", "ready")}
            assert await hold(commands.state("app", "s1", "ready")) == {}

    run(story())


def test_what_others_had_set_is_theirs_again_when_a_change_is_taken_back(haproxy: HAProxy, tmp_path: Path) -> None:
    """The value of others ends with the worker, as before the change."""

    async def weight(engine: Engine) -> ServerState:
        return (await engine.runtime.servers("app"))[0]

    async def story() -> None:
        async with running_engine(tmp_path, haproxy) as engine:
            overrides = Overrides(engine, Editor())
            haproxy.ask("set server app/s1 weight 3")
            before = await weight(engine)
            await commands.apply(engine.runtime, [commands.weight("app", "s1", 7)])
            changed = await store_members(engine.context, [(before, await weight(engine))], ["weight"], NOBODY)
            assert [(each.member, each.value) for each in overrides.all()] == [("weight", 7)]
            await revert_servers(engine.context, changed, NOBODY)
            assert (await weight(engine)).uweight == 3 and overrides.all() == []
            assert [(each.member, each.value) for each in await overrides.outside()] == [("weight", 3)]

    run(story())
