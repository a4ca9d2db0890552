"""Restart the server while clients connect. Accepted clients are answered; others are refused or wait for the next process.

A TCP socket of the server's own resets a client that connects in the microseconds between its last `accept` and its end.
"""

import itertools
import json
import os
import random
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from dataplaneapi.server.protocol import FIRST_CALL
from tests.app.authority import Authority
from tests.app.client import CONFIGURATION
from tests.app.handover import start
from tests.haproxy.forked import Forked, nursery
from tests.haproxy.process import free_port

SECONDS = 60
A_SECOND = 20
MOST_WAITING = 100
REQUEST = b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
Connect = Callable[[], socket.socket]


class Clients:
    """Opens connections at a rate. Each sends one request, some after a while. `outcomes` counts the outcomes.

    A connection without a request is closed FIRST_CALL seconds after a stop began: a client that did not get its turn for so long is
    not counted.
    """

    def __init__(self, connect: Connect) -> None:
        self._connect, self.outcomes = connect, Counter[str]()
        self._enough, self._threads = threading.Event(), list[threading.Thread]()
        self._random = random.Random(19)
        self._waiting = threading.Semaphore(MOST_WAITING)
        self._source = threading.Thread(target=self._come)

    def _come(self) -> None:
        due = time.monotonic()
        while not self._enough.is_set():
            # On a busy machine a start takes long. No more clients may wait for it than the server can answer in time.
            self._waiting.acquire()
            thread = threading.Thread(target=self._one, args=(self._random.choice((0.0, 0.0, 0.01, 0.1, 0.7)),))
            thread.start()
            self._threads.append(thread)
            due = max(due + 1 / A_SECOND, time.monotonic() - 0.5)
            self._enough.wait(due - time.monotonic())

    def _one(self, pause: float) -> None:
        try:
            self._ask(pause)
        finally:
            self._waiting.release()

    def _ask(self, pause: float) -> None:
        began, is_late = time.monotonic(), False
        try:
            client = self._connect()
        except ConnectionRefusedError:
            self.outcomes["refused"] += 1
            return
        except OSError as error:
            self.outcomes[f"not connected: {error!r}"] += 1
            return
        try:
            with client:
                time.sleep(pause)
                try:
                    client.sendall(REQUEST)
                finally:
                    is_late = time.monotonic() - began >= FIRST_CALL
                answer = b"".join(iter(lambda: client.recv(4096), b""))
            outcome = "answered" if answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"ok\n") else repr(answer[:200])
        except OSError as error:
            outcome = repr(error)
        if outcome == "answered" or not is_late:
            self.outcomes[outcome] += 1

    def answered(self, count: int) -> None:
        """Wait until `count` more clients were answered, or one has failed."""
        wanted = self.outcomes["answered"] + count
        while self.outcomes["answered"] < wanted and set(self.outcomes) <= {"answered", "refused"}:
            time.sleep(0.02)

    def __enter__(self) -> Self:
        self._source.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._enough.set()
        self._source.join()
        for thread in self._threads:
            thread.join(SECONDS)


class Restarted:
    """A server that is restarted on the same addresses. `sockets` are the sockets that a service manager passes to it."""

    def __init__(self, directory: Path, *sockets: socket.socket, **api: Any) -> None:
        self._sockets, self._numbers = sockets, itertools.count()
        self.directory, self.settings, self.log = directory, directory / "dataplaneapi.yaml", directory / "log"
        (directory / "haproxy.cfg").write_text(CONFIGURATION)
        own = {"host": "127.0.0.1", "user": [{"name": "admin", "password": "adminpwd", "insecure": True}]}
        own |= {"transaction": {"transaction_dir": str(directory / "transactions")}}
        own |= {"resources": {"dataplane_storage_dir": str(directory / "storage")}}
        haproxy = {"config_file": str(directory / "haproxy.cfg"), "reload": {"reload_cmd": "true", "validate_cmd": "true"}}
        targets = [{"log_to": "stdout", "log_level": "info"}]
        self.settings.write_text(json.dumps({"dataplaneapi": own | api, "haproxy": haproxy, "log_targets": targets}))
        self.process: subprocess.Popen[str] | Forked | None = None

    def start(self) -> None:
        log = self.directory / f"log-{next(self._numbers)}"
        log.touch()
        self.process = self._started(log)
        while "Serving data plane at" not in log.read_text():
            assert self.process.poll() is None, log.read_text()
            time.sleep(0.02)

    def _started(self, log: Path) -> subprocess.Popen[str] | Forked:
        words = ["-f", str(self.settings)]
        if not self._sockets:
            return nursery().start(words, log)
        with log.open("w") as output:
            command = [sys.executable, "-m", "dataplaneapi.cli", *words]
            return start(command, self._sockets, dict(os.environ), stdout=output, stderr=subprocess.STDOUT)

    def stop(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(SECONDS) == 0


@contextmanager
def served(server: Restarted) -> Iterator[Restarted]:
    server.start()
    try:
        yield server
    finally:
        if server.process is not None:
            server.process.kill()
            server.process.wait()


def restart(server: Restarted, connect: Connect, times: int) -> Counter[str]:
    with served(server), Clients(connect) as clients:
        for _ in range(times):
            clients.answered(10)
            server.stop()
            server.start()
        clients.answered(10)
    return clients.outcomes


def check(outcomes: Counter[str], times: int) -> None:
    """Assert that every client was answered or refused, except for at most one reset per restart."""
    resets = {outcome for outcome in outcomes if "ConnectionResetError" in outcome or "BrokenPipeError" in outcome}
    assert {*outcomes} - resets == {"answered", "refused"} and sum(outcomes[reset] for reset in resets) <= times, outcomes


def tcp(port: int) -> Connect:
    return lambda: socket.create_connection(("127.0.0.1", port), SECONDS)


@contextmanager
def handed_over() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
        yield listening


@pytest.mark.parametrize("times", [1, pytest.param(100, marks=pytest.mark.soak)])
def test_a_restart_refuses_no_client_where_a_service_manager_has_the_socket(tmp_path: Path, times: int) -> None:
    with handed_over() as listening:
        outcomes = restart(Restarted(tmp_path, listening), tcp(listening.getsockname()[1]), times)
    assert set(outcomes) == {"answered"}, outcomes


@pytest.mark.parametrize("times", [1, pytest.param(100, marks=pytest.mark.soak)])
def test_a_restart_refuses_clients_if_it_opens_its_own_socket(tmp_path: Path, times: int) -> None:
    port = free_port()
    check(restart(Restarted(tmp_path, port=port), tcp(port), times), times)


@pytest.mark.parametrize("times", [1, pytest.param(30, marks=pytest.mark.soak)])
def test_nor_on_its_unix_socket(tmp_path: Path, times: int) -> None:
    path = str(tmp_path / "api.sock")

    def connect() -> socket.socket:
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(SECONDS)
        try:
            client.connect(path)
        except FileNotFoundError:
            client.close()
            raise ConnectionRefusedError from None
        except BaseException:
            client.close()
            raise
        return client

    outcomes = restart(Restarted(tmp_path, scheme=["unix"], socket_path=path), connect, times)
    assert set(outcomes) == {"answered", "refused"}, outcomes


@pytest.mark.parametrize("times", [1, pytest.param(30, marks=pytest.mark.soak)])
def test_nor_within_a_handshake(tmp_path: Path, times: int) -> None:
    authority, port = Authority(tmp_path), free_port()
    certificate, key = authority.issue("server")
    trusting = ssl.create_default_context(cafile=str(authority.file))

    def connect() -> socket.socket:
        client = tcp(port)()
        try:
            return trusting.wrap_socket(client, server_hostname="localhost")
        except BaseException:
            client.close()
            raise

    tls = {"tls_port": port, "tls_certificate": str(certificate), "tls_key": str(key)}
    check(restart(Restarted(tmp_path, scheme=["https"], tls=tls), connect, times), times)
