"""Kill the server at random moments of its commits. Afterwards the file must be completely the old or the new one.

No answered change may be lost. After its restart, the server must apply or reload the changes that HAProxy does not have yet.
"""

import hashlib
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.killer import Killer
from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy

CONFIG = (
    PLAIN
    + """\
backend app from plain
    timeout queue {queue}ms
    server one 127.0.0.1:1 weight {weight}
    server two 127.0.0.1:2
"""
)
# A text so long that a write takes some time.
BULK = "".join(f"# line {number} of what an operator has noted over the years\n" for number in range(1000))
HEADER = re.compile(r"# _md5hash=(\w+)\n# _version=(\d+)\n(?:# [dD]ataplane.*\n# changing file.*\n)?", re.ASCII)
QUEUE = re.compile(r"timeout queue (\d+)ms")
WEIGHT = re.compile(r"weight (\d+)")


class Commits:
    """Makes commits, each with a text that differs from the one before. `asked` is the text of the last commit."""

    def __init__(self, sidecar: Quick, seed: int) -> None:
        self.sidecar, self.random = sidecar, random.Random(seed)
        self.stands = self.asked = (1001, 1)
        self.version = 1
        self.killer = Killer(sidecar, self.random, [sidecar.haproxy.file])
        self.found: set[int] = set()

    def text(self, state: tuple[int, int]) -> str:
        queue, weight = state
        return CONFIG.format(queue=queue, weight=weight).replace("{stats}", str(self.sidecar.haproxy.stats)) + BULK

    def next(self) -> None:
        """Make the next change: at runtime, by a reload, both in a transaction, or as a whole text."""
        queue, weight = self.stands
        more = (queue + 1 if queue % 1000 != 999 else queue + 2, weight)
        other = (queue, weight % 255 + 1)
        both = (more[0], other[1])
        wanted = [(other, self._weight), (more, self._queue), (both, self._transaction), (both, self._raw)]
        self.asked, commit = self.random.choice(wanted)
        with self.killer.timed():
            answer = commit()
            assert answer.is_success, answer.text
        self.stands, self.version = self.asked, self.version + 1

    def _weight(self, **where: object) -> httpx2.Response:
        body = {"name": "one", "address": "127.0.0.1", "port": 1, "weight": self.asked[1]}
        return self.sidecar.put("backends/app/servers/one", body, **(where or {"version": self.version}))

    def _queue(self, **where: object) -> httpx2.Response:
        body = {"name": "app", "from": "plain", "queue_timeout": self.asked[0]}
        return self.sidecar.put("backends/app", body, **(where or {"version": self.version}))

    def _transaction(self) -> httpx2.Response:
        transaction = self.sidecar.transaction()
        assert self._weight(transaction_id=transaction).status_code == 202
        assert self._queue(transaction_id=transaction).status_code == 202
        return self.sidecar.commit(transaction)

    def _raw(self) -> httpx2.Response:
        return self.sidecar.post("raw", self.text(self.asked), version=self.version)

    def next_and_kill(self) -> None:
        self.killer.kill_during(self.next)


def check_file(commits: Commits) -> None:
    """Assert that the file is completely the old or the new one, and the new one if the change was answered."""
    data = commits.sidecar.haproxy.file.read_bytes()
    text = data.decode()
    header = HEADER.match(text)
    if commits.version == 1 and header is None:
        assert text == commits.text(commits.stands)
        return
    assert header, text[:300]
    assert hashlib.md5(data.partition(b"\n")[2]).hexdigest() == header[1]
    version, body = int(header[2]), text[header.end() :]
    commits.found.add(version - commits.version)
    known = {commits.version: commits.stands, commits.version + 1: commits.asked}
    assert version in known
    assert body == commits.text(known[version])
    commits.stands, commits.version = known[version], version


def check_transactions(sidecar: Quick, kept: str) -> None:
    """Assert that all transactions can be read. The open one has its edit, unless another commit has made it outdated."""
    for transaction in sidecar.get(f"{SERVICES}/transactions").json():
        assert sidecar.get(f"{SERVICES}/transactions/{transaction['id']}").json() == transaction
    status = sidecar.get(f"{SERVICES}/transactions/{kept}").json()["status"]
    if status == "in_progress":
        assert [server["name"] for server in sidecar.get("backends/app/servers", transaction_id=kept).json()] == ["one", "two", "kept"]
    else:
        assert status == "outdated"
    assert sidecar.delete(f"{SERVICES}/transactions/{kept}").status_code == 204


def opened(sidecar: Quick) -> str:
    """Open a transaction with an edit that is never committed, and return its id."""
    transaction = sidecar.transaction()
    body = {"name": "kept", "address": "127.0.0.1", "port": 3}
    assert sidecar.post("backends/app/servers", body, transaction_id=transaction).status_code == 202
    return transaction


def check_history(commits: Commits) -> None:
    """Assert that the history has each version once, with its author, also if the request was not answered."""
    entries = commits.sidecar.get("/v3/sidecar/history", limit=20).json()
    versions = [entry["version"] for entry in entries]
    assert versions == list(range(commits.version, 1, -1))[:20], entries
    assert {entry["author"] for entry in entries} <= {"admin"}, entries


def settle(commits: Commits) -> None:
    """Wait until HAProxy has the configuration of the file, as the server ensures after a kill without a request."""
    deadline = time.monotonic() + 120
    sidecar = commits.sidecar
    while True:
        plan = sidecar.post("/v3/sidecar/plan", sidecar.get("raw").text).json()
        if not plan["commands"] and not plan["reload"]:
            break
        assert time.monotonic() < deadline, plan
        time.sleep(0.05)
    server = sidecar.server("one")
    assert server
    assert server.uweight == commits.stands[1]


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[Quick]:
    config = CONFIG.format(queue=1001, weight=1) + BULK
    with HAProxy(tmp_path, config, binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy, delay=3000) as running:
        yield running


@pytest.mark.parametrize(
    ("commits", "kills", "seed"), [(15, 3, 2026), *(pytest.param(1200, 300, seed, marks=pytest.mark.soak) for seed in range(4))]
)
def test_a_killed_server_leaves_the_old_file_or_the_new_one(sidecar: Quick, commits: int, kills: int, seed: int) -> None:
    run = Commits(sidecar, seed)
    fatal = set(run.random.sample(range(commits), kills))
    worker = sidecar.haproxy.worker_pid()
    for number in range(commits):
        if number not in fatal:
            run.next()
            continue
        kept = opened(sidecar)
        run.next_and_kill()
        check_file(run)
        sidecar.start()
        assert sidecar.version() == run.version
        check_transactions(sidecar, kept)
        check_history(run)
    settle(run)
    if kills >= 100:
        assert run.found == {0, 1}, "some kills came too early, some too late"
    assert sidecar.haproxy.worker_pid() != worker
    assert sorted(path.name for path in sidecar.haproxy.file.parent.glob("haproxy.cfg*")) == ["haproxy.cfg", "haproxy.cfg.lkg"]
