"""Finding, listing and changing files; nothing reaches beyond the directory."""

import asyncio
import os
from pathlib import Path

import pytest

from haproxy_native.disk.directories import Directory
from haproxy_native.disk.journal import FileJournal
from haproxy_native.engine import Engine
from haproxy_native.errors import BadRequest, Exists, InUse, Missing, Unusable, WriteFailed
from haproxy_native.request_context import NOBODY
from haproxy_native.storage.store import Store
from haproxy_native.storage.stores import GeneralStore
from tests.native.engines import run, running_engine

OUTSIDE = ["../outside.txt", "..%2Foutside.txt", "..", ".", "", "/etc/passwd", "link", "sub", "nul\0"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    directory = tmp_path / "general"
    directory.mkdir()
    (tmp_path / "outside.txt").write_text("theirs")
    (directory / "a.txt").write_text("a")
    (directory / "by.hand.txt").write_text("b")
    (directory / "sub").mkdir()
    (directory / "link").symlink_to(tmp_path / "outside.txt")
    (directory / "inner").symlink_to("a.txt")
    return GeneralStore("general", Directory(directory, "general_storage_dir"), tmp_path / "state")


def test_the_list_has_files_only(store: Store) -> None:
    (store.directory / ".a.txt.00000000-0000-4000-8000-000000000000").touch()
    assert [path.name for path in store.files()] == ["a.txt", "by.hand.txt", "inner"]


def test_a_file_is_found_by_its_name_or_that_of_its_upload(store: Store) -> None:
    (store.directory / "x_y.txt").touch()
    assert store.find("x.y.txt").name == store.find("x y.txt").name == "x_y.txt"
    assert store.find("by.hand.txt").name == "by.hand.txt"


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_name_leaves_the_directory(store: Store, name: str) -> None:
    with pytest.raises(Missing, match="doesn't exist in dir: "):
        store.find(name)
    with pytest.raises(Missing):
        store.upload_existing(name, author=NOBODY)


@pytest.mark.parametrize("name", ["none", "link"])
def test_a_text_that_is_not_in_the_directory(store: Store, name: str) -> None:
    with pytest.raises(Missing, match=f"file {name} doesn't exist in dir"):
        store.text(store.directory / name)


@pytest.mark.parametrize(("name", "error"), [("a.txt", Exists), ("link", Exists), ("", BadRequest), ("x" * 300, BadRequest)])
def test_names_that_cannot_be_new(store: Store, name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        store.upload_new(name, author=NOBODY)
    assert len(list(store.directory.iterdir())) == 5


def test_a_directory_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = GeneralStore("general", Directory(tmp_path / "file", "general_storage_dir"), tmp_path)
    for act in (store.files, lambda: store.find("x"), lambda: store.upload_new("x", author=NOBODY)):
        with pytest.raises(Unusable, match="general_storage_dir"):
            act()


def test_what_a_crash_left_is_removed(store: Store) -> None:
    left = store.directory / ".a.txt.00000000-0000-4000-8000-000000000000"
    left.touch()
    draft = store.draft(store.directory / "a.txt")
    store.recover()
    assert not left.exists()
    assert len(list(store.directory.glob(".a.txt.*"))) == 1, "one that is held stays"
    draft.discard()


def test_what_a_crash_left_half_written_elsewhere_is_finished(store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    torn, gone = tmp_path / "outside.txt", tmp_path / "away" / "gone.txt"
    store.state.mkdir(parents=True)
    for number, path in enumerate((gone, torn)):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"old " * 3)
        journal = FileJournal(store.state / f"{number}.journal", os)
        journal._begin(str(path), b"old " * 3, b"new " * 3)
    torn.write_bytes(b"new old old ")
    gone.unlink()
    gone.mkdir()
    store.recover()
    assert torn.read_bytes() == b"new " * 3
    assert f"{gone} may be incomplete, and completing it failed: Is a directory" in caplog.text


def changing(tmp_path: Path, work) -> None:
    """`work(engine, store)` with a store of general files whose configuration refers to used.txt."""
    general = tmp_path / "general"
    general.mkdir()
    (general / "used.txt").write_text("old")
    (tmp_path / "haproxy.cfg").write_text(f"frontend f\n  bind :80\n  errorfile 503 {general}/used.txt\n")

    async def test() -> None:
        async with running_engine(tmp_path, directories={"general": Directory(general, "general_storage_dir")}) as engine:
            await work(engine, engine.stores["general"])

    run(test())


async def store_file(engine: Engine, store: Store, name: str, content: bytes, **how):
    upload = store.upload_existing(name, author=NOBODY) if (store.directory / name).exists() else store.upload_new(name, author=NOBODY)
    try:
        await upload.append(content)
        return await upload.commit(engine.context, **how)
    finally:
        upload.discard()


def test_create_replace_delete(tmp_path: Path) -> None:
    async def work(engine: Engine, store: Store) -> None:
        version = engine.version()
        assert (await store_file(engine, store, "n.txt", b"1")).live
        os.chmod(store.directory / "n.txt", 0o640)
        assert (await store_file(engine, store, "n.txt", b"2")).live
        found = store.find("n.txt")
        assert (found.read_bytes(), found.stat().st_mode & 0o777) == (b"2", 0o640)
        assert (await store.delete(engine.context, "n.txt", author=NOBODY)).live
        assert [path.name for path in store.files()] == ["used.txt"]
        assert engine.version() == version
        assert engine.reloads.pending is None

    changing(tmp_path, work)


def test_a_file_in_use_stays(tmp_path: Path) -> None:
    async def work(engine: Engine, store: Store) -> None:
        with pytest.raises(InUse, match="referenced in haproxy conf at line 3: errorfile 503"):
            await store.delete(engine.context, "used.txt", author=NOBODY)
        assert store.find("used.txt").exists()

    changing(tmp_path, work)


def test_of_two_that_create_one_succeeds(tmp_path: Path) -> None:
    async def work(engine: Engine, store: Store) -> None:
        uploads = [store.upload_new("n.txt", author=NOBODY), store.upload_new("n.txt", author=NOBODY)]
        for number, upload in enumerate(uploads):
            await upload.append(b"%d" % number)
        done = await asyncio.gather(*(upload.commit(engine.context) for upload in uploads), return_exceptions=True)
        assert sorted(type(each).__name__ for each in done) == ["Exists", "Outcome"]
        winner = next(number for number, each in enumerate(done) if not isinstance(each, BaseException))
        assert store.find("n.txt").read_bytes() == b"%d" % winner
        assert len(list(store.directory.iterdir())) == 2, "the drafts are gone"

    changing(tmp_path, work)


def test_a_disk_that_takes_nothing_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(engine: Engine, store: Store) -> None:
        def fail(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "replace", fail)
        with pytest.raises(WriteFailed, match="No space left"):
            await store_file(engine, store, "used.txt", b"new")
        monkeypatch.undo()
        assert store.find("used.txt").read_bytes() == b"old"
        assert not engine.context.ledger.entries

    changing(tmp_path, work)


def test_a_start_without_a_directory_for_journals(tmp_path: Path) -> None:
    """One that cannot even be looked into, as where it belongs to another user."""
    (tmp_path / "maps").mkdir()
    GeneralStore("general", Directory(tmp_path / "maps", "maps_dir"), tmp_path / ("x" * 300)).recover()


def test_new_files_are_for_haproxy_and_the_group_of_the_directory(store: Store) -> None:
    group = next(iter(set(os.getgroups()) - {os.getegid()}), os.getegid())
    os.chown(store.directory, -1, group)
    former = os.umask(0)
    try:
        store.draft(store.directory / "new.txt").install()
    finally:
        os.umask(former)
    found = (store.directory / "new.txt").stat()
    assert (found.st_mode & 0o777, found.st_gid) == (0o640, group)


def test_a_file_that_became_a_link_is_neither_sent_nor_written(store: Store) -> None:
    """Another process puts a link in its place after a client's name was found."""
    path, outside = store.find("a.txt"), store.directory.parent / "outside.txt"
    draft = store.draft(path, b"ours")
    path.unlink()
    path.symlink_to("../outside.txt")
    with pytest.raises(OSError, match="a link leads out of the directory"):
        store.content(path)
    with pytest.raises(WriteFailed, match="a link leads out of its directory"):
        draft.install()
    with pytest.raises(WriteFailed, match="a link leads out of its directory"):
        store.draft(path, b"ours")
    assert outside.read_text() == "theirs"
    assert list(store.directory.glob(".*")) == []
