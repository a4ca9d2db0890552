"""Stored files of a transaction: kept with what they replace, private, and gone with the transaction."""

import stat
from pathlib import Path

import pytest

from haproxy_native.errors import BadRequest
from haproxy_native.request_context import NOBODY
from haproxy_native.text.document import Document
from haproxy_native.transactions import staged as module
from haproxy_native.transactions.staged import Staged, digest
from haproxy_native.transactions.transactions import Transactions
from tests.native.transactions.processes import count, opened


def put(staged: Staged, path: Path, data: bytes | None) -> None:
    draft = None
    if data is not None:
        draft = staged.draft()
        draft.append(data)
    staged.put(path, "maps", f"map/{path.name}", draft, path)


def held(staged: Staged, path: Path) -> bytes | None:
    content = staged.content(path)
    return content.read_bytes() if content else None


@pytest.fixture
def transactions(tmp_path: Path) -> Transactions:
    (tmp_path / "haproxy.cfg").write_text("global\n")
    return opened(tmp_path / "transactions")


def test_they_survive_a_restart_with_what_the_first_change_replaced(transactions: Transactions, tmp_path: Path) -> None:
    a, b = tmp_path / "a.map", tmp_path / "b.map"
    a.write_bytes(b"old")
    id_ = transactions.start(Document.parse("global\n"), 1, author=NOBODY).id
    staged = transactions.staged(id_)
    put(staged, a, b"one")
    a.write_bytes(b"changed by another")
    put(staged, a, b"two")
    put(staged, b, None)
    transactions.close()
    again = opened(tmp_path / "transactions")
    found = again.staged(id_)
    assert found.files == staged.files and set(found.files) == {a, b}
    assert (held(found, a), held(found, b), found.files[a].before, found.files[b].before) == (b"two", None, digest(b"old"), None)
    assert count(tmp_path / "transactions", "staged_file") == 2, "the content of the first change is gone"
    opened(tmp_path / "transactions").delete(id_, author=NOBODY)
    assert count(tmp_path / "transactions", "staged_file") == 0


def test_temporary_files_are_found_again_and_gone_with_the_transaction(transactions: Transactions, tmp_path: Path) -> None:
    id_ = transactions.start(Document.parse("global\n"), 1, author=NOBODY).id
    staged, path = transactions.staged(id_), tmp_path / "a.map"
    put(staged, path, b"one")
    content = staged.content(path)
    assert content
    content.unlink()
    assert held(staged, path) == b"one", "whoever has cleared the temporary directory"
    place = content.parent
    transactions.delete(id_, author=NOBODY)
    assert not place.exists()


def test_nobody_else_may_read_them(tmp_path: Path) -> None:
    staged = Staged()
    put(staged, tmp_path / "key.pem", b"a key")
    content = staged.content(tmp_path / "key.pem")
    assert content and (stat.S_IMODE(content.stat().st_mode), stat.S_IMODE(content.parent.stat().st_mode)) == (0o600, 0o700)
    staged.remove()


def test_those_of_a_batch_are_temporary(tmp_path: Path) -> None:
    staged = Staged()
    staged.remove()
    put(staged, tmp_path / "a.map", b"one")
    content = staged.content(tmp_path / "a.map")
    assert content and content.read_bytes() == b"one" and not content.is_relative_to(tmp_path)
    staged.remove()
    assert not content.parent.exists()


def test_they_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 5)
    staged = Staged()
    put(staged, tmp_path / "a.map", b"12345")
    put(staged, tmp_path / "a.map", b"54321")
    with pytest.raises(BadRequest, match="5 bytes together"):
        put(staged, tmp_path / "b.map", b"1")
