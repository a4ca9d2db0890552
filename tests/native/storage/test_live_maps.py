"""Changes of loaded maps: seen by requests at once, and in the file where that was asked for."""

import pytest

from haproxy_native.commit.change import Change, MemberChange, Outcome, Reload
from haproxy_native.commit.ports import Recorder
from haproxy_native.engine import Engine
from haproxy_native.errors import BadValue, Exists, Missing, RefusedAtRuntime, RuntimeAbsent
from haproxy_native.request_context import NOBODY
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.lists import MapEntry, add_entry
from haproxy_native.storage.live_lists import LiveMap
from tests.native.engines import reload
from tests.native.storage.live import OWN, Beside, put


def test_the_process_alone(maps: Beside) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        await live.add("/three", "3 x")
        await live.set("one", "eins")
        await live.delete("two")
        assert maps.shown() == ["one eins", "/three 3 x"]
        assert maps.get("/three") == "3 x"
        await live.fill([MapEntry("a", "b")])
        assert maps.shown() == ["a b"]
        await live.clear()
        assert maps.shown() == []
        assert maps.file.read_text() == OWN

    maps.with_engine(work)


def test_changes_of_the_process_alone_name_what_they_change(maps: Beside) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        members: list[MemberChange] = []

        class Entering(Recorder):
            async def add(self, change: Change, outcome: Outcome) -> None:
                members.extend(outcome.members)

        engine.context.recorder = Entering()
        await live.set("one", "eins")
        await live.add("/three", "3 x")
        await live.delete("two")
        await live.clear()
        prefix = f"map/{maps.file.name}/entry/"
        changed = [(each.object.removeprefix(prefix), each.old, each.new) for each in members]
        assert changed == [("one", "1", "eins"), ("%2Fthree", None, "3 x"), ("two", "two words", None)]
        assert maps.file.read_text() == OWN

    maps.with_engine(work)


def test_and_its_file(maps: Beside) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        await live.add("/three", "3 x", sync=True)
        assert maps.file.read_text() == OWN + "/three 3 x\n"
        await live.set("one", "eins zwei", sync=True)
        assert maps.file.read_text() == OWN.replace("one  1", "one  eins zwei") + "/three 3 x\n"
        await live.delete("two", sync=True)
        assert maps.file.read_text() == "# by hand\none  eins zwei\n\n# the second\n/three 3 x\n"
        assert maps.shown() == ["one eins zwei", "/three 3 x"]
        await live.fill([MapEntry("/three", "x"), MapEntry("new", "y")], sync=True)
        assert maps.file.read_text() == "# by hand\n\n# the second\n/three x\nnew y\n"
        await live.clear(sync=True)
        assert (maps.file.read_text(), maps.shown()) == ("# by hand\n\n# the second\n", [])
        assert (engine.context.ledger.entries, engine.reloads.pending) == ({}, None)

    maps.with_engine(work)


def test_or_neither(maps: Beside) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        with pytest.raises(RefusedAtRuntime, match="Key not found"):
            await live.delete("none", sync=True)
        for sync in (False, True):
            with pytest.raises(Exists):
                await live.add("one", "x", sync=sync)
            with pytest.raises(BadValue):
                await live.add("two words", "x", sync=sync)
        for change in (live.add("#hash", "x", sync=True), live.add("x", "line\nbreak", sync=True), live.fill([MapEntry("a", "")])):
            with pytest.raises(BadValue):
                await change
        with pytest.raises(BadValue, match="the value of the map entry 'x' must not be empty"):
            await live.add("x", "")
        assert (maps.file.read_text(), maps.shown()) == (OWN, ["one 1", "two two words"])

    maps.with_engine(work)


@pytest.mark.parametrize("value", [" lead", "trail ", "\tlead", "trail\t", " ", "trail\r"])
def test_the_file_holds_no_value_that_is_read_as_another(maps: Beside, value: str) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        for change in (live.add("/three", value, sync=True), live.set("one", value, sync=True)):
            with pytest.raises(BadValue, match="value in body"):
                await change
        assert (maps.file.read_text(), maps.shown()) == (OWN, ["one 1", "two two words"])
        await live.set("one", " lead")
        assert (maps.file.read_text(), maps.shown()[0]) == (OWN, "one  lead")

    maps.with_engine(work)


def test_what_waits_to_be_read_is_not_written_over(maps: Beside) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        await put(engine, "# pushed\nother 1\n", reload=Reload.NONE)
        await live.add("/three", "3", sync=True)
        assert maps.file.read_text() == "# pushed\nother 1\n/three 3\n"
        assert maps.shown() == ["one 1", "two two words", "/three 3"]
        assert not await live.follow()
        assert (await reload(engine)).status == "succeeded"
        assert maps.shown() == ["other 1", "/three 3"]

    maps.with_engine(work)


def cut_off(step: Step) -> Step:
    """Carried out, but nobody hears of it."""

    async def apply(runtime: Runtime) -> None:
        await step.apply(runtime)
        raise RuntimeAbsent("cut off", sent=True)

    return Step(step.texts, apply)


def test_what_nobody_knows_is_not_called_done(maps: Beside) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        with pytest.raises(RuntimeAbsent, match="cut off; the file has the change, and reload .* loads it"):
            await live.change(cut_off(add_entry(live.name, "/three", "3")), lambda before: [*before, MapEntry("/three", "3")], sync=True)
        assert (maps.file.read_text(), engine.context.ledger.waits) == (OWN + "/three 3\n", True)
        assert (await reload(engine)).status == "succeeded"
        assert maps.shown() == ["one 1", "two two words", "/three 3"]

    maps.with_engine(work)


def test_the_file_follows(maps: Beside) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        assert not await live.follow()
        await live.add("/three", "3")
        assert await live.follow()
        assert maps.file.read_text() == OWN + "/three 3\n"
        assert not await live.follow()

    maps.with_engine(work)


def test_a_removed_file(maps: Beside) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        await live.remove()
        assert (maps.file.exists(), maps.shown()) == (False, [])
        with pytest.raises(Missing):
            await live.remove()
        upload = engine.stores["maps"].upload_new("hosts.map", author=NOBODY)
        await upload.append(b"new 1\n")
        assert (await upload.commit(engine.context, reload=Reload.LATER)).live
        assert maps.shown() == ["new 1"]

    maps.with_engine(work)
