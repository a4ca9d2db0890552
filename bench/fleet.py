"""Measure a fleet: nodes with real HAProxies and one etcd, all of them on this machine.

Times depend on how many processors the nodes share, so the time of a release is compared with that of its checks in the same run.
"""

import asyncio
import os
import subprocess
import tempfile
import time
import zlib
from contextlib import ExitStack
from pathlib import Path
from statistics import quantiles
from typing import Any

from bench.farm import farm, text
from bench.plan import Effort
from bench.subject import Subject, running
from haproxy_native.features.fleet.etcd import EtcdSettings, EtcdStore
from haproxy_native.features.fleet.group import FleetGroup
from haproxy_native.features.fleet.release import BAD, DONE, GOOD
from haproxy_native.features.fleet.sealing import Keyring, new_secret, read_secret
from tests.acceptance.fleets import CONFIG, FLEET, Fleet, number
from tests.haproxy import binaries
from tests.haproxy.etcd import EtcdMember
from tests.haproxy.forwarder import Forwarder
from tests.until import until

PATH = "/dataplaneapi/edge"
ROWS = RELEASE, RATIO, HEARD, BACK, CAUGHT_UP, READS, WRITES, WRITES_OF_NODE, BYTES, MEMORY = (
    "release to 20 nodes, slowest",
    "release to 20 nodes / 1 s and its checks",
    "head written, 100 members know, p95",
    "bad release, from verdict to all back",
    "catching up once etcd answers",
    "requests of a quiet node, a second",
    "writes of a quiet fleet, an hour",
    "writes of a node for a release",
    "bytes of a node for a release / compressed text",
    "memory of a member beyond a server alone",
)
# A release as large as that of a thousand backends with five servers each.
SERVERS = 5000


def of_fleet(command: str, work: Effort) -> dict[str, float]:
    """Return the rows. Raises AssertionError if a bad release changes a node after the first stage."""
    rows = {MEMORY: _memory(command, work)}
    names = [f"lb{each + 1:02}" for each in range(work.nodes)]
    with tempfile.TemporaryDirectory(prefix="bench-") as directory, ExitStack() as stack:
        fleet = stack.enter_context(Fleet(Path(directory), CONFIG, names=names))
        forwarder = stack.enter_context(Forwarder(int(fleet.etcd.url.rpartition(":")[2])))
        (last := fleet.nodes[-1]).stop()
        last.set_fleet(endpoints=[forwarder.url])
        last.start()
        bench = FleetBench(fleet, forwarder, names)
        until(bench.are_present)
        seconds = [bench.release(11 + each % 200) for each in range(work.releases)]
        checks = bench.check_seconds() * len(names) / (os.cpu_count() or 1)
        rows |= {RELEASE: max(seconds), RATIO: max(seconds) / (1 + checks)}
        rows[HEARD] = asyncio.run(bench.heard(work.watchers, work.events))
        rows[BACK] = asyncio.run(bench.back_seconds())
        rows[CAUGHT_UP] = max(bench.catch_up(100 + each) for each in range(min(work.releases, 3)))
        rows |= bench.quiet(work.quiet)
        rows |= bench.large_release()
    return {row: rows[row] for row in ROWS}


class FleetBench:
    """A fleet, of which the last node reaches etcd through a forwarder."""

    def __init__(self, fleet: Fleet, forwarder: Forwarder, names: list[str]) -> None:
        self._fleet, self._forwarder, self._names = fleet, forwarder, names
        self._first, self._last = fleet.nodes[0], fleet.nodes[-1]
        self._keyring = Keyring("edge", [read_secret(Path(path).read_text()) for path in fleet.settings["keys"]])

    def _group(self) -> FleetGroup:
        return FleetGroup(EtcdStore(EtcdSettings([self._fleet.etcd.url])), self._keyring, PATH)

    def release(self, weight: int, **body: Any) -> float:
        """Return the seconds from the request for a release until it is done: each node has reported that it runs it."""
        self._first.set_weight(weight)
        expected = number(self._first) + 1
        began = time.perf_counter()
        assert (made := self._first.release(stages=["100%"], **body)).status_code == 202, made.text
        asyncio.run(self._until_done(expected))
        seconds = time.perf_counter() - began
        assert {node.weight() for node in self._fleet.nodes} == {str(weight)}
        return seconds

    async def _until_done(self, expected: int) -> None:
        group = self._group()
        async for _ in group.changes():
            head, _ = await group.head()
            assert head
            assert head.release.number == expected
            if head.state == DONE:
                break
        await group.close()

    def check_seconds(self) -> float:
        """Return the seconds of one `haproxy -c`: the least of five."""
        haproxy, taken = self._first.haproxy, []
        for _ in range(5):
            began = time.perf_counter()
            subprocess.run([haproxy.binary, "-c", "-f", str(haproxy.file)], check=True, capture_output=True, cwd=haproxy.directory)
            taken.append(time.perf_counter() - began)
        return min(taken)

    async def heard(self, watchers: int, puts: int) -> float:
        """Return the 95th percentile of the seconds from a write of a key until each watcher has been notified."""
        groups, taken, began = [self._group() for _ in range(watchers)], list[float](), 0.0
        ready, key = asyncio.Semaphore(0), f"{PATH}/head"

        async def watch(group: FleetGroup) -> None:
            async for _ in group.changes():
                taken.append(time.perf_counter() - began)
                ready.release()

        tasks, store = [], EtcdStore(EtcdSettings([self._fleet.etcd.url]))
        for group in groups:
            tasks.append(asyncio.create_task(watch(group)))
            await ready.acquire()
        taken.clear()
        entry = await store.read(key)
        assert entry
        for _ in range(puts):
            began = time.perf_counter()
            assert await store.replace(key, entry.value)
            for _ in range(watchers):
                await ready.acquire()
            # The nodes of the fleet have read the head, too.
            await asyncio.sleep(0.2)
        for task in tasks:
            task.cancel()
        for group in groups:
            await group.close()
        await store.close()
        return quantiles(taken, n=20)[-1] if len(taken) > 1 else taken[0]

    async def back_seconds(self) -> float:
        """Return the seconds from the verdict of the first node until all nodes run the former text.

        The release adds a check to a server that is down. Only the node that made it and the first stage may write a file or reload.
        """
        before, others = number(self._first), self._fleet.nodes[2:]
        states = [(node.file_state(), node.reloads()) for node in others]
        assert self._first.put_server("a", {"check": "enabled", "inter": 50, "fall": 1}).status_code in (200, 202)
        answer = self._first.release(stages=["1", "100%"], guard={"ready": True}, bake="1h")
        assert answer.status_code == 202, answer.text
        group, verdict = self._group(), 0.0
        while True:
            reports = await group.reports()
            verdict = verdict or (time.perf_counter() if reports[self._names[1]]["phase"] == BAD else 0.0)
            if verdict and all((each["number"], each["phase"]) == (before + 2, GOOD) for each in reports.values()):
                break
            await asyncio.sleep(0.02)
        seconds = time.perf_counter() - verdict
        await group.close()
        assert states == [(node.file_state(), node.reloads()) for node in others], "a later stage was changed"
        return seconds

    def catch_up(self, weight: int) -> float:
        """Return the seconds from when etcd answers a node again until its HAProxy has the release that it has missed."""
        self._forwarder.is_cut = True
        # Until its lease has ended.
        until(lambda: not self.are_present())
        self._first.set_weight(weight)
        expected = number(self._first) + 1
        assert (made := self._first.release(stages=["100%"])).status_code == 202, made.text
        until(lambda: self._first.is_done(expected))
        began = time.perf_counter()
        self._forwarder.is_cut = False
        while self._last.weight() != str(weight):
            time.sleep(0.01)
        seconds = time.perf_counter() - began
        until(self.are_present)
        return seconds

    def are_present(self) -> bool:
        """Return whether all nodes are present."""
        return all(row["present"] for row in self._first.fleet()["nodes"])

    def quiet(self, seconds: float) -> dict[str, float]:
        """Return the requests of a node a second, and the writes of all nodes an hour, while nothing happens."""
        time.sleep(min(seconds, 20.0))
        raft, before = self._raft_index(), len(self._forwarder.requests)
        time.sleep(seconds)
        requests, writes = len(self._forwarder.requests) - before, self._raft_index() - raft
        return {READS: requests / seconds, WRITES: writes * 3600 / seconds}

    def large_release(self) -> dict[str, float]:
        """Return what a node sends and receives for a release of a large text, and how often it writes."""
        body = text(SERVERS)
        config = CONFIG + body[body.index("\nbackend b0\n") : body.index("\nfrontend rules\n")]
        assert self._first.post("raw", config, version=self._first.version(), force_reload=True).status_code in (201, 202)
        expected, before = number(self._first) + 1, len(self._forwarder.requests)
        assert (made := self._first.release(stages=["100%"])).json().get("left_out") == [], made.text
        until(lambda: self._first.is_done(expected) and self._last.phase() == "good")
        requests = self._forwarder.requests[before:]
        transferred, writes = sum(size for _, size in requests), sum(path.endswith("/txn") for path, _ in requests)
        return {BYTES: transferred / len(zlib.compress(config.encode())), WRITES_OF_NODE: float(writes)}

    def _raft_index(self) -> int:
        return int(self._fleet.etcd.ask("maintenance/status")["raftIndex"])


def _memory(command: str, work: Effort) -> float:
    """Return the MiB that a member has more than a server without a fleet, with the same HAProxy, at rest."""
    with tempfile.TemporaryDirectory(prefix="bench-") as directory, EtcdMember(Path(directory)) as etcd:
        site = farm(100, Path(directory), binaries.newest())
        (key := Path(directory) / "fleet.key").write_text(new_secret())
        key.chmod(0o600)
        fleet = f"fleet: {{group: edge, node: lb1, endpoints: ['{etcd.url}'], keys: [{key}]}}\n"
        with site.haproxy:
            memory = []
            for more in ("", fleet):
                (settings := site.settings()).write_text(settings.read_text() + more)
                with running(f"{command} -f {settings}", site.port, site.directory) as subject:
                    if more:
                        subject.connection.ask("POST", f"{FLEET}/init", {})
                    memory.append(_at_rest(subject, work))
        return memory[1] - memory[0]


def _at_rest(subject: Subject, work: Effort) -> float:
    for _ in range(20):
        subject.version()
    time.sleep(work.rest)
    return subject.memory()
