"""The files of one directory: listed, created, deleted; names lead nowhere else."""

import os
from pathlib import Path

import pytest

from haproxy_native.errors import BadValue, Exists, Missing, NotFound, Unusable
from haproxy_native.request_context import NOBODY
from tests.native.engines import ByFunction, run
from tests.native.spoe.site import READ, TEXT, adding, furnish, spoe_files


def test_creating_and_deleting(tmp_path: Path) -> None:
    async def work() -> None:
        async with spoe_files(tmp_path) as (files, _):
            assert files.list() == []
            home = tmp_path / "spoe"
            path, outcome = await files.create("a/b/new.cfg", b"[x]", author=NOBODY)
            assert (path, path.read_bytes(), outcome.version) == (home / "new.cfg", b"# _version=1\n[x]", 1)
            assert path.stat().st_mode & 0o777 == 0o640
            assert (await files.create("old.cfg", TEXT.encode(), author=NOBODY))[1].version == 3
            assert files.list() == [home / "new.cfg", home / "old.cfg"]
            with pytest.raises(Exists):
                await files.create("new.cfg", b"[y]", author=NOBODY)
            assert files.text("new.cfg") == "# _version=1\n[x]"
            id_ = files.file("new.cfg").start_transaction(1, author=NOBODY).id
            await files.delete("new.cfg", author=NOBODY)
            await files.delete("new.cfg", author=NOBODY)
            assert files.list() == [home / "old.cfg"]
            await files.create("new.cfg", b"[z]\n", author=NOBODY)
            assert [each.id for each in files.file("new.cfg").transactions(author=NOBODY)] == [], f"{id_} was about another file"
            await files.file("new.cfg").write([], version=1, author=NOBODY)
            (home / "new.cfg").unlink()
            assert (await files.create("new.cfg", b"[z]\n", author=NOBODY))[1].version == 1, "the former one was deleted from outside"
            used, outcome = await files.create(READ, TEXT.encode(), author=NOBODY)
            assert outcome.reload_id, "the configuration reads a file of that name already"
            assert used.exists()
            assert sorted(os.listdir(home)) == ["new.cfg", "old.cfg", READ]

    run(work())


def test_files_of_others(tmp_path: Path) -> None:
    home = furnish(tmp_path)
    (tmp_path / "secret.cfg").write_text("[s]\n")
    (home / "out.cfg").symlink_to("../secret.cfg")
    (home / "in.cfg").symlink_to("free.cfg")
    (home / "sub").mkdir()
    (home / ".hidden").write_text("[h]\n")

    async def work() -> None:
        async with spoe_files(tmp_path) as (files, _):
            assert [path.name for path in files.list()] == ["free.cfg", "in.cfg", READ]
            for name in ("out.cfg", "sub", ".hidden", "none.cfg", "", ".", "..", "../secret.cfg", "/etc/passwd", "a\0b", "x" * 5000):
                with pytest.raises(NotFound, match="client .* not configured"):
                    files.file(name)
                with pytest.raises(Missing, match="missing object: spoe file .* does not exist"):
                    files.text(name)
            (home / "late.cfg").write_bytes(b"\xff[l]\n[x]\n")
            assert files.file("late.cfg").version() == 1
            await files.file("late.cfg").write([], version=1, author=NOBODY)
            assert (home / "late.cfg").read_bytes() == b"# _version=2\n\xff[l]\n[x]\n"
            (home / "late.cfg").unlink()
            with pytest.raises(NotFound):
                files.file("late.cfg")

    run(work())


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a*b", "a\nb", 'a"b', "x" * 201, "a/", "a\0b"])
def test_names_that_are_none(tmp_path: Path, name: str) -> None:
    async def work() -> None:
        async with spoe_files(tmp_path) as (files, _):
            with pytest.raises(BadValue):
                await files.create(name, b"[x]\n", author=NOBODY)
            assert files.list() == []

    run(work())


def test_a_write_that_was_cut_off_is_finished_at_start(tmp_path: Path) -> None:
    home = furnish(tmp_path)

    async def work() -> None:
        async with spoe_files(tmp_path) as (files, _):
            journal = files.file("free.cfg")._current.file.main.journal
            new = TEXT.replace("src", "dst").encode()
            journal.write(str(home / "free.cfg"), TEXT.encode(), new)
            (home / "free.cfg").write_bytes(new)
        (home / ".free.cfg.00000000-0000-4000-8000-000000000000").write_text("half a dr")
        async with spoe_files(tmp_path) as (files, _):
            assert files.file("free.cfg").read().data == new
            assert sorted(os.listdir(home)) == ["free.cfg", READ]

    run(work())


def test_a_directory_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "spoe").write_text("")

    async def work() -> None:
        async with spoe_files(tmp_path) as (files, _):
            with pytest.raises(Unusable, match="spoe_dir .*/spoe cannot be used"):
                files.list()
            with pytest.raises(Unusable):
                await files.create("a.cfg", b"[a]\n", author=NOBODY)
            (tmp_path / "spoe").unlink()
            furnish(tmp_path)
            await files.file("free.cfg").write([ByFunction(adding("m2"))], version=3, author=NOBODY)

    run(work())


def test_a_text_as_a_whole(tmp_path: Path) -> None:
    async def work() -> None:
        async with spoe_files(tmp_path) as (files, _):
            path = tmp_path / "spoe" / "new.cfg"
            assert (
                await files.change("new.cfg", lambda now: None if now is None else b"never", author=NOBODY)
            ).version == 0 and not path.exists()
            await files.change("new.cfg", lambda now: b"[x]\n" if now is None else b"never", author=NOBODY)
            assert path.read_bytes() == b"# _version=1\n[x]\n"
            await files.change("new.cfg", lambda now: (now or b"") + b"[y]\n", author=NOBODY)
            assert path.read_bytes() == b"# _version=2\n[x]\n[y]\n" and files.file("new.cfg").version() == 2
            await files.change("new.cfg", lambda now: None, author=NOBODY)
            assert not path.exists()

    run(work())
