"""A journal distinguishes a file that was cut off in the middle from one that another process has written."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haproxy_native.disk.journal import FileJournal, _is_mixture

OLD, NEW = b"a" * 9000, b"b" * 13000


@given(st.integers(0, 13000), st.booleans())
def test_every_point_of_a_cut_off_write_is_a_mixture(cut: int, grown: bool) -> None:
    rest = OLD[cut:] if not grown else OLD[cut:].ljust(13000 - cut, b"\0")
    assert _is_mixture(NEW[:cut] + rest, OLD, NEW)
    assert _is_mixture(OLD[:cut] + NEW[cut:9000], NEW, OLD)


@pytest.mark.parametrize("found", [b"c" + OLD[1:], NEW[:5000] + b"x" + NEW[5001:], b"", NEW + b"x", OLD[:8999]])
def test_others_writes_are_none(found: bytes) -> None:
    assert not _is_mixture(found, OLD, NEW)


def test_a_write_leaves_no_journal(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_bytes(OLD)
    journal = FileJournal(tmp_path / "journal", os)
    journal.write(str(target), OLD, NEW)
    assert target.read_bytes() == NEW
    assert not journal.replay()
    assert os.listdir(tmp_path) == ["file"]


def test_a_target_that_is_gone_is_left_so(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "journal", os)
    journal._begin(str(tmp_path / "file"), OLD, NEW)
    assert not journal.replay()
    assert os.listdir(tmp_path) == []


def test_a_journal_that_cannot_be_kept_stops_the_write(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_bytes(OLD)
    with pytest.raises(OSError):
        FileJournal(target / "journal", os).write(str(target), OLD, NEW)
    assert target.read_bytes() == OLD
