"""Which mount a file belongs to, from a table as the kernel writes it."""

from pathlib import Path

import pytest

from dataplaneapi.host import mounts

TABLE = """\
21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 21 0:25 / /run rw shared:2 - tmpfs tmpfs rw
31 21 254:0 /x/haproxy.cfg /etc/haproxy/haproxy.cfg rw - ext4 /dev/vda rw
32 21 0:40 / /mnt/two\\040words rw - nfs4 server:/x rw
33 21 0:41 / /mnt/two\\040words rw - overlay overlay rw
"""


@pytest.mark.parametrize(
    ("file", "point", "kind"),
    [
        ("/etc/haproxy/other.cfg", "/", "ext4"),
        ("/etc/haproxy/haproxy.cfg", "/etc/haproxy/haproxy.cfg", "ext4"),
        ("/run/haproxy/haproxy.cfg", "/run", "tmpfs"),
        ("/running/haproxy.cfg", "/", "ext4"),
        ("/mnt/two words/a.cfg", "/mnt/two words", "overlay"),
    ],
)
def test_innermost_mount(file: str, point: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "table").write_text(TABLE)
    assert mounts.mount_of(Path(file), tmp_path / "table") == (Path(point), kind)


def test_without_a_table_there_is_one_mount(tmp_path: Path) -> None:
    assert mounts.mount_of(tmp_path, tmp_path / "none") == (Path("/"), "")


def test_a_file_in_a_directory_of_ours_can_be_written(tmp_path: Path) -> None:
    assert mounts.refused_writes(tmp_path / "haproxy.cfg") == []


def test_nobody_can_write_below_proc() -> None:
    assert mounts.refused_writes(Path("/proc/self/none/none")) == ["neither /proc/self/none/none nor its directory can be written to"]
