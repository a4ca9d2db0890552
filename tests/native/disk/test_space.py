"""What statvfs tells decides; a real file system that is full, or has become read-only, is seen in acceptance/test_disk.py."""

import errno
import os
from pathlib import Path

import pytest

from haproxy_native.disk import path_errors

BLOCK = 4096


def sizes(
    *, blocks: int = 100, free: int = 50, available: int = 40, files: int = 100, free_files: int = 50, flags: int = 0
) -> path_errors.Statvfs:
    result = os.statvfs_result((BLOCK, BLOCK, blocks, free, available, files, free_files, free_files, flags, 255))
    return lambda path: result


def trouble(statvfs: path_errors.Statvfs, size: int = 1) -> int | None:
    try:
        path_errors.check_space(Path("/somewhere"), size, statvfs)
    except OSError as error:
        return error.errno
    return None


@pytest.mark.parametrize(
    ("statvfs", "size", "number"),
    [
        (sizes(), 1, None),
        (sizes(), 40 * BLOCK, None),
        (sizes(), 50 * BLOCK + 1, errno.ENOSPC),
        (sizes(free=0, available=0), 1, errno.ENOSPC),
        (sizes(free=0, available=0, blocks=0), 1, None),
        (sizes(free_files=0), 1, errno.ENOSPC),
        (sizes(free_files=0, files=0), 1, None),
        (sizes(flags=os.ST_RDONLY), 1, errno.EROFS),
        (sizes(flags=os.ST_RDONLY, free=0, available=0), 1, errno.EROFS),
    ],
)
def test_what_keeps_a_file_out(statvfs: path_errors.Statvfs, size: int, number: int | None) -> None:
    assert trouble(statvfs, size) == number


def test_what_is_kept_for_root_is_no_room_for_others() -> None:
    assert trouble(sizes(free=9, available=0)) == (None if os.geteuid() == 0 else errno.ENOSPC)


def test_a_real_file_system(tmp_path: Path) -> None:
    path_errors.check_space(tmp_path)
    with pytest.raises(OSError, match="No space left on device"):
        path_errors.check_space(tmp_path, 1 << 62)
