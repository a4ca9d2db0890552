"""A real etcd of one member, without authentication, on ports of 127.0.0.1."""

import signal
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Self

from demo.children import start, stop
from tests.haproxy.binaries import program
from tests.haproxy.process import free_port
from tests.until import until


class EtcdMember:
    def __init__(self, directory: Path) -> None:
        self.data, self._log = directory / "etcd", directory / "etcd.log"
        self.url, self._peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))

    def start(self) -> Self:
        words = [program("etcd"), "--data-dir", str(self.data), "--listen-client-urls", self.url, "--advertise-client-urls", self.url]
        words += [
            "--listen-peer-urls",
            self._peer,
            "--initial-advertise-peer-urls",
            self._peer,
            "--initial-cluster",
            f"default={self._peer}",
        ]
        self.process = start(words, self._log)
        until(self._answers)
        return self

    def stop(self) -> None:
        """End it; the data stay for another `start`."""
        self.process.send_signal(signal.SIGCONT)
        stop(self.process, 20)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=5) as response:
                return b"true" in response.read()
        except OSError:
            return False

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
