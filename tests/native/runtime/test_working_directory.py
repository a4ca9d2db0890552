"""Where HAProxy loads relative paths from, as far as this process may see it."""

import os
from pathlib import Path

from haproxy_native.runtime.client import Worker
from haproxy_native.runtime.working_directory import WorkingDirectory

BOOTED = 1_700_000_000
WORKER = Worker(7, BOOTED + 500.0)


def process(
    proc: Path, pid: int, name: str, parent: int, cwd: Path | None = None, root: str = "/", command: str = "haproxy", group: str = "/"
) -> None:
    """One that began 500 s after the machine. Without `cwd` nobody may see where it works."""
    (proc / str(pid)).mkdir(parents=True)
    (proc / "stat").write_text(f"btime {BOOTED}\n")
    ticks = 500 * os.sysconf("SC_CLK_TCK")
    (proc / f"{pid}/stat").write_text(f"{pid} ({name}) S {parent} {' '.join(['1'] * 17)} {ticks} 1 1\n")
    (proc / f"{pid}/cmdline").write_text(command.replace(" ", "\0") + "\0")
    (proc / f"{pid}/cgroup").write_text(f"0::{group}\n")
    if cwd:
        (proc / f"{pid}/cwd").symlink_to(cwd)
        (proc / f"{pid}/root").symlink_to(root)


def unit(places: Path, name: str, *lines: str) -> None:
    places.mkdir(exist_ok=True)
    (places / name).write_text("\n".join(["[Service]", *lines, ""]))


def found(tmp_path: Path, service: str = "", worker: Worker | None = WORKER) -> Path | None:
    return WorkingDirectory(service, [tmp_path / "units"], tmp_path / "proc").find(worker)


def test_of_the_master(tmp_path: Path) -> None:
    process(tmp_path / "proc", 5, "haproxy", 1, tmp_path)
    process(tmp_path / "proc", 7, "haproxy", 5, Path("/"), "/var/lib/haproxy")
    assert found(tmp_path) == tmp_path


def test_of_a_single_process(tmp_path: Path) -> None:
    process(tmp_path / "proc", 1, "systemd", 0, Path("/usr"))
    process(tmp_path / "proc", 7, "haproxy", 1, tmp_path)
    assert found(tmp_path) == tmp_path


def test_a_chroot_is_no_directory_of_a_start(tmp_path: Path) -> None:
    process(tmp_path / "proc", 7, "haproxy", 1, Path("/"), "/var/lib/haproxy")
    assert found(tmp_path) is None


def test_of_a_process_that_nobody_may_see(tmp_path: Path) -> None:
    process(tmp_path / "proc", 5, "haproxy", 1, command=f"haproxy -C {tmp_path} -f x", group="/system.slice/lb.service")
    process(tmp_path / "proc", 7, "haproxy", 5)
    assert found(tmp_path) == tmp_path
    (tmp_path / "proc/5/cmdline").write_text("haproxy\0-f\0x\0")
    assert found(tmp_path) is None, "there is no such unit"
    unit(tmp_path / "units", "lb.service", "ExecStart=/usr/sbin/haproxy -f x")
    assert found(tmp_path) == Path("/")
    unit(tmp_path / "units", "lb.service", "WorkingDirectory=/etc", "WorkingDirectory=-/usr")
    assert found(tmp_path) == Path("/usr")
    unit(tmp_path / "units", "lb.service", "WorkingDirectory=%h")
    assert found(tmp_path) is None


def test_of_a_unit_whose_processes_are_invisible(tmp_path: Path) -> None:
    unit(tmp_path / "units", "haproxy.service", f"ExecStart=/usr/sbin/haproxy -Ws -C {tmp_path} -f x")
    assert found(tmp_path, "haproxy.service") == found(tmp_path, "haproxy.service", None) == tmp_path


def test_another_process_of_the_pid(tmp_path: Path) -> None:
    process(tmp_path / "proc", 7, "python", 1, tmp_path)
    assert found(tmp_path, worker=Worker(7, BOOTED + 5000.0)) is None


def test_a_worker_that_has_exited(tmp_path: Path) -> None:
    directory = WorkingDirectory("", [], tmp_path / "proc")
    assert directory.find(WORKER) is None and directory.last is None
    process(tmp_path / "proc", 7, "haproxy", 1, tmp_path)
    assert directory.find(WORKER) == tmp_path
    (tmp_path / "proc/7/stat").unlink()
    assert directory.find(WORKER) == directory.find(None) == directory.last == tmp_path


def test_a_directory_of_another_mount_namespace(tmp_path: Path) -> None:
    process(tmp_path / "proc", 7, "haproxy", 1, tmp_path / "none")
    assert found(tmp_path) is None
