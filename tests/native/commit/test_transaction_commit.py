"""Transactions that others overtook; the commit of one that nobody did is in tests/native/engine/test_transactions.py."""

from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.changes.operations import Create
from haproxy_native.commit.change import Edit
from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.object_names import ObjectPlace
from haproxy_native.editing.resources import resources
from haproxy_native.engine import Engine
from haproxy_native.errors import Collided, Outdated, TextNotStored
from haproxy_native.request_context import NOBODY
from haproxy_native.text.section import Section
from tests.native.engines import UNKNOWN, ByFunction, adding, run, running_engine


def backends(engine: Engine) -> list[str]:
    return sorted(each.name for each in engine.document.sections if each.kind == "backend")


def with_retries(number: int) -> Edit:
    return lambda document: document.insert(Section("backend", "b", f"backend b\n  retries {number}\n"))


def test_an_outdated_one_is_merged_after_a_restart(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\ndefaults base\n")
        async with running_engine(tmp_path) as engine:
            one, other = engine.start_transaction(1, author=NOBODY), engine.start_transaction(1, author=NOBODY)
            for transaction, name in ((one, "b1"), (other, "b2")):
                await engine.write([ByFunction(adding(name))], transaction_id=transaction.id, author=NOBODY)
            await engine.commit_transaction(one.id, author=NOBODY)
        async with running_engine(tmp_path) as engine:
            with pytest.raises(Outdated):
                await engine.commit_transaction(other.id, author=NOBODY)
            preview = await engine.plan_transaction(other.id, author=NOBODY)
            assert [(each.object, each.old) for each in preview.effects] == [("backend/b2", None)]
            transaction, outcome = await engine.commit_transaction(other.id, merges=True, author=NOBODY)
            assert (transaction.status, outcome.version, engine.transactions(author=NOBODY)) == ("success", 3, [])
            assert backends(engine) == ["b1", "b2"]

    run(work())


def test_operations_are_rebased_after_a_restart(tmp_path: Path) -> None:
    """Those on objects as such, those of features by what they have done to the text."""
    table = resources()
    place = ObjectPlace(table["http_request_rules"], (table["defaults"], "base"), "")

    def rule(number: int) -> dict[str, str]:
        return {"type": "set-header", "hdr_name": "X-By", "hdr_format": str(number)}

    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\ndefaults base\n  mode http\n")
        async with running_engine(tmp_path) as engine:
            one = engine.start_transaction(1, author=NOBODY)
            await engine.write([ByFunction(adding("b1"))], transaction_id=one.id, author=NOBODY)
            await engine.write([Create(place, rule(1))], transaction_id=one.id, author=NOBODY)
            await engine.write([ByFunction(adding("b2"))], transaction_id=one.id, author=NOBODY)
            await engine.write([Create(place, rule(2)), ByFunction(adding("b3"))], Version(1), author=NOBODY)
        async with running_engine(tmp_path) as engine:
            await engine.commit_transaction(one.id, merges=True, author=NOBODY)
            assert backends(engine) == ["b1", "b2", "b3"]
            rules = standard_editor().list_objects(engine.document, place.resource, place.parent)
            assert rules == [rule(2), rule(1)]

    run(work())


def test_one_that_collides_is_not_merged(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\ndefaults base\n")
        async with running_engine(tmp_path) as engine:
            transaction = engine.start_transaction(1, author=NOBODY)
            await engine.write([ByFunction(with_retries(1))], transaction_id=transaction.id, author=NOBODY)
            await engine.write([ByFunction(with_retries(2))], Version(1), author=NOBODY)
            with pytest.raises(Collided, match="backend/b was also changed by a later commit"):
                await engine.commit_transaction(transaction.id, merges=True, author=NOBODY)
            preview = await engine.plan_transaction(transaction.id, author=NOBODY)
            assert isinstance(preview.conflict, Collided)
            assert (preview.conflict.version, "+  retries 1" in preview.diff, preview.commands) == (1, True, ())

    run(work())


def test_a_text_without_its_start(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\ndefaults base\n")
        outdated = tmp_path / "transactions" / "outdated"
        outdated.mkdir(parents=True)
        (outdated / f"haproxy.cfg.{UNKNOWN}").write_text("global\n  maxconn 1\n")
        async with running_engine(tmp_path) as engine:
            with pytest.raises(TextNotStored, match="started from is no longer stored"):
                await engine.commit_transaction(UNKNOWN, merges=True, author=NOBODY)

    run(work())


def test_an_open_one_of_another_server_is_changed_and_committed_after_a_restart(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\ndefaults base\n")
        (tmp_path / "transactions").mkdir()
        (tmp_path / "transactions" / f"haproxy.cfg.{UNKNOWN}").write_text("# _version=1\nglobal\ndefaults base\n\nbackend theirs\n")
        async with running_engine(tmp_path) as engine:
            await engine.write([ByFunction(adding("ours"))], transaction_id=UNKNOWN, author=NOBODY)
        async with running_engine(tmp_path) as engine:
            _, outcome = await engine.commit_transaction(UNKNOWN, author=NOBODY)
            assert (outcome.version, backends(engine)) == (2, ["ours", "theirs"])

    run(work())


def test_a_refused_text_is_planned_on_what_there_is_now(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\ndefaults base\n")
        failed = tmp_path / "transactions" / "failed"
        failed.mkdir(parents=True)
        (failed / f"haproxy.cfg.{UNKNOWN}").write_text("# _version=1\nglobal\n  maxconn 1\ndefaults base\n")
        async with running_engine(tmp_path) as engine:
            await engine.write([ByFunction(adding("b1"))], Version(1), author=NOBODY)
            diff = (await engine.plan_transaction(UNKNOWN, author=NOBODY)).diff
            assert "+  maxconn 1" in diff and "-backend b1" in diff

    run(work())
