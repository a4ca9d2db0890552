"""The ledger: what it holds in each state of a change, also for the next process."""

import time
from asyncio import run
from pathlib import Path

import pytest

from haproxy_native.commit.ledger import SKIPPED, WAITING, Ledger
from haproxy_native.disk.database import Database
from haproxy_native.errors import WriteFailed
from haproxy_native.runtime.client import Worker
from tests.databases import former_contents


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return opened(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "hosts.map"
    path.write_text("old")
    path.chmod(0o640)
    return path


def opened(directory: Path) -> Ledger:
    ledger = Ledger(Database(directory / "state"), directory)
    ledger.open()
    return ledger


def again(ledger: Ledger) -> Ledger:
    """What the next process finds."""
    run(ledger._database.catch_up())
    found = opened(ledger._database.directory.parent)
    assert found.entries == ledger.entries
    return found


def copies(ledger: Ledger) -> int:
    return former_contents(ledger._database.directory)


def test_a_change_that_is_live_leaves_nothing(ledger: Ledger, file: Path) -> None:
    run(ledger.begin({file: "maps"}))
    file.write_text("new")
    assert again(ledger).interrupted == [[str(file)]]
    ledger.remove(file)
    assert (again(ledger).entries, copies(ledger), file.read_text()) == ({}, 0, "new")


def test_a_refused_change_is_undone(ledger: Ledger, file: Path) -> None:
    run(ledger.begin({file: "maps"}))
    file.write_text("new")
    next_ = again(ledger)
    run(next_.undo(file))
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("old", 0o640)
    assert again(next_).entries == {}


def test_what_waits_goes_back_to_what_the_worker_has(ledger: Ledger, file: Path) -> None:
    for content in ("new", "newer"):
        run(ledger.begin({file: "maps"}))
        file.write_text(content)
        ledger.wait_for_reload([file], WAITING)
    assert (again(ledger).waits, copies(ledger)) == (True, 1)
    run(ledger.begin({file: "maps"}))
    file.write_text("refused")
    run(ledger.undo(file))
    assert (file.read_text(), again(ledger).waits) == ("newer", True)
    assert run(ledger.restore_all()) == [str(file)]
    assert (file.read_text(), again(ledger).entries, copies(ledger)) == ("old", {}, 0)


def test_a_deleted_file_comes_back_with_its_mode(ledger: Ledger, file: Path) -> None:
    run(ledger.begin({file: "maps"}))
    file.unlink()
    ledger.wait_for_reload([file], SKIPPED)
    assert not again(ledger).waits
    run(ledger.restore_all())
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("old", 0o640)


def test_a_new_file_goes_again(ledger: Ledger, file: Path) -> None:
    new = file.with_name("new.map")
    run(ledger.begin({new: "maps"}))
    assert ledger.is_untouched(new)
    new.touch()
    assert not ledger.is_untouched(new)
    run(ledger.undo(new))
    assert not new.exists()


def test_whether_a_change_has_reached_its_file(ledger: Ledger, file: Path) -> None:
    run(ledger.begin({file: "maps"}))
    assert ledger.is_untouched(file)
    file.write_text("new")
    assert not ledger.is_untouched(file)
    file.unlink()
    assert not ledger.is_untouched(file)


def test_a_worker_has_read_what_is_older_than_it(ledger: Ledger, file: Path) -> None:
    run(ledger.begin({file: "maps"}))
    file.write_text("new")
    ledger.wait_for_reload([file], WAITING)
    ledger.loaded_by(Worker(1, time.time() - 60))
    assert ledger.entries
    ledger.loaded_by(Worker(1, time.time() + 60))
    assert (again(ledger).entries, copies(ledger)) == ({}, 0)


def test_a_reload_settles_everything(ledger: Ledger, file: Path) -> None:
    run(ledger.begin({file: "maps"}))
    ledger.wait_for_reload([file], WAITING)
    ledger.loaded()
    assert (again(ledger).entries, copies(ledger)) == ({}, 0)


def test_where_it_cannot_be_entered_there_is_no_change(tmp_path: Path, ledger: Ledger, file: Path) -> None:
    with pytest.raises(WriteFailed, match=f"cannot read {tmp_path}: "):
        run(ledger.begin({tmp_path: "maps"}))
    (tmp_path / "state").rename(tmp_path / "moved")
    (tmp_path / "state").write_text("no directory")
    ledger._database._close()
    with pytest.raises(WriteFailed, match="cannot be used"):
        run(ledger.begin({file: "maps"}))
    assert ledger.entries == {}


def test_a_content_that_is_gone_is_no_missing_file(ledger: Ledger, file: Path) -> None:
    """Nor is another content put into the file."""
    run(ledger.begin({file: "maps"}))
    file.write_text("new")
    ledger.wait_for_reload([file], WAITING)
    for statement in ("UPDATE former SET data = x'00'", "DELETE FROM former"):
        run(ledger._database.store(lambda state, statement=statement: state.keys.execute(statement)))
        assert run(ledger.restore_all()) == [] and file.read_text() == "new" and ledger.entries


def test_what_could_not_be_read_at_the_start_is_kept(tmp_path: Path, ledger: Ledger, file: Path) -> None:
    run(ledger.begin({file: "maps"}))
    ledger.wait_for_reload([file], WAITING)
    run(ledger._database.catch_up())
    later = Ledger(Database(tmp_path / "state"), tmp_path)
    run(later.begin({file.with_name("other.map"): "maps"}))
    assert set(again(later).entries) == {str(file), str(file.with_name("other.map"))}
