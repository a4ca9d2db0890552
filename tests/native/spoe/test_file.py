"""A SPOE file: versions, transactions, edits by others, and what a change of it does to HAProxy."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.commit.events import Committed, Event
from haproxy_native.engine import Engine
from haproxy_native.errors import Conflict, InUse, Missing, NoTransaction, Refused
from haproxy_native.request_context import NOBODY
from haproxy_native.spoe.directory import SpoeFiles
from haproxy_native.spoe.editor import ScopeEdit
from tests.haproxy.process import HAProxy
from tests.native.engines import ByFunction, CheckSettings, reload, run, running_engine, substituting
from tests.native.spoe.site import EDITOR, MESSAGES, READ, TEXT, adding, configuration, furnish, naming, spoe_files, store

FREE = "free.cfg"


@pytest.fixture(scope="module")
def haproxy(tmp_path_factory: pytest.TempPathFactory, haproxy_binary: str) -> Iterator[HAProxy]:
    directory = tmp_path_factory.mktemp("spoe")
    furnish(directory)
    with HAProxy(directory, configuration(directory), binary=haproxy_binary) as haproxy:
        yield haproxy


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return furnish(tmp_path)


def test_a_change_raises_the_version_and_nothing_else(home: Path, tmp_path: Path) -> None:
    async def work() -> None:
        async with spoe_files(tmp_path) as (files, engine):
            outcome = await files.file(FREE).write([ByFunction(adding("m2"))], version=3, author=NOBODY)
            assert (outcome.version, outcome.reload_id, outcome.live) == (4, None, True)
            assert files.file(FREE).version() == 4
            assert engine.reloads.pending is None
            with pytest.raises(Conflict, match="version in configuration file is 4, given version is 3"):
                await files.file(FREE).write([ByFunction(adding("m3"))], version=3, author=NOBODY)
        assert (home / FREE).read_text() == TEXT.replace("=3", "=4") + "\nspoe-message m2\n  args dst\n"
        assert sorted(os.listdir(home)) == [FREE, READ]

    run(work())


def test_an_edit_by_somebody_else_counts_also_after_a_restart(home: Path, tmp_path: Path) -> None:
    async def work() -> None:
        async with spoe_files(tmp_path) as (files, _):
            (home / FREE).write_text(TEXT.replace("ip=src", "ip=dst"))
            assert files.file(FREE).version() == 4
        async with spoe_files(tmp_path) as (files, _):
            assert files.file(FREE).version() == 4
            with pytest.raises(Conflict):
                await files.file(FREE).write([ByFunction(adding("m2"))], version=3, author=NOBODY)
            await files.file(FREE).write([ByFunction(adding("m2"))], version=4, author=NOBODY)
        assert (home / FREE).read_text().startswith(TEXT.replace("=3", "=5").replace("ip=src", "ip=dst"))

    run(work())


def test_a_transaction_survives_a_restart_and_is_committed(home: Path, tmp_path: Path) -> None:
    async def work() -> None:
        async with spoe_files(tmp_path) as (files, engine):
            file = files.file(FREE)
            id_ = file.start_transaction(3, author=NOBODY).id
            await file.write([ByFunction(adding("m2"))], transaction_id=id_, author=NOBODY)
            assert (home / FREE).read_text() == TEXT
        async with spoe_files(tmp_path) as (files, engine):
            file = files.file(FREE)
            assert [each.as_dict() for each in file.transactions(author=NOBODY)] == [{"_version": 3, "id": id_, "status": "in_progress"}]
            assert EDITOR.get_object(file.read(id_), "[one]", MESSAGES, "m2") == {"args": "dst", "name": "m2"}
            assert (file.version(id_), file.version()) == (3, 3)
            transaction, outcome = await file.commit_transaction(id_, author=NOBODY)
            assert transaction.as_dict() == {"_version": 3, "id": id_, "status": "success"}
            assert (outcome.version, outcome.reload_id) == (4, engine.reloads.pending)
            assert outcome.reload_id, "a transaction asks for a reload, also where no filter reads the file"
            with pytest.raises(NoTransaction):
                await file.commit_transaction(id_, author=NOBODY)
            await reload(engine)

    run(work())


def test_every_commit_is_told_as_an_event(home: Path, tmp_path: Path) -> None:
    async def work() -> None:
        async with spoe_files(tmp_path) as (files, engine):
            events: list[Event] = []
            engine.context.events.listen(events.append)
            await files.create("new.cfg", b"[one]\n", author=NOBODY)
            file = files.file("new.cfg")
            await file.write([ByFunction(adding("m2"))], transaction_id=(id_ := file.start_transaction(1, author=NOBODY).id), author=NOBODY)
            await file.commit_transaction(id_, author=NOBODY)
            with pytest.raises(Conflict):
                await files.file(FREE).write([ByFunction(lambda _: file.read())], version=2, author=NOBODY)
            with pytest.raises(Missing):
                await file.write([ScopeEdit(lambda document: EDITOR.delete_scope(document, "[two]"))], author=NOBODY)
            await files.delete("new.cfg", author=NOBODY)
            assert [each.outcome for each in events if isinstance(each, Committed)] == ["live", "scheduled", "failed", "live"]
            await reload(engine)

    run(work())


def test_of_two_transactions_the_second_is_gone(home: Path, tmp_path: Path) -> None:
    async def work() -> None:
        async with spoe_files(tmp_path) as (files, engine):
            file = files.file(FREE)
            first, second, third = (file.start_transaction(3, author=NOBODY).id for _ in range(3))
            await file.write([ByFunction(adding("m2"))], transaction_id=first, author=NOBODY)
            await file.commit_transaction(first, author=NOBODY)
            with pytest.raises(Conflict, match="version mismatch: version mismatch, transaction version: 3, configured version: 4"):
                await file.commit_transaction(second, author=NOBODY)
            for gone in (first, second):
                with pytest.raises(NoTransaction):
                    file.transaction(gone, author=NOBODY)
            file.delete_transaction(third, author=NOBODY)
            assert file.transactions(author=NOBODY) == []
            await reload(engine)

    run(work())


def test_what_haproxy_reads_is_checked_and_reloaded(haproxy: HAProxy) -> None:
    directory, home = haproxy.directory, haproxy.directory / "spoe"

    async def refused(files: SpoeFiles) -> None:
        before = (home / READ).read_bytes()
        with pytest.raises(Refused) as error:
            await files.file(READ).write([ByFunction(naming("m1 nosuch"))], version=3, author=NOBODY)
        assert "nosuch" in str(error.value)
        assert ".used.cfg" not in str(error.value), "a draft's name means nothing to anybody"
        assert (home / READ).read_bytes() == before
        assert files.file(READ).version() == 3

    async def changed(files: SpoeFiles, engine: Engine) -> None:
        outcome = await files.file(READ).write([ByFunction(adding("m2"))], version=3, author=NOBODY)
        assert not outcome.live
        assert outcome.reload_id == engine.reloads.pending
        assert [(each.section, each.keyword) for each in outcome.reasons] == [("frontend web", "filter")]
        again = await files.file(READ).write([ByFunction(naming("m1 m2"))], version=4, author=NOBODY)
        same = await files.file(READ).write([ByFunction(naming("m1 m2"))], version=5, author=NOBODY)
        assert again.reload_id == outcome.reload_id == same.reload_id, "what it says already waits, too"
        assert (await reload(engine)).status == "succeeded"
        settled = await files.file(READ).write([ByFunction(naming("m1 m2"))], version=6, author=NOBODY)
        assert (settled.live, settled.reload_id) == (True, None)

    async def in_use(files: SpoeFiles) -> None:
        with pytest.raises(InUse, match=r"rejecting attempt to delete file .*/used\.cfg referenced in haproxy conf at line \d+: "):
            await files.delete(READ, author=NOBODY)
        assert (home / READ).exists()

    async def kept(files: SpoeFiles) -> None:
        file = files.file(READ)
        id_ = file.start_transaction(7, author=NOBODY).id
        await file.write([ByFunction(naming("nosuch"))], transaction_id=id_, author=NOBODY)
        with pytest.raises(Refused):
            await file.commit_transaction(id_, author=NOBODY)
        await file.write([ByFunction(naming("m2"))], transaction_id=id_, author=NOBODY)
        _, outcome = await file.commit_transaction(id_, force_reload=True, author=NOBODY)
        assert (outcome.live, outcome.reload_id) == (True, None)

    async def put_back(files: SpoeFiles, engine: Engine) -> None:
        before = (home / READ).read_text()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            bind = f"  bind 127.0.0.1:{taken.getsockname()[1]}\n  default_backend"
            await engine.write([ByFunction(substituting("  default_backend", bind))], Version(engine.version()), author=NOBODY)
            await files.file(READ).write([ByFunction(adding("m3"))], version=8, author=NOBODY)
            assert (await reload(engine)).status == "failed"
        assert (home / READ).read_text() == before
        assert files.file(READ).version() == 10, "9 is what HAProxy has not taken"
        await files.file(READ).write([ByFunction(adding("m3"))], version=10, author=NOBODY)
        assert (await reload(engine)).status == "succeeded"

    async def work() -> None:
        async with spoe_files(directory, haproxy) as (files, engine):
            await refused(files)
            await changed(files, engine)
            await in_use(files)
            await kept(files)
            await put_back(files, engine)
            assert sorted(each.name for each in home.iterdir()) == [FREE, READ]
            assert [each.name for each in directory.glob(".haproxy.cfg.*")] == []

    run(work())


def test_a_change_that_was_cut_off_leaves_what_the_worker_has(home: Path, tmp_path: Path) -> None:
    async def work() -> None:
        async with spoe_files(tmp_path) as (files, engine):
            assert files.file(READ).version() == 3
            await engine.context.ledger.begin({home / READ: "spoe"})
            (home / READ).write_text("half of a change")
        async with spoe_files(tmp_path) as (files, _):
            assert files.text(READ) == TEXT
            assert files.file(READ).version() == 3

    run(work())


def test_a_promised_reload_outlives_the_server(home: Path, tmp_path: Path) -> None:
    async def work() -> None:
        async with spoe_files(tmp_path) as (files, _):
            promised = (await files.file(READ).write([ByFunction(adding("m2"))], version=3, author=NOBODY)).reload_id
            assert promised
        async with spoe_files(tmp_path) as (_, engine):
            assert engine.reloads.pending == promised
            assert (await reload(engine)).status == "succeeded"

    run(work())


def test_what_haproxy_reads_by_another_path_is_checked(tmp_path: Path, haproxy_binary: str) -> None:
    """The draft is read in the place of the file, also where the configuration reaches that through a link."""
    home = furnish(tmp_path)
    (tmp_path / "link").symlink_to("spoe")
    text = configuration(tmp_path).replace("{stats}", f"{tmp_path}/s").replace(f"{home}/{READ}", f"{tmp_path}/link/{READ}")
    (tmp_path / "haproxy.cfg").write_text(text)

    async def work() -> None:
        async with running_engine(tmp_path, check=CheckSettings(haproxy_binary)) as engine:
            files = SpoeFiles(store(engine, tmp_path))
            with pytest.raises(Refused, match="nosuch") as refused:
                await files.file(READ).write([ByFunction(naming("m1 nosuch"))], version=3, author=NOBODY)
            assert f"{home}/{READ}:" in str(refused.value)
            assert (await files.file(READ).write([ByFunction(adding("m2"))], version=3, author=NOBODY)).version == 4

    run(work())
