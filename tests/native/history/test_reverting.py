from collections.abc import Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.changes.file_operations import EditFiles, PutFile
from haproxy_native.check.check import CheckSettings
from haproxy_native.commit.change import Change, Content, MemberChange, Outcome, Validation
from haproxy_native.commit.commit import change_process, commit
from haproxy_native.commit.context import CommitContext
from haproxy_native.disk.directories import Directory
from haproxy_native.engine import Engine
from haproxy_native.errors import Conflict, NotFound, NotRevertible, Refused
from haproxy_native.history import reverting
from haproxy_native.history.history import History
from haproxy_native.history.journal import Journal
from haproxy_native.history.reading import blamed
from haproxy_native.history.reverting import SPOE, Reverter
from haproxy_native.request_context import NOBODY, Author
from tests.native.engines import ByFunction, adding, beside, run, substituting
from tests.native.history.test_history import entries, recorded


class Texts:
    """Files with a version line, as the SPOE files have one; the real ones are in tests/app/handlers/sidecar/test_history.py."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    async def change(self, name: str, wanted: Callable[[bytes | None], bytes | None], author: Author) -> Outcome:
        path = self.directory / name
        data = wanted(path.read_bytes().partition(b"\n")[2] if path.exists() else None)
        if data is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(b"# _version=9\n" + data)
        return Outcome(0, live=True)


@asynccontextmanager
async def returning(directory: Path):
    (directory / "general").mkdir(exist_ok=True)
    kept = {"general": Directory(directory / "general", "general_storage_dir")}
    async with recorded(directory, directories=kept) as (engine, history):
        yield engine, history, Reverter(history, engine, {SPOE: Texts(directory / "spoe")})


async def put(engine: Engine, name: str, data: bytes | None, author: Author = NOBODY) -> None:
    store = engine.stores["general"]
    path = store.directory / name
    put = PutFile(store, path, None if data is None else store.draft(path, data))
    await commit(engine.context, Change([put], validation=Validation.NEVER, author=author))


async def last(history: History) -> str:
    return (await entries(history))[0].author.cause


def test_one_change_among_later_ones(tmp_path: Path) -> None:
    async def work() -> None:
        async with returning(tmp_path) as (engine, history, back):
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            await engine.write([ByFunction(adding("c"))], Version(2), author=NOBODY)
            returned = await back.revert(1, author=NOBODY)
            assert len(returned.outcomes) == 1 and await last(history) == "revert/1"
            text = engine.document.text
            assert "backend c" in text and "backend b" not in text
            assert (await back.revert(1, author=NOBODY)).outcomes == [] and engine.version() == 4, "it is taken back already"
            await back.revert((await entries(history))[0].id, author=NOBODY)
            assert "backend b" in engine.document.text
            with pytest.raises(NotFound):
                await back.revert(99, author=NOBODY)

    run(work())


def test_a_collision_changes_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("backend b\n  server a 127.0.0.1:1 weight 1\n")
        async with returning(tmp_path) as (engine, history, back):
            await engine.write([ByFunction(substituting("weight 1", "weight 2"))], Version(1), author=NOBODY)
            await engine.write([ByFunction(substituting("weight 2", "weight 3"))], Version(2), author=NOBODY)
            with pytest.raises(Conflict, match="weight of backend/b/server/a is 3 by now, not 2"):
                await back.revert(1, author=NOBODY)
            assert engine.version() == 3 and len(await entries(history)) == 2

    run(work())


def test_files(tmp_path: Path) -> None:
    async def work() -> None:
        async with returning(tmp_path) as (engine, history, back):
            path = tmp_path / "general" / "a.http"
            for data in (b"one\n", b"one\ntwo\n", None):
                await put(engine, "a.http", data)
            assert (await back.revert(3, author=NOBODY)).outcomes and path.read_bytes() == b"one\ntwo\n"
            assert (await back.revert(2, author=NOBODY)).outcomes and path.read_bytes() == b"one\n"
            assert (await back.revert(2, author=NOBODY)).outcomes == []
            assert (await back.revert(1, author=NOBODY)).outcomes and not path.exists()
            assert await last(history) == "revert/1"

    run(work())


def test_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[MemberChange] = []

    async def revert_servers(context: CommitContext, changed: Sequence[MemberChange], author: Author) -> Outcome:
        taken.extend(changed)
        return Outcome(0)

    monkeypatch.setattr(reverting, "revert_servers", revert_servers)

    async def work() -> None:
        async with returning(tmp_path) as (engine, _, back):
            member = MemberChange("backend/b/server/a", "weight", 1, 2)

            async def apply() -> list[MemberChange]:
                return [member]

            await change_process(engine.context, member.object, apply, author=NOBODY)
            with pytest.raises(
                NotRevertible, match="entry 1 changed backend/b/server/a in the running process alone and cannot be reverted"
            ):
                await back.revert(1, author=NOBODY)
            assert not taken and (await back.roll_back(1, Author(cause="confirmation/1"))).outcomes and taken == [member]

    run(work())


def test_everything_as_it_was(tmp_path: Path) -> None:
    async def work() -> None:
        async with returning(tmp_path) as (engine, history, back):
            await put(engine, "a.http", b"one\n")
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            moment = engine.document.text.partition("backend")[2]
            await put(engine, "a.http", b"two\n")
            await put(engine, "late.http", b"late\n")
            await engine.write([ByFunction(adding("c"))], Version(2), author=NOBODY)
            assert len((await back.restore(2, author=NOBODY)).outcomes) == 1, "one commit over text and files"
            assert engine.document.text.partition("backend")[2] == moment and await last(history) == "restore/2"
            assert (tmp_path / "general" / "a.http").read_bytes() == b"one\n" and not (tmp_path / "general" / "late.http").exists()
            version = engine.version()
            assert (await back.restore(2, author=NOBODY)).outcomes == [] and engine.version() == version
            newest = (await entries(history))[1].id
            await back.restore(newest, author=NOBODY)
            assert (tmp_path / "general" / "late.http").read_bytes() == b"late\n"

    run(work())


def test_a_refused_configuration_leaves_the_files(tmp_path: Path) -> None:
    async def work() -> None:
        async with returning(tmp_path) as (engine, _, back):
            await put(engine, "a.http", b"one\n")
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            await put(engine, "a.http", b"two\n")
            await engine.write([ByFunction(adding("c"))], Version(2), author=NOBODY)
            engine.context.check = CheckSettings("false")
            with pytest.raises(Refused):
                await back.restore(2, author=NOBODY)
            assert (tmp_path / "general" / "a.http").read_bytes() == b"two\n" and engine.version() == 3

    run(work())


def test_a_key_that_is_gone_is_named(tmp_path: Path) -> None:
    async def work() -> None:
        async with returning(tmp_path) as (engine, history, back):
            key = b"-----BEGIN PRIVATE KEY-----\n%d\n-----END PRIVATE KEY-----\n"
            for number in (1, 2):
                await put(engine, "a.key", key % number)
            await engine.database.run(lambda state: state.keys.execute("DELETE FROM held"))
            with pytest.raises(NotFound, match=r"contents of .*a\.key at entry 1 are no longer stored"):
                await back.restore(1, author=NOBODY)
            assert (tmp_path / "general" / "a.key").read_bytes() == key % 2
            assert await history.ask(Journal.paths)

    run(work())


def test_a_key_that_has_been_changed_since_is_not_shown(tmp_path: Path) -> None:
    async def work() -> None:
        async with returning(tmp_path) as (engine, _, back):
            for number in range(3):
                await put(engine, "a.key", b"-----BEGIN PRIVATE KEY-----\nhunter%d\n-----END PRIVATE KEY-----\n" % number)
            with pytest.raises(Conflict, match=r"a\.key has been changed since$"):
                await back.revert(2, author=NOBODY)

    run(work())


def test_spoe_files(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "spoe").mkdir()
        path = tmp_path / "spoe" / "agents.cfg"
        path.write_bytes(b"# _version=3\n[one]\n[two]\n")
        async with returning(tmp_path) as (engine, history, back):
            content = Content("spoe/agents.cfg", str(path), b"# _version=1\n[one]\n", b"# _version=2\n[one]\n[two]\n")

            async def stands_there(data: bytes | None) -> None:
                assert data == content.after

            await commit(engine.context, Change([beside(content, stands_there)], author=NOBODY))
            assert (await back.revert(1, author=NOBODY)).outcomes and path.read_bytes() == b"# _version=9\n[one]\n"
            assert (await back.revert(1, author=NOBODY)).outcomes == []
            assert (await back.restore(1, author=NOBODY)).outcomes and path.read_bytes() == b"# _version=9\n[one]\n[two]\n"
            assert (await back.restore(1, author=NOBODY)).outcomes == []
            assert await entries(history)

    run(work())


def test_text_and_files_of_one_change(tmp_path: Path) -> None:
    """One entry, whose text is read also where a key that came with it is not kept any more."""

    async def work() -> None:
        async with returning(tmp_path) as (engine, history, back):
            store, key = engine.stores["general"], b"-----BEGIN PRIVATE KEY-----\n1\n-----END PRIVATE KEY-----\n"
            wanted = {store.directory / "a.key": key, store.directory / "a.http": b"one\n"}
            outcome = await commit(
                engine.context, Change([ByFunction(adding("b")), EditFiles(dict.fromkeys(wanted, store), lambda _: wanted)], author=NOBODY)
            )
            (entry,) = await entries(history)
            assert (entry.id, entry.kind, entry.version) == (outcome.entry, "configuration", 2)
            assert {each.object for each in await history.ask(Journal.contents, entry.id)} == {"", "general/a.key", "general/a.http"}
            assert [each.entry and each.entry.id for each in await blamed(history, "backend/b")] == [entry.id]
            await engine.database.run(lambda state: state.keys.execute("DELETE FROM held"))
            assert [each.entry and each.entry.id for each in await blamed(history, "backend/b")] == [entry.id]
            assert (await history.ask(Journal.configuration, entry.id)).after == engine.document.data
            with pytest.raises(NotFound, match=r"a\.key at entry 1 are no longer stored"):
                await back.revert(entry.id, author=NOBODY)

    run(work())


def test_one_change_of_text_and_files_goes_back(tmp_path: Path) -> None:
    async def work() -> None:
        async with returning(tmp_path) as (engine, history, back):
            store = engine.stores["general"]
            wanted = {store.directory / "a.http": b"one\n"}
            await commit(
                engine.context, Change([ByFunction(adding("b")), EditFiles(dict.fromkeys(wanted, store), lambda _: wanted)], author=NOBODY)
            )
            await engine.write([ByFunction(adding("c"))], Version(2), author=NOBODY)
            assert len((await back.revert(1, author=NOBODY)).outcomes) == 1 and await last(history) == "revert/1"
            assert [name for name, _ in engine.document.of_kind("backend")] == ["c"] and store.files() == []
            assert (await back.revert(1, author=NOBODY)).outcomes == []

    run(work())
