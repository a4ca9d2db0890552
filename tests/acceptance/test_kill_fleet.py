"""Kill a node of a fleet with SIGKILL at each step of a release.

The node reaches etcd through a `Forwarder`, which kills it before or after one of its writes to the store. Steps on the disk of the node
are found by polling its files. After the kill, haproxy.cfg is completely old or new. After the restart, all nodes run the same release, and
none reports a release that it does not run.
"""

import base64
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from haproxy_native.features.fleet.sealing import Keyring, read_secret
from tests.acceptance.fleets import CONFIG, Fleet, Node, number
from tests.acceptance.killer import wait_for_what_is_owed
from tests.haproxy.forwarder import Forwarder
from tests.until import polls, until

# With comments that make a release two pieces in the store.
TEXT = CONFIG + "".join(f"# {each:04} {'x' * 1990}\n" for each in range(150))
PREFIX = "/dataplaneapi/edge/"
# The steps of the node that releases its text: the pieces of the text, then the head.
OF_ORIGIN = ["before object 1", "after object 1", "after object 2", "before head", "after head"]
# The steps of a node in a stage: its reports; drafts of haproxy.cfg for the check and for the commit; the new file; the new worker; and
# the writes to its database after it has reported that it is baking, as it confirms its change and becomes good.
OF_STAGE = [
    *(f"{side} {phase}" for phase in ("checked", "baking", "good") for side in ("before", "after")),
    "draft of the check",
    "draft",
    "rename",
    "worker",
    *(f"write {count}" for count in range(1, 6)),
]
QUICK = {"after head", "rename", "write 2"}


class Victim:
    """Kills a node once at a step. `died` is set when it is dead."""

    def __init__(self, node: Node, forwarder: Forwarder, keyring: Keyring) -> None:
        self.node, self._keyring = node, keyring
        self._step, self._objects = "", 0
        self._lock = threading.Lock()
        self.died = threading.Event()
        # Set after the node has reported the phase.
        self.reported = {phase: threading.Event() for phase in ("checked", "baking", "good")}
        forwarder.before = lambda path, body: self._notice("before", path, body)
        forwarder.after = lambda path, body: self._notice("after", path, body)

    def arm(self, step: str) -> None:
        self._objects = 0
        self.died.clear()
        for event in self.reported.values():
            event.clear()
        self._step = step
        if looking := self._looking(step):
            threading.Thread(target=looking, daemon=True).start()

    def disarm(self) -> None:
        self._step = ""

    def kill_at(self, step: str) -> None:
        """Kill the node, unless another step is armed meanwhile."""
        with self._lock:
            if self._step == step:
                self._step = ""
                self.node.process.kill()
                self.node.process.wait()
                self.died.set()

    def _notice(self, side: str, path: str, body: bytes) -> None:
        """Notice a write to the store, and kill the node if it is the step."""
        if not path.endswith("/txn"):
            return
        put = json.loads(body)["success"][0]["request_put"]
        key = base64.b64decode(put["key"]).decode()
        name = key.removeprefix(PREFIX).partition("/")[0]
        if name == "node":
            name = str(json.loads(self._keyring.decrypt(key, base64.b64decode(put["value"])))["phase"])
        elif name == "object":
            self._objects += side == "before"
            name = f"object {self._objects}"
        if self._step == (step := f"{side} {name}"):
            self.kill_at(step)
            raise ConnectionError
        elif side == "after" and name in self.reported:
            self.reported[name].set()

    def _looking(self, step: str) -> Callable[[], None] | None:
        """Return a function that kills the node when its files show the step; None for a step that they do not show."""
        file, words = self.node.haproxy.file, step.split()
        known, inode, worker = set(os.listdir(file.parent)), file.stat().st_ino, self.node.haproxy.newest_worker()
        log = self.node.directory / "dataplane/engine/state/state.db-wal"

        def has_draft() -> bool:
            return any(f".{file.name}." in each for each in {*os.listdir(file.parent)} - known)

        # The phase that the node has reported before the step, and what shows the step.
        conditions: dict[str, tuple[str, Callable[[], bool]]] = {
            "draft": ("" if "check" in words else "checked", has_draft),
            "rename": ("checked", lambda: file.stat().st_ino != inode),
            "worker": ("checked", lambda: self.node.haproxy.newest_worker() != worker),
            "write": ("baking", _counts(log, int(words[-1]) if words[0] == "write" else 0)),
        }
        if words[0] not in conditions:
            return None
        phase, is_reached = conditions[words[0]]

        def look() -> None:
            if phase:
                self.reported[phase].wait()
            while self._step == step and not is_reached():
                pass
            self.kill_at(step)

        return look


def _counts(file: Path, count: int) -> Callable[[], bool]:
    """Return a condition that is true once a file has changed `count` times."""
    seen: set[tuple[int, int]] = set()

    def is_reached() -> bool:
        with suppress(OSError):
            status = file.stat()
            seen.add((status.st_mtime_ns, status.st_size))
        return len(seen) > count

    return is_reached


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Fleet, dict[str, Victim]]]:
    """A fleet, and a victim for each node that is killed."""
    with Fleet(tmp_path_factory.mktemp("kills"), TEXT) as made, ExitStack() as stack:
        keyring = Keyring("edge", [read_secret(Path(path).read_text()) for path in made.settings["keys"]])
        victims = {}
        for name, node in zip(("lb1", "lb2"), made.nodes, strict=False):
            forwarder = stack.enter_context(Forwarder(int(made.etcd.url.rpartition(":")[2])))
            node.stop()
            node.set_fleet(endpoints=[forwarder.url])
            node.start()
            victims[name] = Victim(node, forwarder, keyring)
        yield made, victims


def text_of(node: Node) -> str:
    """Return the configuration without the header."""
    text = node.text()
    return text[text.index("global\n") :]


def restart(fleet: Fleet, node: Node, name: str) -> None:
    """Start a killed node, whose lease is made to end."""
    node.client.close()
    key = base64.b64encode(f"{PREFIX}alive/{name}".encode()).decode()
    fleet.etcd.ask("kv/deleterange", key=key)
    node.start()


def agree(fleet: Fleet, texts: set[str]) -> dict[str, Any]:
    """Wait until all nodes run one release, and return it. No node may report that it runs a release that it does not run."""
    for _ in polls("the nodes do not agree", seconds=240):
        shown = fleet.nodes[2].fleet()
        release, nodes = shown["release"], shown["nodes"]
        for node in nodes:
            if node["phase"] == "good" and node.get("number") == release["number"]:
                assert node["bundle"] == release["bundle"], node
        if release["state"] == "done" and all(node["phase"] == "good" and node["number"] == release["number"] for node in nodes):
            break
    found = {text_of(node) for node in fleet.nodes}
    assert len(found) == 1 and found <= texts
    for node in fleet.nodes:
        wait_for_what_is_owed(node)
        assert node.phase() == "good" and f"weight {node.weight()}\n" in text_of(node)
    return dict(release)


@pytest.mark.parametrize("step", [pytest.param(each, marks=() if each in QUICK else pytest.mark.soak) for each in OF_ORIGIN + OF_STAGE])
def test_a_node_killed_at_a_step_of_a_release(fleet: tuple[Fleet, dict[str, Victim]], step: str) -> None:
    made, victims = fleet
    lb1, _, lb3 = made.nodes
    name = "lb1" if step in OF_ORIGIN else "lb2"
    victim, first, old = victims[name], number(lb1), text_of(lb1)
    new = TEXT.replace("weight 10", f"weight {11 + first}").replace("server 5s", f"server {5000 + first}ms")
    assert lb1.post("raw", new, version=lb1.version(), force_reload=True).status_code in (201, 202)
    victim.arm(step)
    with suppress(httpx2.TransportError):
        answer = lb1.release(bake="1s")
        assert answer.status_code == 202, answer.text
    until(lambda: victim.died.is_set() or lb3.is_done(first + 1))
    victim.disarm()
    if victim.died.is_set():
        assert text_of(victim.node) in (old, new), "torn"
        restart(made, victim.node, name)
    else:
        # Two writes may look like one to a thread that does not run between them.
        assert step.startswith("write"), "the release was done before the step"
    # A release that was not in the store yet is made again by whoever requested it.
    until(lambda: number(lb1) > first or lb1.release().status_code == 202)
    release = agree(made, {old, new})
    assert release["number"] in (first + 1, first + 2), release
    if text_of(lb1) == new:
        assert release["number"] == first + 1 and "reason" not in release
    assert not list(victim.node.haproxy.file.parent.glob(".haproxy.cfg.*"))
