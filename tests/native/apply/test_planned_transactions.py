"""Transactions that are committed as they were planned; whatever else they would do by now is refused."""

from pathlib import Path

import pytest

from haproxy_native.apply.planned_transactions import PlannedTransactions
from haproxy_native.engine import Engine
from haproxy_native.errors import Moved
from haproxy_native.transactions.transaction import IN_PROGRESS
from tests.native.engines import adding, run, running_engine


def within(directory: Path, work) -> None:
    (directory / "haproxy.cfg").write_text("global\n\nbackend a\n  balance source\n")

    async def test() -> None:
        async with running_engine(directory) as engine:
            await work(engine, PlannedTransactions(engine))

    run(test())


def test_a_later_edit_is_refused_and_the_transaction_stays(tmp_path: Path) -> None:
    async def work(engine: Engine, planned: PlannedTransactions) -> None:
        id_ = engine.start_transaction(1).id
        await engine.write(adding("b"), transaction_id=id_)
        options = await planned.options(id_)
        moves = await planned.moves(id_, options)
        await engine.write(adding("c"), transaction_id=id_)
        assert moves
        with pytest.raises(Moved, match="haproxy.cfg has been changed since the plan was made"):
            await planned.carry_out(id_, options, moves, None)
        assert engine.transaction(id_).status == IN_PROGRESS and engine.version() == 1
        outcome = await planned.carry_out(id_, options, await planned.moves(id_, options) or {}, None)
        assert outcome.version == 2 and engine.document.find("backend", "c")
        with pytest.raises(Moved, match=f"{id_}.*; ask for a new plan"):
            await planned.carry_out(id_, options, moves, None)

    within(tmp_path, work)


def test_one_that_was_overtaken_by_hand_is_merged(tmp_path: Path) -> None:
    async def work(engine: Engine, planned: PlannedTransactions) -> None:
        id_ = engine.start_transaction(1).id
        await engine.write(adding("b"), transaction_id=id_)
        before = await planned.options(id_), await planned.moves(id_, {"merges": False})
        engine.settings.file.write_text(engine.settings.file.read_text().replace("source", "leastconn"))
        await engine.notice()
        shown = await engine.plan(transaction_id=id_)
        assert "+backend b from base\n" in shown.diff and "\n-" not in shown.diff.partition("@@")[2]
        with pytest.raises(Moved):
            await planned.carry_out(id_, before[0], before[1] or {}, None)
        options = await planned.options(id_)
        assert (before[0], options) == ({"merges": False}, {"merges": True})
        await planned.carry_out(id_, options, await planned.moves(id_, options) or {}, None)
        assert engine.document.find("backend", "b") and "leastconn" in engine.document.text

    within(tmp_path, work)


def test_one_that_cannot_be_committed_as_it_is_has_no_moves(tmp_path: Path) -> None:
    async def work(engine: Engine, planned: PlannedTransactions) -> None:
        id_ = engine.start_transaction(1).id
        await engine.write(adding("b"), transaction_id=id_)
        await engine.amend(adding("b"))
        assert await planned.moves(id_, {"merges": False}) is None

    within(tmp_path, work)
