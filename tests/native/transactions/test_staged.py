"""Stored files of a transaction: kept with what they replace, private, and gone with the transaction."""

import stat
from pathlib import Path

import pytest

from haproxy_native.errors import BadRequest, Unreadable
from haproxy_native.transactions import staged as module
from haproxy_native.transactions.staged import INDEX, Staged, digest


def put(staged: Staged, path: Path, data: bytes | None) -> None:
    draft = None
    if data is not None:
        draft = staged.draft()
        draft.append(data)
    staged.put(path, "maps", f"map/{path.name}", draft, path)


def held(staged: Staged, path: Path) -> bytes | None:
    content = staged.content(path)
    return content.read_bytes() if content else None


def test_they_survive_a_restart_with_what_the_first_change_replaced(tmp_path: Path) -> None:
    place, a, b = tmp_path / "files", tmp_path / "a.map", tmp_path / "b.map"
    a.write_bytes(b"old")
    staged = Staged(place)
    assert not place.exists()
    put(staged, a, b"one")
    a.write_bytes(b"changed by another")
    put(staged, a, b"two")
    put(staged, b, None)
    again = Staged(place)
    assert again.files == staged.files and list(again.files) == [a, b]
    assert (held(again, a), held(again, b), again.files[a].before, again.files[b].before) == (b"two", None, digest(b"old"), None)
    assert len(list(place.iterdir())) == 2, "the content of the first change is gone"
    again.remove()
    assert not place.exists()


def test_nobody_else_may_read_them(tmp_path: Path) -> None:
    staged = Staged(tmp_path / "files")
    put(staged, tmp_path / "key.pem", b"a key")
    content = staged.content(tmp_path / "key.pem")
    assert content and (stat.S_IMODE(content.stat().st_mode), stat.S_IMODE(content.parent.stat().st_mode)) == (0o600, 0o700)


def test_those_of_a_batch_are_temporary(tmp_path: Path) -> None:
    staged = Staged(None)
    staged.remove()
    put(staged, tmp_path / "a.map", b"one")
    content = staged.content(tmp_path / "a.map")
    assert content and content.read_bytes() == b"one" and not content.is_relative_to(tmp_path)
    staged.remove()
    assert not content.parent.exists()


def test_an_index_that_is_none_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text('{"/a": 1}')
    with pytest.raises(Unreadable):
        Staged(tmp_path)


def test_they_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 5)
    staged = Staged(tmp_path / "files")
    put(staged, tmp_path / "a.map", b"12345")
    put(staged, tmp_path / "a.map", b"54321")
    with pytest.raises(BadRequest, match="5 bytes together"):
        put(staged, tmp_path / "b.map", b"1")
