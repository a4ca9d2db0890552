"""Carry out declarations: a declaration is one commit or none, and the owners are right after a kill at any moment."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.access.rights import AccessRule, Rights
from haproxy_native.commit import commit
from haproxy_native.disk.directories import Directory
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.errors import ChangedSince, Conflict, Forbidden, Refused
from haproxy_native.features.apply.apply import Apply, Contested, DeclarationLimits, TooManyDeleted
from haproxy_native.features.apply.owners import OwnerTable
from haproxy_native.features.apply.rules import Declaration, DeclaredFile
from haproxy_native.features.apply.sections import of_text
from haproxy_native.request_context import NOBODY, Author
from haproxy_native.text.document import Document
from tests.databases import stored
from tests.native.engines import ByFunction, run, running_engine, substituting

EDITOR = Editor()
SHOP = "backend shop\n    balance source\n    server a 127.0.0.1:1 weight 5\n"


def declared(text: str, owner: str = "a", author: Author = NOBODY, **how: Any) -> Declaration:
    sections, texts = of_text(EDITOR, text.encode())
    return Declaration(owner, sections, texts=texts, author=author, **how)


def made(engine: Engine) -> Apply:
    return Apply(engine, EDITOR, OwnerTable(engine.database))


def kept(file: Path) -> tuple[bytes, str, int]:
    """Return the configuration, the owners, and the time of the last write of the file."""
    return file.read_bytes(), stored(file.parent / "storage/state", "owner"), file.stat().st_mtime_ns


def edited(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text().replace(old, new))


def text(file: Path) -> str:
    return file.read_text()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "haproxy.cfg"
    path.write_text("global\n")
    return path


def test_one_commit_or_none(file: Path) -> None:
    async def work() -> None:
        async with running_engine(file.parent) as engine:
            apply = made(engine)
            _, outcome = await apply.carry_out(declared(SHOP), DeclarationLimits())
            assert outcome and engine.version() == 2 and SHOP in text(file)
            before = kept(file)
            _, again = await apply.carry_out(declared(SHOP), DeclarationLimits())
            assert again is None and engine.version() == 2
            assert kept(file) == before
            assert (await apply.carry_out(declared(SHOP, "b"), DeclarationLimits()))[1] is None, "it is owned together"
            assert set(OwnerTable(engine.database).owners.claims) == {"a", "b"}

    run(work())


def test_refusals_change_nothing(file: Path) -> None:
    async def work() -> None:
        async with running_engine(file.parent) as engine:
            apply = made(engine)
            await apply.carry_out(declared(SHOP), DeclarationLimits())
            before = kept(file)[:2]
            with pytest.raises(Contested, match="weight of backend/shop/server/a belongs to a; force=true"):
                await apply.carry_out(declared(SHOP.replace("5", "6"), "b"), DeclarationLimits())
            with pytest.raises(TooManyDeleted, match="1 objects would be deleted, backend/shop first, and max_delete is 0"):
                await apply.carry_out(declared(""), DeclarationLimits(most_deleted=0))
            with pytest.raises(Conflict, match="given version is 1"):
                await apply.carry_out(declared(SHOP.replace("5", "6")), DeclarationLimits(version=1))
            bob = Author("bob", rights=Rights(("shops",), (AccessRule("backend/**", frozenset(("create", "change", "delete"))),)))
            with pytest.raises(Forbidden, match="owner/a"):
                await apply.carry_out(declared("", author=bob), DeclarationLimits())
            assert kept(file)[:2] == before

    run(work())


def test_nothing_is_owned_that_may_not_be_changed(file: Path) -> None:
    """A claim needs the right to change a member even if the value is the present one.

    A claim stops others from changing the member, and a conflict would tell whether a guessed value is right.
    """

    async def work() -> None:
        async with running_engine(file.parent) as engine:
            apply = made(engine)
            await apply.carry_out(declared(SHOP), DeclarationLimits())
            every, weights = frozenset(("create", "change", "delete")), frozenset(("weight",))
            before = kept(file)
            for rule in (AccessRule("backend/mine", every), AccessRule("backend/*/server/*", frozenset(("change",)), weights)):
                bob = Author("bob", rights=Rights(("team",), (AccessRule("owner/b", every), rule)))
                for text_ in (SHOP, SHOP.replace("127.0.0.1:1", "127.0.0.1:2")):
                    with pytest.raises(Forbidden, match="team may not change .*backend/shop"):
                        await apply.carry_out(declared(text_, "b", bob), DeclarationLimits())
                    with pytest.raises(Forbidden, match="team may not change .*backend/shop"):
                        await apply.plan(declared(text_, "b", bob))
            assert kept(file) == before
            bob = Author("bob", rights=Rights(("team",), (AccessRule("owner/b", every), AccessRule("backend/shop", every))))
            await apply.carry_out(declared(SHOP, "b", bob), DeclarationLimits())
            bob = Author("bob", rights=Rights(("team",), (AccessRule("backend/shop"),)))
            with pytest.raises(Forbidden, match="team may not change .*backend/shop"):
                await apply.plan(declared(SHOP.replace("5", "6"), "c", bob))

    run(work())


def test_a_commit_that_fails(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with running_engine(file.parent) as engine:
            apply = made(engine)
            await apply.carry_out(declared(SHOP), DeclarationLimits())
            before = kept(file)[:2]

            async def refuse(*_: object) -> None:
                raise Refused("no")

            monkeypatch.setattr(commit, "attempt", refuse)
            with pytest.raises(Refused):
                await apply.carry_out(declared(SHOP.replace("weight 5", "weight 6") + "backend more\n"), DeclarationLimits())
            assert kept(file)[:2] == before
            assert apply.owners.claims["a"].keys() == {"backend/shop", "backend/shop/server/a"}

    run(work())


@pytest.mark.parametrize("is_committed", [False, True])
def test_killed_in_the_midst(file: Path, monkeypatch: pytest.MonkeyPatch, is_committed: bool) -> None:
    """After a kill before or after the commit, the configuration on disk causes no conflict with its owner."""

    class Killed(BaseException):
        pass

    async def work() -> None:
        async with running_engine(file.parent) as engine:
            apply = made(engine)
            await apply.carry_out(declared(SHOP), DeclarationLimits())
            write, attempt = OwnerTable.write, commit.attempt

            async def unwritten(*_: Any) -> None:
                pass

            async def attempted(*arguments: Any) -> Any:
                if is_committed:
                    await attempt(*arguments)
                monkeypatch.setattr(OwnerTable, "write", unwritten)
                raise Killed

            monkeypatch.setattr(commit, "attempt", attempted)
            with pytest.raises(Killed):
                await apply.carry_out(declared(SHOP.replace("weight 5", "weight 6") + "backend more\n"), DeclarationLimits())
            monkeypatch.setattr(commit, "attempt", attempt)
            monkeypatch.setattr(OwnerTable, "write", write)
            later = made(engine)
            planned, _ = await later.carry_out(declared(SHOP.replace("weight 5", "weight 7")), DeclarationLimits())
            assert planned.conflicts == [] and "weight 7" in text(file) and "more" not in text(file)

    run(work())


def test_what_can_be_applied_again(file: Path) -> None:
    async def work() -> None:
        async with running_engine(file.parent) as engine:
            apply = made(engine)
            await apply.carry_out(declared(SHOP + "global\n    maxconn 5\n"), DeclarationLimits())
            await apply.carry_out(declared("backend shop\n    server b 127.0.0.1:2\n", "b"), DeclarationLimits())
            assert apply.exported("a") == {
                "backends": [
                    {
                        "name": "shop",
                        "balance": {"algorithm": "source"},
                        "servers": {"a": {"name": "a", "address": "127.0.0.1", "port": 1, "weight": 5}},
                    }
                ],
                "global": {"performance_options": {"maxconn": 5}},
            }
            assert apply.exported("b") == {
                "backends": [{"name": "shop", "servers": {"b": {"name": "b", "address": "127.0.0.1", "port": 2}}}]
            }
            found, preview = await apply.plan(declared(SHOP))
            assert [effect.member for effect in found.effects] == ["performance_options"] and preview.valid
            assert OwnerTable(engine.database).owners.claims.keys() == {"a", "b"}

    run(work())


def test_as_it_was_planned_or_not_at_all(file: Path) -> None:
    async def work() -> None:
        async with running_engine(file.parent) as engine:
            apply = made(engine)
            await apply.carry_out(declared(SHOP + "backend other\n"), DeclarationLimits())
            found, _ = await apply.plan(declared(SHOP.replace("5", "6") + "backend other\n"))
            await engine.amend([ByFunction(substituting("backend other\n", "backend other\n    balance source\n"))], author=NOBODY)
            await apply.carry_out(declared(SHOP.replace("5", "6") + "backend other\n"), DeclarationLimits(moves=found.moves))
            await engine.amend([ByFunction(substituting("weight 6", "weight 7"))], author=NOBODY)
            with pytest.raises(ChangedSince):
                await apply.carry_out(declared(SHOP.replace("5", "6")), DeclarationLimits(moves=found.moves))

    run(work())


def test_a_change_that_goes_back_is_no_edit_by_others(file: Path) -> None:
    async def work() -> None:
        async with running_engine(file.parent) as engine:
            apply = made(engine)
            await apply.carry_out(declared(SHOP), DeclarationLimits())
            assert (await apply.carry_out(declared(SHOP.replace("source", "first")), DeclarationLimits()))[1].reload_id
            await engine.amend([ByFunction(substituting("balance first", "balance source"))], author=NOBODY)
            planned, _ = await apply.carry_out(declared(SHOP.replace("source", "leastconn")), DeclarationLimits())
            assert planned.conflicts == [] and "balance leastconn" in text(file)

    run(work())


def test_what_is_sent_again_is_looked_up(file: Path) -> None:
    async def work() -> None:
        async with running_engine(file.parent) as engine:
            apply = made(engine)
            planned, _ = await apply.carry_out(declared(SHOP), DeclarationLimits(), "first")
            again = await apply.repeated_plan("a", "first", engine.version(), author=NOBODY)
            assert again and again.is_nothing and again.unchanged == ["backend/shop", "backend/shop/server/a"] == planned.declared
            assert (
                await apply.repeated_plan("a", "other", None, author=NOBODY) is None
                and await apply.repeated_plan("b", "first", None, author=NOBODY) is None
            )
            with pytest.raises(Conflict, match="given version is 1"):
                await apply.repeated_plan("a", "first", 1, author=NOBODY)
            await apply.carry_out(declared(SHOP.replace("shop", "other"), "b"), DeclarationLimits())
            await apply.carry_out(declared(SHOP), DeclarationLimits(), "first")
            (reload_id,) = {each.awaited.reload for each in apply.owners.former["a"]}
            engine.reloads.records.finish(engine.reloads.records.get(reload_id).succeeded(1))
            assert apply.owners.former == {} and await apply.repeated_plan("a", "first", None, author=NOBODY), (
                "the plan is the same once the outcome is known"
            )
            edited(file, "weight 5", "weight 6")
            assert await apply.repeated_plan("a", "first", None, author=NOBODY) is None
            edited(file, "weight 6", "weight 5")
            assert (await apply.carry_out(declared(SHOP), DeclarationLimits(), "first"))[1] is None
            assert await apply.repeated_plan("a", "first", None, author=NOBODY)
            await apply.carry_out(declared(""), DeclarationLimits(), "nothing")
            assert await apply.repeated_plan("a", "first", None, author=NOBODY) is None
            bob = Author("bob", rights=Rights(("shops",), ()))
            with pytest.raises(Forbidden, match="owner/a"):
                await apply.repeated_plan("a", "nothing", None, author=bob)

    run(work())


def test_files_that_are_sent_again(file: Path) -> None:
    async def work() -> None:
        (file.parent / "maps").mkdir()
        async with running_engine(file.parent, directories={"maps": Directory(file.parent / "maps", "maps_dir")}) as engine:
            apply, path = made(engine), file.parent / "maps" / "hosts.map"
            asked = Declaration("a", {}, {"map/hosts.map": DeclaredFile(entries={"x": "1"})}, author=NOBODY)
            _, outcome = await apply.carry_out(asked, DeclarationLimits(), "map")
            assert outcome and path.read_text() == "x 1\n" and engine.version() == 1
            again = await apply.repeated_plan("a", "map", None, author=NOBODY)
            assert again and again.unchanged == ["map/hosts.map"]
            path.write_text("x 2\n")
            assert await apply.repeated_plan("a", "map", None, author=NOBODY) is None

    run(work())


def weighing(weight: int) -> Callable[[Document], Document]:
    return lambda now: Document.parse(re.sub("weight [0-9]+", f"weight {weight}", now.text).encode())


@pytest.mark.parametrize("number", [20, pytest.param(1000, marks=pytest.mark.soak)])
def test_a_stale_plan_is_refused_each_time(file: Path, number: int) -> None:
    """Another writer has changed any of the planned objects, before or while the plan is carried out."""

    async def work() -> None:
        async with running_engine(file.parent) as engine:
            apply = made(engine)
            await apply.carry_out(declared(SHOP), DeclarationLimits())
            for turn in range(number):
                wanted = SHOP.replace("weight 5", f"weight {turn % 100 + 100}")
                found, _ = await apply.plan(declared(wanted, force=True))
                edit = engine.amend([ByFunction(weighing(turn % 100 + 1))], author=NOBODY)
                stale = apply.carry_out(declared(wanted, force=True), DeclarationLimits(moves=found.moves))
                if turn % 2:
                    await edit
                    outcomes = [await asyncio.gather(stale, return_exceptions=True)]
                    assert isinstance(outcomes[0][0], ChangedSince), outcomes
                else:
                    _, outcome = await asyncio.gather(edit, stale, return_exceptions=True)
                    assert isinstance(outcome, ChangedSince) or f"weight {turn % 100 + 1}\n" in text(file), (
                        "either it came first, or not at all"
                    )

    run(work())
