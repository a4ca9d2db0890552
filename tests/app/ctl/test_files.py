"""Files are complete or as they were."""

from pathlib import Path

import pytest

from dataplaneapi.ctl import files


def test_a_file_is_replaced_with_the_mode_that_is_asked_for(tmp_path: Path) -> None:
    files.replace(str(tmp_path / "a"), "one")
    files.replace(str(tmp_path / "a"), "two", 0o644)
    assert (tmp_path / "a").read_text() == "two" and (tmp_path / "a").stat().st_mode & 0o777 == 0o644


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    with pytest.raises(OSError, match="directory"):
        files.replace(str(tmp_path / "directory"), "one")
    assert [each.name for each in tmp_path.iterdir()] == ["directory"]
