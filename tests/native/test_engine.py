"""Run the engine with a real HAProxy: a change reaches file and process, or an error says why not, and all three agree."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.check.check import CheckSettings
from haproxy_native.commit.change import Change, Reload
from haproxy_native.editing import header
from haproxy_native.errors import (
    BadRequest,
    BadValue,
    CheckImpossible,
    Conflict,
    NoTransaction,
    Refused,
    Unreadable,
    Unusable,
)
from haproxy_native.request_context import NOBODY, Author
from haproxy_native.text.document import Document
from tests.haproxy.process import HAProxy
from tests.native.engines import (
    UNKNOWN,
    ByFunction,
    adding,
    backends,
    body,
    checksum_fits,
    push,
    reload,
    run,
    running_engine,
    substituting,
    weight,
)


class TestChanges:
    def test_opening_and_reading_change_nothing(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            before = haproxy.file.read_bytes(), haproxy.file.stat().st_mtime_ns
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert engine.version() == 1
                assert engine.read().find("backend", "app")
                assert engine.raw() == before[0] == engine.document.data
                assert engine.running is engine.document
                transaction = engine.start_transaction(1, author=NOBODY)
                assert engine.raw(transaction_id=transaction.id)
                await engine.plan_transaction(transaction.id, author=NOBODY)
                await engine.validate(before[0], author=NOBODY)
            assert (haproxy.file.read_bytes(), haproxy.file.stat().st_mtime_ns) == before

        run(work())

    def test_a_live_change(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            text, pid = haproxy.file.read_text(), haproxy.worker_pid()
            async with running_engine(haproxy.directory, haproxy) as engine:
                outcome = await engine.write([ByFunction(substituting("weight 10", "weight 20"))], Version(1), author=NOBODY)
                assert (outcome.version, outcome.live, outcome.reload_id) == (2, True, None)
                assert weight(haproxy) == "20"
                assert haproxy.worker_pid() == pid
                assert body(haproxy.file) == text.replace("weight 10", "weight 20")
                assert checksum_fits(haproxy.file.read_bytes())
                assert engine.version() == 2 == header.version_of(engine.document)
                assert engine.document.data == haproxy.file.read_bytes()
                assert engine.running is engine.document

        run(work())

    def test_a_commit_whose_client_went_away_ends_before_the_engine(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n  maxconn 10\n")
            begun, going = tmp_path / "begun", tmp_path / "going"
            slow = f"sh -c 'touch {begun}; while [ ! -e {going} ]; do sleep 0.01; done'"
            async with running_engine(tmp_path, check=CheckSettings(command=slow)) as engine:
                client = asyncio.create_task(
                    engine.write([ByFunction(substituting("maxconn 10", "maxconn 20"))], Version(1), author=NOBODY)
                )
                while not begun.exists():
                    await asyncio.sleep(0.01)
                client.cancel()
                closing = asyncio.create_task(engine.close())
                await asyncio.sleep(0.05)
                assert not closing.done()
                going.touch()
                await closing
                assert "maxconn 20" in (tmp_path / "haproxy.cfg").read_text()

        run(work())

    def test_a_change_that_needs_a_reload(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            pid = haproxy.worker_pid()
            async with running_engine(haproxy.directory, haproxy) as engine:
                first = await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
                second = await engine.write([ByFunction(adding("c"))], Version(2), author=NOBODY)
                assert first.reload_id == second.reload_id == engine.reloads.pending
                assert not first.live and not second.live
                assert first.reasons[0].section == "backend b"
                assert (await engine.write([ByFunction(substituting("weight 10", "weight 20"))], Version(3), author=NOBODY)).live, (
                    "it waits for nobody"
                )
                assert (await push(engine, engine.raw(), version=4)).reload_id == first.reload_id, "not all of it is live"
                assert (backends(haproxy), weight(haproxy)) == (["app"], "20")
                assert (await reload(engine)).status == "succeeded"
                assert (backends(haproxy), weight(haproxy)) == (["app", "b", "c"], "20")
                assert haproxy.worker_pid() != pid
                assert engine.running is engine.document
                assert (await engine.write([ByFunction(substituting("weight 20", "weight 30"))], Version(5), author=NOBODY)).live
                assert weight(haproxy) == "30"

        run(work())

    def test_a_forced_reload(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                outcome = await engine.write([ByFunction(adding("b"))], Version(1), reload=Reload.NOW, author=NOBODY)
                assert (outcome.live, outcome.forced, outcome.reload_id) == (True, True, None)
                assert backends(haproxy) == ["app", "b"]
                await engine.write([ByFunction(adding("c"))], Version(2), author=NOBODY)
                outcome = await engine.write(
                    [ByFunction(substituting("weight 10", "weight 20"))], Version(3), reload=Reload.NOW, author=NOBODY
                )
                assert (outcome.live, outcome.forced, engine.reloads.pending) == (True, True, None)
                assert (backends(haproxy), weight(haproxy)) == (["app", "b", "c"], "20")

        run(work())

    def test_a_change_of_nothing_counts_and_does_nothing(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                outcome = await engine.write([], Version(1), author=NOBODY)
                assert (outcome.version, outcome.live, outcome.reload_id) == (2, True, None)
                assert engine.running is engine.document
                scheduled = await engine.write([ByFunction(adding("b"))], Version(2), author=NOBODY)
                same = await engine.write([], Version(3), author=NOBODY)
                assert (same.live, same.reload_id) == (False, scheduled.reload_id), "it is not in effect yet"
                forced = await engine.write([], Version(4), reload=Reload.NOW, author=NOBODY)
                assert (forced.live, forced.forced, backends(haproxy)) == (True, True, ["app", "b"])

        run(work())

    def test_a_refused_change_leaves_everything(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            text = haproxy.file.read_bytes()
            ann = Author("ann", request_id="1")
            async with running_engine(haproxy.directory, haproxy) as engine:
                with pytest.raises(Refused) as caught:
                    await engine.write([ByFunction(substituting("weight 10", "weihgt 10"))], Version(1), author=ann)
                assert haproxy.file.read_bytes() == text
                assert engine.version() == 1
                assert "line 21 in 'backend app from base': server s1 127.0.0.1:1 weihgt 10" in str(caught.value)
                failed = engine.transactions("failed", author=ann)
                assert f"err transactionId={failed[0].id} \n" in str(caught.value)
                kept = engine.raw(transaction_id=failed[0].id)
                assert b"weihgt" in kept
                assert header.version_of(Document.parse(kept)) == 1
                assert sorted(os.listdir(haproxy.directory / "transactions")) == ["failed"]
                assert not [name for name in os.listdir(haproxy.directory) if name.startswith(".haproxy.cfg")]
                assert (await engine.write([ByFunction(substituting("weight 10", "weight 11"))], Version(1), author=ann)).live

        run(work())

    def test_an_edit_that_fails_leaves_nothing_behind(self, haproxy: HAProxy) -> None:
        def refuse(document: Document) -> Document:
            raise BadValue("no")

        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                with pytest.raises(BadValue):
                    await engine.write([ByFunction(refuse)], Version(1), author=NOBODY)
                assert engine.transactions(author=NOBODY) == []
                assert engine.version() == 1

        run(work())

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            ({}, "version or transaction not specified: name the version that is to be changed, or a transaction"),
            ({"expect": Version(1), "transaction_id": UNKNOWN}, "both version and transaction specified, specify only one"),
            ({"reload": Reload.NOW, "transaction_id": UNKNOWN}, "Both force_reload and transaction specified, specify only one"),
            ({"transaction_id": UNKNOWN}, f"transaction does not exist: {UNKNOWN}"),
            ({"expect": Version(5)}, "version mismatch: version in configuration file is 1, given version is 5"),
            ({"expect": Version(-1)}, "version mismatch: version in configuration file is 1, given version is -1"),
        ],
    )
    def test_versions_and_transactions(self, tmp_path: Path, arguments: dict[str, object], text: str) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                with pytest.raises((BadRequest, Conflict, NoTransaction)) as caught:
                    await engine.write([ByFunction(adding("b"))], **arguments, author=NOBODY)
                assert str(caught.value) == text

        run(work())

    def test_of_many_writers_one_wins_for_each_version(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                for version in (1, 2):
                    tries = [engine.write([ByFunction(adding(f"b{version}{i}"))], Version(version), author=NOBODY) for i in range(6)]
                    results = await asyncio.gather(*tries, return_exceptions=True)
                    assert sorted(type(one).__name__ for one in results) == ["Outcome"] + ["Stale"] * 5
                assert engine.version() == 3
                assert len(engine.document.of_kind("backend")) == 2
                assert engine.transactions(author=NOBODY) == []

        run(work())

    def test_readers_never_wait(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            os.mkfifo(tmp_path / "gate")
            gate = CheckSettings(command=f"sh -c 'read x < {tmp_path}/gate'")
            async with running_engine(tmp_path, check=gate) as engine:
                writing = asyncio.create_task(engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY))
                opened = await asyncio.to_thread((tmp_path / "gate").open, "w")
                assert engine.read().sections[0].kind == "global"
                assert engine.raw() == b"global\n"
                assert engine.start_transaction(1, author=NOBODY).version == 1
                assert engine.version() == 1
                with opened:
                    opened.write("go\n")
                assert (await writing).version == 2

        run(work())

    def test_a_caller_that_goes_away_does_not_stop_a_commit(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            os.mkfifo(tmp_path / "gate")
            gate = CheckSettings(command=f"sh -c 'read x < {tmp_path}/gate'")
            async with running_engine(tmp_path, check=gate) as engine:
                writing = asyncio.create_task(engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY))
                with await asyncio.to_thread((tmp_path / "gate").open, "w") as opened:
                    writing.cancel()
                    with suppress(asyncio.CancelledError):
                        await writing
                    opened.write("go\n")
                await asyncio.wait(engine.context.works)
                assert engine.version() == 2

        run(work())

    def test_without_a_check_nothing_is_lost(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path, check=CheckSettings("/no/such/haproxy")) as engine:
                transaction = engine.start_transaction(1, author=NOBODY)
                for attempt in (
                    engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY),
                    engine.commit_transaction(transaction.id, author=NOBODY),
                ):
                    with pytest.raises(CheckImpossible):
                        await attempt
                assert [one.as_dict() for one in engine.transactions(author=NOBODY)] == [transaction.as_dict()]
                await engine.write([ByFunction(adding("b"))], transaction_id=transaction.id, author=NOBODY)
                assert (tmp_path / "haproxy.cfg").read_text() == "global\n"

        run(work())


class TestPlan:
    def test_nothing_changes(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            text = haproxy.file.read_text()
            async with running_engine(haproxy.directory, haproxy) as engine:
                live = await engine.plan(Change([await engine.text(text.replace("weight 10", "weight 20").encode())], author=NOBODY))
                assert (live.commands, live.reasons, live.valid) == (["set server app/s1 weight 20"], [], True)
                assert live.diff.splitlines()[-1] == "+  server s1 127.0.0.1:1 weight 20"
                transaction = engine.start_transaction(1, author=NOBODY)
                await engine.write([ByFunction(adding("b"))], transaction_id=transaction.id, author=NOBODY)
                reload = await engine.plan_transaction(transaction.id, author=NOBODY)
                assert (reload.commands, [reason.section for reason in reload.reasons]) == ([], ["backend b"])
                wrong = await engine.plan(Change([await engine.text(text.replace("weight 10", "weihgt 10").encode())], author=NOBODY))
                assert not wrong.valid
                assert wrong.messages[0].section == "backend app from base"
                assert haproxy.file.read_text() == text
                assert engine.version() == 1
                assert engine.transaction(transaction.id, author=NOBODY).status == "in_progress"

        run(work())


class TestTrouble:
    def test_a_storage_that_cannot_be_written_does_not_stop_anything(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            (tmp_path / "storage").write_text("a file")
            (tmp_path / "transactions").write_text("a file")
            async with running_engine(tmp_path, backups=tmp_path / "storage", backups_number=1) as engine:
                assert (await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)).version == 2
                with pytest.raises(Unusable, match="the database .* cannot be used"):
                    engine.start_transaction(2, author=NOBODY)

        run(work())

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        async def work() -> None:
            with pytest.raises(Unreadable, match=r"Cannot read .*haproxy\.cfg"):
                async with running_engine(tmp_path):
                    pass

        run(work())

    def test_any_bytes_will_do(self, tmp_path: Path) -> None:
        async def work() -> None:
            data = b"\xff\xfe\x00nonsense\r\nbackend \xe4\n  \x01\n\tserver s"
            (tmp_path / "haproxy.cfg").write_bytes(data)
            async with running_engine(tmp_path) as engine:
                await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
                assert data in engine.raw()

        run(work())
