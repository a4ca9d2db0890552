"""Kill the server while it changes several files of one configuration.

Each file must be complete at once, unless it can only be written in place. After a restart all must be old, or all must be new.
"""

import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from tests.acceptance import mounts
from tests.acceptance.killer import Killer, wait_for_what_is_owed
from tests.acceptance.quick import PLAIN, Quick
from tests.acceptance.test_kill import BULK, HEADER
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy

# Each file has a value that a change of all files changes.
FILES = {
    "haproxy.cfg": PLAIN.replace("timeout connect 1s", "timeout connect {queue}ms"),
    "10-shop.cfg": "backend shop from plain\n    timeout queue {queue}ms\n    server one 127.0.0.1:1 weight {weight}\n",
    "20-api.cfg": "# the partners'\nbackend api from plain\n    server one 127.0.0.1:1 weight {weight}   # theirs\n",
}
State = tuple[int, int]


class Commits:
    """Makes commits that change one file, two files or all. `asked` are the texts of the last commit."""

    def __init__(self, sidecar: Quick, seed: int) -> None:
        self.sidecar, self.random = sidecar, random.Random(seed)
        self.paths = {name: sidecar.directory / ("" if name == "haproxy.cfg" else "conf.d") / name for name in FILES}
        self.stands = self.asked = (1001, 1)
        self.version = 1
        self.killer = Killer(sidecar, self.random, list(self.paths.values()))
        self.found: set[bool] = set()
        self.apart = 0

    def text(self, name: str, state: State) -> str:
        return written(name, state, str(self.sidecar.haproxy.stats))

    def next(self) -> None:
        queue, weight = self.stands
        self.asked, edits = self.random.choice(
            [
                ((queue, weight % 255 + 1), [self._weight]),
                ((queue % 1000 + 1001, weight), [self._queue]),
                ((queue % 1000 + 1001, weight % 255 + 1), [self._weight, self._queue]),
            ]
        )
        with self.killer.timed():
            transaction = self.sidecar.transaction()
            for edit in edits:
                edit(transaction)
            answer = self.sidecar.commit(transaction)
            assert answer.is_success, answer.text
        self.stands, self.version = self.asked, self.version + 1

    def _weight(self, transaction: str) -> None:
        for backend in ("shop", "api"):
            self._taken(self.sidecar.put_server("one", {"weight": self.asked[1]}, backend, transaction_id=transaction))

    def _queue(self, transaction: str) -> None:
        shop = {"name": "shop", "from": "plain", "queue_timeout": self.asked[0]}
        self._taken(self.sidecar.put("backends/shop", shop, transaction_id=transaction))
        plain = {**self.sidecar.get("defaults/plain").json(), "connect_timeout": self.asked[0]}
        self._taken(self.sidecar.put("defaults/plain", plain, transaction_id=transaction))

    def _taken(self, answer: httpx2.Response) -> None:
        assert answer.status_code == 202, answer.text

    def check_dead(self) -> None:
        """Assert, before the restart of the server, that each file is completely old or completely new."""
        new = set()
        for name, path in self.paths.items():
            body = HEADER.sub("", path.read_text(), count=1)
            assert body in (self.text(name, self.stands), self.text(name, self.asked)), path
            if self.text(name, self.stands) != self.text(name, self.asked):
                new.add(body == self.text(name, self.asked))
        self.apart += len(new) == 2

    def check_alive(self) -> None:
        """Assert that all files have the same state and version, and that no temporary files are left."""
        bodies = {name: HEADER.sub("", path.read_text(), count=1) for name, path in self.paths.items()}
        assert bodies in [{name: self.text(name, state) for name in FILES} for state in (self.stands, self.asked)]
        is_new = bodies["haproxy.cfg"] == self.text("haproxy.cfg", self.asked) and bodies["20-api.cfg"] == self.text(
            "20-api.cfg", self.asked
        )
        self.found.add(is_new)
        if is_new and self.stands != self.asked:
            self.version += 1
        self.stands = self.asked if is_new else self.stands
        assert self.sidecar.version() == self.version
        if header := HEADER.match(self.paths["haproxy.cfg"].read_text()):
            assert int(header[2]) == self.version
        assert list((self.sidecar.directory / "dataplane" / "engine").glob("*.manifest")) == []

    def settle(self) -> None:
        """Wait until the process has the configuration of the files, as the server ensures without a request."""
        wait_for_what_is_owed(self.sidecar)
        for backend in ("shop", "api"):
            server = self.sidecar.server("one", backend)
            assert server
            assert server.uweight == self.stands[1]


def written(name: str, state: State, stats: str) -> str:
    queue, weight = state
    text = FILES[name].replace("{queue}", str(queue)).replace("{weight}", str(weight))
    return text.replace("{{stats}}", stats) + BULK


@pytest.fixture
def sidecar(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Quick]:
    conf = tmp_path / "conf.d"
    conf.mkdir()
    for name in ("10-shop.cfg", "20-api.cfg"):
        (conf / name).write_text(written(name, (1001, 1), ""))
    main = written("haproxy.cfg", (1001, 1), "{stats}")
    haproxy = HAProxy(tmp_path, main, binary=binaries.exactly("3.2"), arguments=("-f", str(conf)))
    with ExitStack() as stack:
        if request.param == "mounted":
            for path in (haproxy.file, *conf.iterdir()):
                mounts.mount("--bind", path, path)
        stack.enter_context(haproxy)
        yield stack.enter_context(Quick(haproxy, delay=3000, settings={"config_files_after": [str(conf)]}))


ROWS = [
    pytest.param("replaced", 8, 2, 2026),
    *(pytest.param("replaced", 1200, 300, seed, marks=pytest.mark.soak) for seed in range(2)),
    *(pytest.param("mounted", 800, 200, seed, marks=[pytest.mark.soak, pytest.mark.mounts]) for seed in range(2)),
]


@pytest.mark.parametrize(("sidecar", "commits", "kills", "seed"), ROWS, indirect=["sidecar"])
def test_a_killed_server_leaves_all_old_or_all_new(
    sidecar: Quick, commits: int, kills: int, seed: int, request: pytest.FixtureRequest
) -> None:
    mounted = "mounted" in request.node.callspec.id
    run = Commits(sidecar, seed)
    fatal = set(run.random.sample(range(commits), kills))
    for number in range(commits):
        if number not in fatal:
            run.next()
            continue
        run.killer.kill_during(run.next)
        if not mounted:
            run.check_dead()
        sidecar.start()
        run.check_alive()
    run.settle()
    print(f"{run.apart} times some were old and some new until the restart")
    if kills >= 100:
        assert run.found == {False, True}, "some kills came too early, some too late"
        assert run.apart or mounted
