"""A stamp differs when the file does."""

import os
from pathlib import Path

from haproxy_native.disk.atomic import stamp


def test_a_stamp_is_the_same_until_the_file_changes(tmp_path: Path) -> None:
    file, link, other = tmp_path / "a", tmp_path / "link", tmp_path / "b"
    assert stamp(file) is None
    file.write_text("one")
    link.symlink_to(file)
    first = stamp(link)
    assert first is not None and stamp(file) == first == stamp(str(file))
    os.utime(file, ns=(1, 1))
    assert stamp(link) != first
    second = stamp(link)
    other.write_text("two")
    link.unlink()
    link.symlink_to(other)
    assert stamp(link) not in (first, second)
    (tmp_path / "c").write_text("thr")
    before = stamp(file)
    (tmp_path / "c").replace(file)
    assert stamp(file) != before
