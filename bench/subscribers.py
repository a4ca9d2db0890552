"""Measure readers of `/v3/sidecar/events` with a HAProxy 3.4 that logs the states of 5,000 servers to a ring: the delay of an event at one
and at a thousand readers, their cost, and the time that a hundred readers add to a change of a weight.
"""

import multiprocessing
import select
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import cycle
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import quantiles

from bench.connection import AUTHORIZATION
from bench.farm import PER_BACKEND, Farm, text
from bench.plan import Effort
from bench.subject import CONFIGURATION, Subject, running
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, ask, free_port

VERSION, SERVERS = "3.4", 5000
ROWS = SOONEST, SOON, MEMORY, BESIDE = (
    "an event at one reader, p99",
    "an event at all readers, p99",
    "memory of readers of events",
    "change beside 100 who read events / change, p99",
)
BESIDES, BLOCKS = 100, 4
RING = "\nring state-events\n    format raw\n    maxlen 1024\n    size 1048576\n"
REQUEST = "GET /v3/sidecar/events{} HTTP/1.1\r\nHost: bench\r\nAuthorization: Basic " + AUTHORIZATION + "\r\n\r\n"
EVENT = b"event: server\n"
# Between two changes, so that each event is one of its own.
PAUSE, PATIENCE = 0.05, 20.0


def subscribers(command: str, work: Effort) -> dict[str, float]:
    """No rows where there is no such HAProxy. Raises AssertionError where an event does not reach a reader."""
    if not binaries.fetched(VERSION):
        return {}
    with tempfile.TemporaryDirectory(prefix="bench-") as directory, _farm(Path(directory)) as site, ExitStack() as open_:
        subject = open_.enter_context(running(f"{command} -f {site.settings()}", site.port, site.directory))
        one = open_.enter_context(readers(site.port, 1))
        _until_watched(site, one)
        _changes(site, one, work.events)
        alone, before = _changes(site, one, work.events), subject.memory()
        every = open_.enter_context(readers(site.port, work.subscribers))
        among = _changes(site, every, work.events, one)
        memory = subject.memory() - before
        every.close()
        one.close()
        return {SOONEST: percentile(alone), SOON: percentile(among), MEMORY: memory, BESIDE: _beside(subject, site, work.events)}


def _beside(subject: Subject, site: Farm, number: int) -> float:
    """Return the ratio of the 99th percentiles of changes with and without readers, which are in a process of their own.

    Blocks of changes with and without readers alternate, so that a slow moment of the machine delays both.
    """
    context = multiprocessing.get_context("spawn")
    _weights(subject, site, number)
    alone: list[float] = []
    beside: list[float] = []
    for _ in range(BLOCKS):
        alone += _weights(subject, site, number)
        are_there = context.Event()
        process = context.Process(target=_read_all, args=(site.port, are_there), daemon=True)
        process.start()
        try:
            assert are_there.wait(PATIENCE)
            beside += _weights(subject, site, number)
        finally:
            process.kill()
            process.join()
    return percentile(beside) / percentile(alone)


def _read_all(port: int, are_there: Event) -> None:
    with readers(port, BESIDES, "") as all_:
        are_there.set()
        while True:
            all_.read(PATIENCE)


def _weights(subject: Subject, site: Farm, number: int) -> list[float]:
    """Seconds of each PUT of a weight."""
    taken, version = [], subject.version()
    for place in range(number):
        backend, name = site.server(place % SERVERS)
        for weight in (7, 11):
            body = site.server_body(place % SERVERS, weight)
            path = f"{CONFIGURATION}/backends/{backend}/servers/{name}?version={version}"
            taken.append(subject.connection.ask("PUT", path, body).seconds)
            version += 1
    return taken


def percentile(seconds: list[float]) -> float:
    return quantiles(seconds, n=100)[98] if len(seconds) > 1 else seconds[0]


@contextmanager
def _farm(directory: Path) -> Iterator[Farm]:
    lines = text(SERVERS).replace("global\n", "global\n    log ring@state-events format raw local0 notice\n", 1)
    config = lines.replace("defaults\n", "defaults\n    log global\n", 1) + RING
    with HAProxy(directory, config, binary=binaries.exactly(VERSION)) as haproxy:
        yield Farm(SERVERS, directory, haproxy, free_port())


class Readers:
    """`counts`: the events that each has read."""

    def __init__(self, port: int, number: int, query: str) -> None:
        self._poll = select.epoll()
        self._sockets: dict[int, socket.socket] = {}
        for _ in range(number):
            connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            connection.sendall(REQUEST.format(query).encode())
            self._sockets[connection.fileno()] = connection
        for descriptor, connection in self._sockets.items():
            head = b""
            while b": heartbeat" not in head:
                head += connection.recv(4096)
            connection.setblocking(False)
            self._poll.register(descriptor, select.EPOLLIN)
        self.counts = dict.fromkeys(self._sockets, 0)

    def read(self, seconds: float) -> list[int]:
        """What has come by then; the numbers of those that have an event more."""
        numbers = []
        for number, _ in self._poll.poll(seconds):
            if events := self._sockets[number].recv(1 << 16).count(EVENT):
                self.counts[number] += events
                numbers.append(number)
        return numbers

    def close(self) -> None:
        self._poll.close()
        for reader in self._sockets.values():
            reader.close()


@contextmanager
def readers(port: int, number: int, query: str = "?types=server") -> Iterator[Readers]:
    made = Readers(port, number, query)
    try:
        yield made
    finally:
        made.close()


def _until_watched(site: Farm, reader: Readers) -> None:
    """The first look at the servers publishes nothing. Changes one that no row does."""
    backend, name = site.server(0)
    for state in cycle(("maint", "ready")):
        ask(site.haproxy.stats, f"set server {backend}/{name} state {state}")
        if reader.read(0.5):
            return


def _changes(site: Farm, timed: Readers, number: int, *others: Readers) -> list[float]:
    """Seconds from each command to each of the readers."""
    taken = []
    for place in range(number):
        backend, name = site.server((place % (SERVERS // PER_BACKEND)) * PER_BACKEND + 1)
        for state in ("maint", "ready"):
            time.sleep(PAUSE)
            while any(subscriber.read(0) for subscriber in (timed, *others)):
                pass
            waiting, began = set(timed.counts), time.perf_counter()
            ask(site.haproxy.stats, f"set server {backend}/{name} state {state}")
            while waiting:
                assert time.perf_counter() - began < PATIENCE, f"{len(waiting)} readers have not got an event"
                here = timed.read(PATIENCE)
                taken += [time.perf_counter() - began] * len(waiting.intersection(here))
                waiting.difference_update(here)
    return taken
