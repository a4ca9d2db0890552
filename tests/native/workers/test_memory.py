"""The memory of processes, and of what only has the pid of one."""

import os
from pathlib import Path

from haproxy_native.workers.workers import memory

BOOTED = 1_700_000_000


def process(proc: Path, **files: str) -> Path:
    """One with the pid 7 that began 500 s after the machine."""
    (proc / "7").mkdir()
    (proc / "stat").write_text(f"cpu  1 2 3\nbtime {BOOTED}\n")
    ticks = 500 * os.sysconf("SC_CLK_TCK")
    (proc / "7/stat").write_text(f"7 (a) b) S {' '.join(['1'] * 18)} {ticks} 1 1\n")
    for file, text in files.items():
        (proc / "7" / file).write_text(text)
    return proc


def test_the_proportional_part(tmp_path: Path) -> None:
    proc = process(tmp_path, smaps_rollup="Rss:  900 kB\nPss:   512 kB\n", status="VmRSS:\t 900 kB\n")
    assert memory(7, BOOTED + 499.5, proc) == 512 << 10


def test_what_is_resident_where_only_that_is_told(tmp_path: Path) -> None:
    assert memory(7, BOOTED + 500, process(tmp_path, status="Name:\thaproxy\nVmRSS:\t   900 kB\n")) == 900 << 10


def test_nothing(tmp_path: Path) -> None:
    assert memory(7, BOOTED + 500, tmp_path) is None
    assert memory(7, BOOTED + 500, process(tmp_path)) is None


def test_a_process_that_only_has_the_pid(tmp_path: Path) -> None:
    proc = process(tmp_path, status="VmRSS:\t   900 kB\n")
    assert memory(7, BOOTED + 600, proc) is None and memory(7, BOOTED + 100, proc) is None
