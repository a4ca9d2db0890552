"""Let tests mount file systems: a plugin of pytest that runs the tests marked `mounts` in a separate process.

A thread that enters a mount namespace no longer shares files and the working directory with the other threads of its process. The process
of the other tests therefore never enters a namespace. For each file with marked tests, the plugin starts another pytest with
`unshare --mount`, which runs these tests and writes their reports, one line of JSON each, to a pipe. The plugin passes the reports on as if
the tests had run in this process. When the other process ends, its namespace and all its mounts disappear.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

import pytest

from tests.haproxy.process import die_with_parent

# The environment variable with the file descriptor to which the process in the namespace writes reports.
REPORTS = "MOUNTS_REPORTS"
UNSHARE = ["unshare", "--mount", "--propagation", "private"]


@cache
def why_not() -> str:
    """Return why this process cannot mount anything, usually because it is not root; '' if it can."""
    try:
        done = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        return str(error)
    return done.stderr.strip() if done.returncode else ""


def register(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "mounts: mounts file systems, and therefore runs in a mount namespace of its own")
    config.pluginmanager.register(Reporter(config) if REPORTS in os.environ else Mounts())


class Reporter:
    """The plugin in the process within the namespace. Writes each report."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._file = open(int(os.environ.pop(REPORTS)), "w")  # noqa: SIM115

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        print(json.dumps(data), file=self._file, flush=True)

    def pytest_unconfigure(self) -> None:
        self._file.close()


class Mounts:
    """The plugin in the process of the other tests. Lets another process run the marked tests."""

    def __init__(self) -> None:
        # The process for the file whose tests are running.
        self._run: Run | None = None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            if item.get_closest_marker("mounts") and why_not():
                item.add_marker(pytest.mark.skip(reason=f"no mounts here: {why_not()}"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if not item.get_closest_marker("mounts") or why_not():
            return None
        if self._run is None or self._run.path != item.path:
            self.close()
            self._run = Run(item)
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in self._run.reports(item):
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        # Ends the fixtures that earlier tests of the file have set up in this process.
        item.session._setupstate.teardown_exact(nextitem)
        return True

    def pytest_sessionfinish(self) -> None:
        self.close()

    def close(self) -> None:
        if self._run:
            self._run.close()
        self._run = None


class Run:
    """Another process that runs the marked tests in the file of `first`."""

    def __init__(self, first: pytest.Item) -> None:
        self.path, self._config = first.path, first.config
        marked = [each.nodeid for each in first.session.items if each.path == first.path and each.get_closest_marker("mounts")]
        self._directory = tempfile.TemporaryDirectory(prefix="mounts-", ignore_cleanup_errors=True)
        self._output = Path(self._directory.name, "output").open("w+")  # noqa: SIM115
        is_shown = self._config.getoption("capture") == "no"
        words = [*UNSHARE, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "", *(["-s"] if is_shown else [])]
        words += ["--basetemp", f"{self._directory.name}/tests", *marked]
        reading, writing = os.pipe()
        self._process = subprocess.Popen(
            words,
            cwd=self._config.rootpath,
            env={**os.environ, REPORTS: str(writing)},
            pass_fds=[writing],
            stdin=subprocess.DEVNULL,
            stdout=None if is_shown else self._output,
            stderr=None if is_shown else subprocess.STDOUT,
            preexec_fn=die_with_parent,
        )
        os.close(writing)
        self._lines: IO[str] = open(reading)  # noqa: SIM115

    def reports(self, item: pytest.Item) -> Iterator[pytest.TestReport]:
        """Yield the reports of a test as they arrive. If the process ends early, yield a report of that failure."""
        for line in self._lines:
            report = self._config.hook.pytest_report_from_serializable(config=self._config, data=json.loads(line))
            assert isinstance(report, pytest.TestReport) and report.nodeid == item.nodeid, (report, item.nodeid)
            if isinstance(report.longrepr, list):
                # Of a skipped test: JSON has no tuples.
                report.longrepr = tuple(report.longrepr)
            yield report
            if report.when == "teardown":
                return
        self._output.seek(0)
        yield pytest.TestReport(
            item.nodeid, item.location, {}, "failed", f"pytest in a mount namespace ended:\n{self._output.read()}", when="call"
        )

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        self._lines.close()
        self._output.close()
        self._directory.cleanup()


def mount(*arguments: str | Path) -> None:
    done = subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no such mount here: mount {' '.join(map(str, arguments))}: {done.stderr.strip()}")


def remount(directory: Path, how: str) -> None:
    """Remount a file system as `ro` or `rw`. Raises CalledProcessError for `ro` while a process has a file open for writing."""
    subprocess.run(["mount", "-o", f"remount,{how}", directory], check=True)


def memory(directory: Path, kibibytes: int = 16384) -> None:
    """Mount a tmpfs of this size."""
    mount("-t", "tmpfs", "-o", f"size={kibibytes}k", "tmpfs", directory)


def overlay(lower: Path, upper: Path, merged: Path) -> None:
    """Mount an overlay at `merged`, whose changes to `lower` are on a tmpfs at `upper`. Both must be empty directories."""
    memory(upper)
    for name in ("changes", "work"):
        (upper / name).mkdir()
    mount("-t", "overlay", "-o", f"lowerdir={lower},upperdir={upper}/changes,workdir={upper}/work", "overlay", merged)


def coarse(directory: Path, image: Path) -> None:
    """Mount a file system whose timestamps are whole seconds, as those of old disks and some file servers are."""
    subprocess.run(["mkfs.ext4", "-q", "-I", "128", image, "8m"], check=True, capture_output=True)
    mount("-o", "loop", image, directory)


def fill(directory: Path, leave: int) -> Path:
    """Fill a mount except for `leave` bytes, a multiple of 4096. Return the file that fills it."""
    ballast = directory / "ballast"
    ballast.unlink(missing_ok=True)
    with ballast.open("wb", buffering=0) as file:
        with suppress(OSError):
            while file.write(bytes(4096)) == 4096:
                pass
        # The free space of a tmpfs from statvfs(2) is not exact.
        file.truncate(max(file.tell() - leave, 0))
    return ballast
