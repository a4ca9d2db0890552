"""A real etcd on ports of 127.0.0.1: one member, or a cluster of three."""

import json
import signal
import ssl
import urllib.request
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from demo.children import start, stop
from tests.haproxy.binaries import program
from tests.haproxy.process import free_port
from tests.until import until


class EtcdMember:
    """One process of etcd. `version` names its program for get-program. `options` are further options. With `tls`, clients use https."""

    def __init__(
        self,
        directory: Path,
        *options: str,
        version: str = "etcd",
        name: str = "default",
        peers: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.data, self._log = directory / "etcd", directory / "etcd.log"
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{free_port()}"
        peers = peers or {name: f"http://127.0.0.1:{free_port()}"}
        self._version, self._tls = version, tls
        given = {
            "name": name,
            "data-dir": str(self.data),
            "listen-client-urls": self.url,
            "advertise-client-urls": self.url,
            "listen-peer-urls": peers[name],
            "initial-advertise-peer-urls": peers[name],
            "initial-cluster": ",".join(f"{each}={url}" for each, url in peers.items()),
        }
        self._options = [*(f"--{option}={value}" for option, value in given.items()), *options]

    def launch(self) -> None:
        """Start the process without waiting for an answer."""
        self.process = start([program(self._version), *self._options], self._log)

    def start(self) -> Self:
        self.launch()
        until(self.answers)
        return self

    def stop(self) -> None:
        """End the process. Its data stay for another `start`."""
        self.process.send_signal(signal.SIGCONT)
        stop(self.process, 20)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def answers(self) -> bool:
        """Return whether the cluster has a leader."""
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=5, context=self._tls) as response:
                return b"true" in response.read()
        except OSError:
            return False

    def ask(self, path: str, token: str = "", **body: Any) -> dict[str, Any]:
        """Call the JSON gateway, and return its answer."""
        headers = {"Authorization": token} if token else {}
        request = urllib.request.Request(f"{self.url}/v3/{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=20, context=self._tls) as response:
            return dict(json.loads(response.read()))

    def free_space(self) -> None:
        """Let etcd accept writes again after it was full and keys were deleted: compact, defragment, and disarm the alarm."""
        self.ask("kv/compaction", revision=self.ask("maintenance/status")["header"]["revision"], physical=True)
        self.ask("maintenance/defragment")
        for alarm in self.ask("maintenance/alarm", action="GET").get("alarms", ()):
            self.ask("maintenance/alarm", action="DEACTIVATE", **alarm)

    def is_leader(self) -> bool:
        status = self.ask("maintenance/status")
        return bool(status["leader"] == status["header"]["member_id"])

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


class EtcdCluster:
    """A cluster of three members."""

    def __init__(self, directory: Path, version: str = "etcd") -> None:
        peers = {f"etcd{number}": f"http://127.0.0.1:{free_port()}" for number in (1, 2, 3)}
        for name in peers:
            (directory / name).mkdir()
        self.members = [EtcdMember(directory / name, version=version, name=name, peers=peers) for name in peers]

    @property
    def urls(self) -> list[str]:
        return [member.url for member in self.members]

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for member in self.members:
                member.launch()
                stack.callback(member.stop)
            for member in self.members:
                until(member.answers)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()
