"""The engine on a real HAProxy: a change reaches file and process, or says why not, and the three agree."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from native import engine as module
from native.config import header
from native.config.check import CheckSettings
from native.errors import (
    BadRequest,
    BadValue,
    CheckImpossible,
    Conflict,
    NotCommittable,
    NoTransaction,
    NotThere,
    Refused,
    ReloadFailed,
    RuntimeFailure,
    TooManyTransactions,
    Unreadable,
    WriteFailed,
)
from native.text.document import Document
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, adding, reload, run, running_engine, substituting

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def haproxy(tmp_path: Path, haproxy_binary: str) -> Iterator[HAProxy]:
    with HAProxy(tmp_path, CONFIG % free_port(), binary=haproxy_binary) as haproxy:
        yield haproxy


def body(path: Path) -> str:
    """The file without our header."""
    return header.under_header_of(Document.parse(path.read_bytes()), Document("", ())).text.removeprefix("".join(header.BANNER))


def weight(haproxy: HAProxy) -> str:
    # a worker that failed to start may have taken the stats socket with it
    return haproxy.ask_master("@1 get weight app/s1").split()[0]


def backends(haproxy: HAProxy) -> list[str]:
    return haproxy.ask("show backend").split()[2:]


class TestChanges:
    def test_opening_and_reading_change_nothing(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            before = haproxy.file.read_bytes(), haproxy.file.stat().st_mtime_ns
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert engine.version() == 1
                assert engine.read().find("backend", "app")
                assert engine.raw() == before[0] == engine.document.data
                assert engine.running is engine.document
                transaction = engine.start_transaction(1)
                assert engine.raw(transaction_id=transaction.id)
                await engine.plan(transaction_id=transaction.id)
                await engine.validate(before[0])
            assert (haproxy.file.read_bytes(), haproxy.file.stat().st_mtime_ns) == before

        run(work())

    def test_a_live_change(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            text, pid = haproxy.file.read_text(), haproxy.worker_pid()
            async with running_engine(haproxy.directory, haproxy) as engine:
                outcome = await engine.write(substituting("weight 10", "weight 20"), version=1)
                assert (outcome.version, outcome.live, outcome.reload_id) == (2, True, None)
                assert weight(haproxy) == "20"
                assert haproxy.worker_pid() == pid
                assert body(haproxy.file) == text.replace("weight 10", "weight 20")
                assert header.checksum_fits(haproxy.file.read_bytes())
                assert engine.version() == 2 == header.version_of(engine.document)
                assert engine.document.data == haproxy.file.read_bytes()
                assert engine.running is engine.document

        run(work())

    def test_a_change_that_needs_a_reload(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            pid = haproxy.worker_pid()
            async with running_engine(haproxy.directory, haproxy) as engine:
                first = await engine.write(adding("b"), version=1)
                second = await engine.write(substituting("weight 10", "weight 20"), version=2)
                assert first.reload_id == second.reload_id == engine.reloads.pending
                assert not first.live and not second.live
                assert first.reasons[0].section == "backend b"
                assert (backends(haproxy), weight(haproxy)) == (["app"], "10")
                assert (await reload(engine)).status == "succeeded"
                assert (backends(haproxy), weight(haproxy)) == (["app", "b"], "20")
                assert haproxy.worker_pid() != pid
                assert engine.running is engine.document
                assert (await engine.write(substituting("weight 20", "weight 30"), version=3)).live
                assert weight(haproxy) == "30"

        run(work())

    def test_a_forced_reload(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                outcome = await engine.write(adding("b"), version=1, force_reload=True)
                assert (outcome.live, outcome.forced, outcome.reload_id) == (True, True, None)
                assert backends(haproxy) == ["app", "b"]

        run(work())

    def test_a_change_of_nothing_counts_and_does_nothing(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                outcome = await engine.write(lambda document: document, version=1)
                assert (outcome.version, outcome.live, outcome.reload_id) == (2, True, None)
                assert engine.running is engine.document
                scheduled = await engine.write(adding("b"), version=2)
                same = await engine.write(lambda document: document, version=3)
                assert (same.live, same.reload_id) == (False, scheduled.reload_id), "it is not in effect yet"

        run(work())

    def test_a_refused_change_leaves_everything(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            text = haproxy.file.read_bytes()
            async with running_engine(haproxy.directory, haproxy) as engine:
                with pytest.raises(Refused) as caught:
                    await engine.write(substituting("weight 10", "weihgt 10"), version=1)
                assert haproxy.file.read_bytes() == text
                assert engine.version() == 1
                assert "line 21 in 'backend app from base': server s1 127.0.0.1:1 weihgt 10" in str(caught.value)
                failed = engine.transactions("failed")
                assert f"err transactionId={failed[0].id} \n" in str(caught.value)
                kept = engine.raw(transaction_id=failed[0].id)
                assert b"weihgt" in kept
                assert header.version_of(Document.parse(kept)) == 1
                assert sorted(os.listdir(haproxy.directory / "transactions")) == ["failed"]
                assert not [name for name in os.listdir(haproxy.directory) if name.startswith(".haproxy.cfg")]
                assert (await engine.write(substituting("weight 10", "weight 11"), version=1)).live

        run(work())

    def test_an_edit_that_fails_leaves_nothing_behind(self, haproxy: HAProxy) -> None:
        def refuse(document: Document) -> Document:
            raise BadValue("no")

        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                with pytest.raises(BadValue):
                    await engine.write(refuse, version=1)
                assert engine.transactions() == []
                assert engine.version() == 1

        run(work())

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            ({}, "version or transaction not specified: version or transaction not specified, specify only one"),
            ({"version": 0}, "version or transaction not specified: version or transaction not specified, specify only one"),
            ({"version": 1, "transaction_id": UNKNOWN}, "both version and transaction specified, specify only one"),
            ({"force_reload": True, "transaction_id": UNKNOWN}, "Both force_reload and transaction specified, specify only one"),
            ({"transaction_id": UNKNOWN}, f"transaction does not exist: {UNKNOWN}"),
            ({"version": 5}, "version mismatch: version in configuration file is 1, given version is 5"),
            ({"version": -1}, "version mismatch: version in configuration file is 1, given version is -1"),
        ],
    )
    def test_versions_and_transactions(self, tmp_path: Path, arguments: dict[str, object], text: str) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                with pytest.raises((BadRequest, Conflict, NoTransaction)) as caught:
                    await engine.write(adding("b"), **arguments)
                assert str(caught.value) == text

        run(work())

    def test_of_many_writers_one_wins_for_each_version(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                for version in (1, 2):
                    tries = [engine.write(adding(f"b{version}{i}"), version=version) for i in range(6)]
                    told = await asyncio.gather(*tries, return_exceptions=True)
                    assert sorted(type(one).__name__ for one in told) == ["Conflict"] * 5 + ["Outcome"]
                assert engine.version() == 3
                assert len(engine.document.of_kind("backend")) == 2
                assert engine.transactions() == []

        run(work())

    def test_readers_never_wait(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            os.mkfifo(tmp_path / "gate")
            gate = CheckSettings(command=f"sh -c 'read x < {tmp_path}/gate'")
            async with running_engine(tmp_path, check=gate) as engine:
                writing = asyncio.create_task(engine.write(adding("b"), version=1))
                opened = await asyncio.to_thread((tmp_path / "gate").open, "w")
                assert engine.read().sections[0].kind == "global"
                assert engine.raw() == b"global\n"
                assert engine.start_transaction(1).version == 1
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
                writing = asyncio.create_task(engine.write(adding("b"), version=1))
                with await asyncio.to_thread((tmp_path / "gate").open, "w") as opened:
                    writing.cancel()
                    with suppress(asyncio.CancelledError):
                        await writing
                    opened.write("go\n")
                async with engine.site.lock:
                    assert engine.version() == 2

        run(work())

    def test_without_a_check_nothing_is_lost(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path, check=CheckSettings("/no/such/haproxy")) as engine:
                transaction = engine.start_transaction(1)
                for attempt in (engine.write(adding("b"), version=1), engine.commit_transaction(transaction.id)):
                    with pytest.raises(CheckImpossible):
                        await attempt
                assert [one.as_dict() for one in engine.transactions()] == [transaction.as_dict()]
                await engine.write(adding("b"), transaction_id=transaction.id)
                assert (tmp_path / "haproxy.cfg").read_text() == "global\n"

        run(work())


class TestRaw:
    def test_a_push_is_kept_byte_for_byte(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            text = "# mine\n# _version=77\n\n" + body(haproxy.file).replace("weight 10", "weight   33  # odd")
            async with running_engine(haproxy.directory, haproxy, backups_number=3) as engine:
                outcome = await engine.push_raw(text.encode(), version=1)
                assert (outcome.version, outcome.live) == (2, True)
                assert weight(haproxy) == "33"
                pushed = engine.raw()
                assert pushed.decode().split("\n", 2)[1:] == ["# _version=2", text.replace("# _version=77\n", "")]
                await engine.write(substituting("weight   33", "weight   34"), version=2)
                assert "Dataplaneapi managed" not in engine.raw().decode()
                restored = await engine.push_raw(engine.raw(version=2), version=3)
                assert restored.live
                assert weight(haproxy) == "33"
                assert engine.raw().split(b"\n", 2)[2] == pushed.split(b"\n", 2)[2]

        run(work())

    @pytest.mark.parametrize(("line", "version"), [("", 1), ("# _version=500\n", 500), ("# _version=lots\n", 1)])
    def test_skip_version_takes_the_text_s_own(self, tmp_path: Path, line: str, version: int) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("# _version=41\nglobal\n")
            async with running_engine(tmp_path) as engine:
                assert engine.version() == 41
                outcome = await engine.push_raw(f"{line}global\nbackend x\n".encode(), version=9, skip_version=True, skip_reload=True)
                assert outcome.version == version == engine.version()
                assert (outcome.live, outcome.reload_id) == (False, None)
                assert engine.raw().decode().split("\n", 1)[1] == f"# _version={version}\nglobal\nbackend x\n"

        run(work())

    def test_a_text_that_is_none(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                with pytest.raises(BadRequest, match=r"^invalid configuration: no newline character found$"):
                    await engine.push_raw(b"global", version=1)
                with pytest.raises(BadRequest, match="version or transaction not specified"):
                    await engine.push_raw(b"global\n")
                with pytest.raises(Conflict):
                    await engine.push_raw(b"global\n", version=7)

        run(work())

    def test_validation_alone(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            text = haproxy.file.read_bytes()
            async with running_engine(haproxy.directory, haproxy) as engine:
                await engine.validate(text)
                with pytest.raises(Refused, match=r'^validation error: exit status 1: msg="config'):
                    await engine.validate(text.replace(b"weight", b"weihgt"))
                assert (engine.version(), engine.transactions(), haproxy.file.read_bytes()) == (1, [], text)

        run(work())

    def test_what_there_is_to_read(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path, backups_number=1) as engine:
                with pytest.raises(NotThere, match="backup file for version 1 does not exist"):
                    engine.raw(version=1)
                with pytest.raises(BadRequest):
                    engine.raw(version=1, transaction_id=UNKNOWN)
                with pytest.raises(NoTransaction):
                    engine.raw(transaction_id=UNKNOWN)
                await engine.write(adding("b"), version=1)
                assert engine.raw(version=1).decode().split("\n", 4)[4] == "global\n"
                (tmp_path / "haproxy.cfg").unlink()
                with pytest.raises(Unreadable):
                    engine.raw()

        run(work())

    def test_runtime_actions(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            text = haproxy.file.read_text()
            async with running_engine(haproxy.directory, haproxy) as engine:
                changed = text.replace("weight 10", "weight 77")
                done = await engine.push_raw(changed.encode(), version=1, skip_reload=True, actions="SetServerWeight app s1 77")
                assert (done.version, weight(haproxy)) == (2, "77")
                assert (await engine.write(substituting("weight 77", "weight 10"), version=2)).live
                assert weight(haproxy) == "10"
                structural = text + "\nbackend b from base\n"
                await engine.push_raw(structural.encode(), version=3, skip_reload=True, actions="SetServerWeight app s1 5")
                assert weight(haproxy) == "5"
                back = await engine.push_raw(text.encode(), version=4)
                assert back.reload_id, "what the process does is not known any more"
                assert (await reload(engine)).status == "succeeded"
                assert weight(haproxy) == "10"
                with pytest.raises(RuntimeFailure, match="cannot execute SetServerWeight"):
                    await engine.push_raw(text.encode(), version=5, skip_reload=True, actions="SetServerWeight app ghost 5")
                assert engine.version() == 6

        run(work())

    def test_skip_reload_does_nothing_to_the_process(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                text = haproxy.file.read_text()
                await engine.push_raw(text.replace("weight 10", "weight 20").encode(), version=1, skip_reload=True)
                assert weight(haproxy) == "10"
                assert (await engine.push_raw(text.replace("weight 10", "weight 30").encode(), version=2)).live
                assert weight(haproxy) == "30"

        run(work())


class TestTransactions:
    def test_a_commit(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                one, other = engine.start_transaction(1), engine.start_transaction(1)
                inside = await engine.write(adding("b"), transaction_id=one.id)
                assert (inside.version, inside.reload_id) == (1, None)
                await engine.write(substituting("weight 10", "weight 20"), transaction_id=one.id)
                assert engine.read(one.id).find("backend", "b")
                assert engine.read(other.id).find("backend", "b") is None
                assert engine.read().find("backend", "b") is None
                done, outcome = await engine.commit_transaction(one.id)
                assert done.as_dict() == {"_version": 1, "id": one.id, "status": "success"}
                assert (outcome.version, outcome.reload_id is not None) == (2, True)
                assert engine.transaction(other.id).status == "outdated"
                with pytest.raises(NotCommittable, match=f"^transaction {other.id} is outdated and cannot be committed$"):
                    await engine.commit_transaction(other.id)
                with pytest.raises(NoTransaction, match=f"transaction {one.id} does not exist"):
                    await engine.commit_transaction(one.id)
                assert engine.version(one.id) == engine.version(other.id) == 0
                assert sorted(os.listdir(haproxy.directory / "transactions")) == [".bases", "outdated"]

        run(work())

    def test_a_live_commit(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                one = engine.start_transaction(1)
                await engine.write(substituting("weight 10", "weight 20"), transaction_id=one.id)
                _, outcome = await engine.commit_transaction(one.id)
                assert (outcome.live, outcome.reload_id, weight(haproxy)) == (True, None, "20")

        run(work())

    @pytest.mark.parametrize("force", [False, True])
    def test_an_empty_commit_reloads(self, haproxy: HAProxy, force: bool) -> None:
        async def work() -> None:
            pid = haproxy.worker_pid()
            async with running_engine(haproxy.directory, haproxy) as engine:
                _, outcome = await engine.commit_transaction(engine.start_transaction(1).id, force_reload=force)
                assert (outcome.version, outcome.forced, outcome.reload_id is None) == (2, force, force)
                assert force or (await reload(engine)).status == "succeeded"
                assert haproxy.worker_pid() != pid

        run(work())

    def test_one_that_another_writer_overtook(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                one = engine.start_transaction(1)
                await engine.write(adding("b"), version=1)
                assert engine.transaction(one.id).status == "in_progress"
                with pytest.raises(Conflict) as caught:
                    await engine.commit_transaction(one.id)
                assert str(caught.value) == "version mismatch: version mismatch, transaction version: 1, configured version: 2"
                with pytest.raises(NotCommittable, match="is outdated and cannot be committed"):
                    await engine.commit_transaction(one.id)
                engine.delete_transaction(one.id)
                assert engine.transactions() == []

        run(work())

    def test_one_that_haproxy_refuses(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                one = engine.start_transaction(1)
                await engine.write(substituting("default_backend app", "default_backend none"), transaction_id=one.id)
                with pytest.raises(Refused, match=f"err transactionId={one.id} \n"):
                    await engine.commit_transaction(one.id)
                with pytest.raises(NotCommittable, match=f"^transaction {one.id} is failed and cannot be committed$"):
                    await engine.commit_transaction(one.id)
                assert engine.version() == 1
                assert b"default_backend none" in engine.raw(transaction_id=one.id)

        run(work())

    def test_five_hundred_parallel_changes(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                one = engine.start_transaction(1)
                await asyncio.gather(*(engine.write(adding(f"b{i}"), transaction_id=one.id) for i in range(500)))
                await engine.commit_transaction(one.id)
                assert sorted(name for name, _ in engine.document.of_kind("backend")) == sorted(f"b{i}" for i in range(500))

        run(work())

    def test_a_change_during_the_commit_is_not_lost_in_silence(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            os.mkfifo(tmp_path / "gate")
            gate = CheckSettings(command=f"sh -c 'read x < {tmp_path}/gate'")
            async with running_engine(tmp_path, check=gate) as engine:
                one = engine.start_transaction(1)
                committing = asyncio.create_task(engine.commit_transaction(one.id))
                with await asyncio.to_thread((tmp_path / "gate").open, "w") as opened:
                    with pytest.raises(NoTransaction):
                        await engine.write(adding("late"), transaction_id=one.id)
                    with pytest.raises(NoTransaction):
                        await engine.commit_transaction(one.id)
                    opened.write("go\n")
                await committing
                assert engine.version() == 2

        run(work())

    def test_start(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path, max_open_transactions=1) as engine:
                with pytest.raises(BadRequest, match=r"^Query argument version is required, but not found$"):
                    engine.start_transaction(None)
                with pytest.raises(Conflict, match="version in configuration file is 1, given version is 9"):
                    engine.start_transaction(9)
                engine.start_transaction(1)
                with pytest.raises(TooManyTransactions):
                    engine.start_transaction(77)

        run(work())

    def test_they_survive_a_restart(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                one = engine.start_transaction(1)
                await engine.write(adding("kept"), transaction_id=one.id)
            async with running_engine(tmp_path) as engine:
                await engine.write(adding("later"), transaction_id=one.id)
                await engine.commit_transaction(one.id)
                assert [name for name, _ in engine.document.of_kind("backend")] == ["kept", "later"]

        run(work())


class TestOthersEdits:
    def test_an_edit_is_noticed_and_never_overwritten(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                await engine.write(substituting("weight 10", "weight 11"), version=1)
                with haproxy.file.open("a") as file:
                    file.write("\nbackend by-hand from base\n")
                edited = haproxy.file.read_bytes()
                with pytest.raises(Conflict, match="version in configuration file is 3, given version is 2"):
                    await engine.write(adding("b"), version=2)
                assert haproxy.file.read_bytes() == edited == engine.raw()
                assert engine.read().find("backend", "by-hand")
                outcome = await engine.write(substituting("weight 11", "weight 12"), version=3)
                assert outcome.reload_id, "the edit by hand is not in the process"
                assert header.version_of(Document.parse(engine.raw())) == 4
                assert (await reload(engine)).status == "succeeded"
                assert backends(haproxy) == ["app", "by-hand"]

        run(work())

    def test_an_edit_during_the_check(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            edit = CheckSettings(command=f"sh -c 'echo backend by-hand >> {tmp_path}/haproxy.cfg'")
            async with running_engine(tmp_path, check=edit) as engine:
                with pytest.raises(Conflict, match="version in configuration file is 2, given version is 1"):
                    await engine.write(adding("b"), version=1)
                assert (tmp_path / "haproxy.cfg").read_text() == "global\nbackend by-hand\n"
                assert engine.read().find("backend", "by-hand")

        run(work())

    @pytest.mark.parametrize(
        ("text", "version"),
        [
            ("global\n", 8),  # without a header
            ("# _version=3\nglobal\n", 8),  # an older one
            ("# _version=40\nglobal\n", 41),
        ],
    )
    def test_the_version_only_rises(self, tmp_path: Path, text: str, version: int) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("# _version=7\nglobal\n")
            async with running_engine(tmp_path) as engine:
                (tmp_path / "haproxy.cfg").write_text(text)
                assert engine.notice()
                assert not engine.notice()
                assert engine.version() == version
            async with running_engine(tmp_path) as engine:
                assert engine.version() == version, "it is remembered, though the file does not say it"
                assert (tmp_path / "haproxy.cfg").read_text() == text
                await engine.write(adding("b"), version=version)
                assert engine.version() == version + 1 == header.version_of(engine.document)

        run(work())

    def test_an_edit_while_stopped_does_not_count(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("# _version=7\nglobal\n")
            async with running_engine(tmp_path) as engine:
                assert engine.version() == 7
            (tmp_path / "haproxy.cfg").write_text("# _version=7\nglobal\nbackend by-hand\n")
            async with running_engine(tmp_path) as engine:
                assert engine.version() == 7
                assert engine.read().find("backend", "by-hand")
                (tmp_path / "haproxy.cfg").write_text("# _version=7\nglobal\n")
                engine.reread()
                assert engine.version() == 7
                assert not engine.notice()

        run(work())

    def test_a_touch_is_no_edit(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                os.utime(tmp_path / "haproxy.cfg", ns=(1, 1))
                (tmp_path / "haproxy.cfg").chmod(0o600)
                assert not engine.notice()
                assert engine.version() == 1

        run(work())

    def test_the_watch(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "POLL_SECONDS", 0.01)
        monkeypatch.setattr(module, "SETTLING_SECONDS", 0.01)

        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path, watch=True) as engine:
                (tmp_path / "haproxy.cfg").unlink()
                await asyncio.sleep(0.05)
                (tmp_path / "haproxy.cfg").write_text("global\nbackend by-hand\n")
                async with asyncio.timeout(20):
                    while not engine.read().find("backend", "by-hand"):
                        await asyncio.sleep(0.01)
                assert engine.version() == 2

        run(work())

    def test_a_file_that_is_gone(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                (tmp_path / "haproxy.cfg").unlink()
                with pytest.raises(Unreadable):
                    await engine.write(adding("b"), version=1)
                assert not (tmp_path / "haproxy.cfg").exists()
                assert engine.read().sections

        run(work())


class TestFailedReloads:
    def test_the_file_goes_back(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            text = haproxy.file.read_text()
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert (await engine.write(substituting("weight 10", "weight 20"), version=1)).live
                pid = haproxy.worker_pid()
                bad = substituting("  default_backend", "  bind 203.0.113.7:8099\n  default_backend")
                assert (await engine.write(bad, version=2)).reload_id
                assert (await engine.write(adding("b"), version=3)).reload_id
                record = await reload(engine)
                assert (record.status, record.version, record.restored_version, record.verified) == ("failed", 4, 5, True)
                assert "203.0.113.7:8099" in record.response
                assert b"203.0.113.7:8099" in (engine.reloads.records.refused(record.id) or b"")
                assert engine.version() == 5 == header.version_of(engine.document)
                assert engine.document.data == haproxy.file.read_bytes()
                assert body(haproxy.file) == text.replace("weight 10", "weight 20")
                assert haproxy.worker_pid() == pid
                assert (await engine.write(substituting("weight 20", "weight 30"), version=5)).live
                with pytest.raises(ReloadFailed):
                    await engine.write(bad, version=6, force_reload=True)
                assert engine.version() == 8
                assert body(haproxy.file) == text.replace("weight 10", "weight 30")
                assert weight(haproxy) == "30"

        run(work())

    def test_a_live_command_that_fails_leads_to_a_reload(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                await engine.write(substituting("weight 10", "weight 20"), version=1)
                haproxy.ask("set server app/s1 state maint")
                haproxy.ask("del server app/s1")
                outcome = await engine.write(substituting("weight 20", "weight 30"), version=2)
                assert outcome.reload_id
                assert "a runtime command failed" in outcome.reasons[0].why
                again = await engine.write(substituting("weight 30", "weight 40"), version=3)
                assert again.reload_id == outcome.reload_id
                assert (await reload(engine)).status == "succeeded"
                assert weight(haproxy) == "40"
                assert (await engine.write(substituting("weight 40", "weight 50"), version=4)).live

        run(work())


class TestRestarts:
    """What the engine knows of the process after one of the two was restarted."""

    def test_a_restart_of_the_server(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert (await engine.write(substituting("weight 10", "weight 20"), version=1)).live
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert (await engine.write(substituting("weight 20", "weight 30"), version=2)).live
                assert weight(haproxy) == "30"
                await engine.write(adding("b"), version=3)
                assert engine.site.pending
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert engine.site.pending, "a reload that was promised is still owed"
                assert engine.running is not engine.document
                assert (await engine.write(substituting("weight 30", "weight 40"), version=4)).reload_id
                assert (await reload(engine)).status == "succeeded"
                assert (weight(haproxy), backends(haproxy)) == ("40", ["app", "b"])
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert engine.site.pending is None

        run(work())

    def test_a_reload_by_somebody_else(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                await engine.write(adding("b"), version=1)
                pid = haproxy.worker_pid()
                os.kill(haproxy.pid, signal.SIGUSR2)
                async with asyncio.timeout(20):
                    while not await other_worker(haproxy, pid):
                        await asyncio.sleep(0.02)
                outcome = await engine.write(substituting("weight 10", "weight 20"), version=2)
                assert outcome.reload_id or weight(haproxy) == "20"
                assert (await reload(engine)).status == "succeeded"
                assert weight(haproxy) == "20"

        run(work())

    def test_a_worker_of_which_nothing_is_known(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            haproxy.file.write_text(haproxy.file.read_text() + "\n# edited after the start\n")
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert engine.running is None
                outcome = await engine.write(substituting("weight 10", "weight 20"), version=1)
                assert outcome.reasons[0].why == "it is not known what HAProxy has loaded"
                assert (await reload(engine)).status == "succeeded"
                assert engine.running is engine.document
                assert weight(haproxy) == "20"

        run(work())

    def test_without_a_socket_every_change_reloads(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                assert (await engine.write(adding("b"), version=1)).reload_id

        run(work())


async def other_worker(haproxy: HAProxy, pid: int) -> bool:
    with suppress(OSError, AssertionError):
        return await asyncio.to_thread(haproxy.worker_pid) != pid
    return False


class TestPlan:
    def test_nothing_changes(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            text = haproxy.file.read_text()
            async with running_engine(haproxy.directory, haproxy) as engine:
                live = await engine.plan(text.replace("weight 10", "weight 20").encode())
                assert (live.commands, live.reasons, live.valid) == (["set server app/s1 weight 20"], [], True)
                assert live.diff.splitlines()[-1] == "+  server s1 127.0.0.1:1 weight 20"
                transaction = engine.start_transaction(1)
                await engine.write(adding("b"), transaction_id=transaction.id)
                reload = await engine.plan(transaction_id=transaction.id)
                assert (reload.commands, [reason.section for reason in reload.reasons]) == ([], ["backend b"])
                wrong = await engine.plan(text.replace("weight 10", "weihgt 10").encode())
                assert not wrong.valid
                assert wrong.messages[0].section == "backend app from base"
                assert haproxy.file.read_text() == text
                assert engine.version() == 1
                assert engine.transaction(transaction.id).status == "in_progress"

        run(work())


class TestTrouble:
    def test_a_storage_that_cannot_be_written_does_not_stop_anything(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            (tmp_path / "storage").write_text("a file")
            (tmp_path / "transactions").write_text("a file")
            (tmp_path / "haproxy.cfg.lkg").mkdir()
            async with running_engine(tmp_path, backups=tmp_path / "storage", backups_number=1) as engine:
                assert (await engine.write(adding("b"), version=1)).version == 2
                with pytest.raises(WriteFailed, match="the transaction directory"):
                    engine.start_transaction(2)

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
                await engine.write(adding("b"), version=1)
                assert data in engine.raw()

        run(work())
