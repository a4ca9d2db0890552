"""How a transaction stands in its file; what becomes of it is in test_transactions.py."""

from pathlib import Path

from haproxy_native.transactions.transaction import IN_PROGRESS, found, line


def test_the_head_of_a_file(tmp_path: Path) -> None:
    head = {"base": "b", "version": 3, "banner": False, "author": "users/ann", "started": 7.5}
    (tmp_path / "file").write_bytes(line(head))
    one = found("id", IN_PROGRESS, tmp_path / "file")
    assert (one.base, one.version, one.banner, one.author, one.started) == ("b", 3, False, "users/ann", 7.5)
    assert one.used == (tmp_path / "file").stat().st_mtime


def test_a_head_of_an_earlier_version(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(line({"base": "b", "version": 3, "banner": True}))
    one = found("id", IN_PROGRESS, tmp_path / "file")
    assert (one.author, one.started, one.is_idle) == ("", 0.0, True)
