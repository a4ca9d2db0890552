"""Kill the server, or the worker of HAProxy, during a change: at a random moment, or when a file has just changed."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import httpx2

from tests.haproxy.sidecar import Sidecar
from tests.until import polls


class Killer:
    """Kills during changes. `files` are the files that a change may write, in addition to the log of the server's database.

    The random moment depends on the usual duration of a change, which is measured in `timed`.
    """

    def __init__(self, sidecar: Sidecar, chance: random.Random, files: Sequence[Path]) -> None:
        self._sidecar, self._random = sidecar, chance
        self._files, self._log = files, [sidecar.directory / "dataplane/engine/state/state.db-wal"]
        self._took = [0.05]
        self._answered = threading.Event()
        self._kill: Callable[[], None] = lambda: None

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Measure the duration of a change that is not interrupted."""
        began = time.monotonic()
        yield
        self._took.append(time.monotonic() - began)

    def kill_during(self, change: Callable[[], object], *, worker: bool = False) -> None:
        """Begin a change, and kill the server or, with `worker`, HAProxy before or after the change is answered."""
        self._kill = self._kill_worker() if worker else self._sidecar.process.kill
        moment = self._random.uniform(0, 1.2) * sorted(self._took)[len(self._took) // 2]
        by_files, by_log = (partial(self._kill_when_changed, files) for files in (self._files, self._log))
        killing = threading.Thread(target=self._random.choice([self._kill_after, by_files, by_log]), args=(moment,))
        self._answered.clear()
        killing.start()
        try:
            with suppress(httpx2.TransportError):
                change()
        finally:
            self._answered.set()
            killing.join()
            (self._sidecar.haproxy if worker else self._sidecar).kill()

    def _kill_worker(self) -> Callable[[], None]:
        return partial(os.kill, self._sidecar.haproxy.worker_pid(), signal.SIGKILL)

    def _kill_after(self, moment: float) -> None:
        time.sleep(moment)
        self._kill()

    def _kill_when_changed(self, files: Sequence[Path], moment: float) -> None:
        """Kill shortly after one of the files has changed, or when the change was answered without a change of these files."""
        before, deadline = _look(files), time.monotonic() + 120
        while _look(files) == before and not self._answered.is_set() and time.monotonic() < deadline:
            pass
        self._kill_after(moment / 20)


def _look(files: Sequence[Path]) -> list[tuple[int, int, int]]:
    return [(found.st_ino, found.st_mtime_ns, found.st_size) for found in (file.stat() for file in files if file.exists())]


def wait_for_what_is_owed(sidecar: Sidecar) -> None:
    """Wait until the running process has the configuration of the file. If necessary, the server reloads HAProxy by itself."""
    for _ in polls("the running process still differs from the file"):
        plan = sidecar.post("/v3/sidecar/plan", sidecar.get("raw").text).json()
        if not plan["commands"] and not plan["reload"]:
            return
