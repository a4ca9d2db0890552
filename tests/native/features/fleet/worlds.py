"""`World`: a model of a group of nodes and their store, in which faults happen at random. The seed determines them.

The model takes the steps of members one after the other, with the decisions of the state machine under test. Any step may be interrupted:
nodes are killed, disconnected or edited by hand; the store is unavailable, loses reports or is restored to an earlier state; nodes replace
the head after having read it long before. The invariants are asserted where a node writes its file, where the head is replaced, and in
`heal`. The model has its own record of the order of releases, of edits by hand, and of applied texts. It shares no code with the machine.
"""

import random
from contextlib import suppress
from dataclasses import dataclass, field, replace

from haproxy_native.features.fleet import release as machine
from haproxy_native.features.fleet.release import (
    BAD,
    BAKING,
    CHECKED,
    DONE,
    GOOD,
    PAUSED,
    REFUSED,
    ROLLING,
    WAITING,
    Head,
    NodeState,
    Release,
    Report,
)

NAMES = [f"lb{number}" for number in range(1, 8)]
Key = tuple[int, str]


class Killed(Exception):
    """The server of a node was killed between two steps."""


@dataclass
class Host:
    """A node: its state on disk, and what the model knows about it."""

    name: str
    file: str
    disk: NodeState
    # The confirmations by id: opened, pending once the change was made, confirmed or rolled back.
    confirmations: dict[str, str] = field(default_factory=dict)
    # The file before the last of these changes, and `agreed`.
    before: tuple[str, str] = ("", "")
    is_up: bool = True
    is_cut: bool = False
    # The last text that the node got from the fleet, or that the fleet got from the node.
    agreed: str = "t0"
    # The releases with the text of this node that it has not seen yet.
    offered: dict[Key, str] = field(default_factory=dict)
    # What the fleet has written, by release.
    applied: set[Key] = field(default_factory=set)
    # Texts that this HAProxy refuses.
    refused: set[str] = field(default_factory=set)

    @property
    def is_edited(self) -> bool:
        return self.file != self.agreed


class World:
    def __init__(self, seed: int) -> None:
        self.chance, self.ids, self.releases, self.bad_ones, self.set_backs = random.Random(seed), 0, 0, 0, 0
        first = Release(1, self.id(), "t0", "", 1)
        self.head: Head | None = Head(first, first)
        self.version, self.is_away = 1, False
        self.parents: dict[Key, set[Key]] = {first.key: set()}
        self.released, self.bad = {"t0"}, set[str]()
        followed = NodeState(self.head, GOOD, applied="t0")
        self.hosts = {name: Host(name, "t0", followed) for name in NAMES}
        self.reports = dict.fromkeys(NAMES, followed.report)
        self.copy: tuple[Head | None, int, dict[str, Report]] = (self.head, 1, dict(self.reports))
        # Heads that nodes are about to write, each with the version that it replaces.
        self.intended: list[tuple[Head, int, set[Key]]] = []

    def id(self) -> str:
        self.ids += 1
        return f"id{self.ids}"

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.step()
        self.heal()

    def step(self) -> None:
        host = self.hosts[self.chance.choice(NAMES)]
        happens = self.chance.random()
        if happens < 0.66:
            self.turn(host)
        elif happens < 0.78:
            self.swap()
        elif happens < 0.82:
            self.propose(host)
        elif happens < 0.83:
            self.edit(host)
        elif happens < 0.85:
            host.is_up = False
        elif happens < 0.91:
            host.is_up = True
        elif happens < 0.92:
            host.is_cut = True
        elif happens < 0.95:
            host.is_cut = False
        elif happens < 0.96:
            self.is_away = not self.is_away
        elif happens < 0.975:
            self.steer()
        elif happens < 0.98:
            host.refused.add(f"t{self.ids}")
        elif happens < 0.99:
            self.copy = self.head, self.version, dict(self.reports)
        elif happens < 0.992:
            # The revision is restored as well, as after a restored disk of etcd.
            self.head, self.version, self.reports = self.copy[0], self.copy[1], dict(self.copy[2])
            self.set_backs += 1
        elif happens < 0.995:
            self.adopt(host)
        elif happens < 0.998:
            self.hold(host)
        elif host.is_up:
            host.disk = replace(host.disk, kept="")

    # -- what a node does

    def reaches(self, host: Host) -> bool:
        return host.is_up and not host.is_cut and not self.is_away

    def may_die(self, host: Host, chance: float = 0.03) -> None:
        if self.chance.random() < chance:
            host.is_up = False
            raise Killed

    def turn(self, host: Host, *, calm: bool = False) -> None:
        """Take one turn of a member's loop. With `calm`, no fault happens during the turn."""
        if not host.is_up:
            return
        with suppress(Killed):
            self._turn(host, calm=calm)

    def _turn(self, host: Host, *, calm: bool) -> None:
        danger = 0.0 if calm else 0.03
        self.watch(host, calm=calm)
        if not self.reaches(host):
            return
        # The head may be replaced as soon as the node has read it.
        head, version, reports = self.head, self.version, dict(self.reports)
        seen = host.file
        was = host.disk.head
        host.disk, action = machine.decide(head, host.disk, host.name, seen)
        if head and not host.disk.held:
            if any(text == seen and self.descends(head.release.key, key) for key, text in host.offered.items()):
                host.agreed = seen
            host.offered = {key: text for key, text in host.offered.items() if key[0] > head.release.number}
        if was and host.disk.head:
            assert host.disk.head.release.number >= was.release.number, "numbers only rise"
        if head and seen == head.release.bundle and host.disk.phase == GOOD and not host.disk.held:
            host.agreed = seen
        self.may_die(host, danger)
        if action == machine.ABANDON:
            self.roll_back(host)
            host.disk = host.disk.become(BAD)
        elif head and action != machine.NOTHING:
            if not calm and self.chance.random() < 0.05:
                self.edit(host)
            self.act(host, head, action, seen, danger)
        self.may_die(host, danger)
        if self.reaches(host) and (calm or self.chance.random() < 0.9):
            self.reports[host.name] = host.disk.report
        if head and not machine.hold_reason(head, host.disk):
            waited = 10_000.0 if not calm and self.chance.random() < 0.02 else 0.0
            self.lead(head, version, reports, waited)

    def watch(self, host: Host, *, calm: bool) -> None:
        """Watch the change that waits for its confirmation. A bad release is always found to be bad during its bake."""
        node = host.disk
        if not node.confirmation or node.head is None:
            return
        bundle, status = node.head.release.bundle, host.confirmations[node.confirmation]
        if status == "opened":
            # The node was killed before it had changed anything.
            host.confirmations[node.confirmation] = "rolled back"
            host.disk = node.become(WAITING)
        elif status == "pending" and host.file != bundle:
            self.roll_back(host)
            host.disk = node.become(BAD, machine.EDITED)
        elif status == "pending" and (calm or self.chance.random() < 0.5):
            if bundle in self.bad:
                self.roll_back(host)
            else:
                host.confirmations[node.confirmation] = "confirmed"
            # A kill here leaves the new verdict on disk, with the former phase.
            self.may_die(host, 0.0 if calm else 0.03)
        if host.disk.confirmation and (status := host.confirmations[host.disk.confirmation]) in ("confirmed", "rolled back"):
            host.disk = node.become(GOOD) if status == "confirmed" else node.become(BAD, "bad")

    def roll_back(self, host: Host) -> None:
        """Roll back the change that waits for its confirmation. A later edit by hand stays."""
        if host.confirmations[host.disk.confirmation] != "pending":
            host.confirmations[host.disk.confirmation] = "rolled back"
            return
        host.confirmations[host.disk.confirmation] = "rolled back"
        if host.disk.head and host.file == host.agreed == host.disk.head.release.bundle:
            host.file = host.before[0]
        host.agreed = host.before[1]

    def act(self, host: Host, head: Head, action: str, seen: str, danger: float) -> None:
        if not self.reaches(host) or (danger and self.chance.random() < 0.05):
            host.disk = host.disk.become(WAITING, "passing")
            return
        bundle = head.release.bundle
        if bundle in host.refused:
            host.disk = host.disk.become(REFUSED, "HAProxy's words")
        elif action == machine.CHECK:
            host.disk = host.disk.become(CHECKED)
        elif action == machine.CATCH_UP:
            if self.write(host, head, seen, danger):
                self.may_die(host, danger)
                host.disk = host.disk.become(GOOD)
        else:
            confirmation = self.id()
            host.confirmations[confirmation], host.before = "opened", (host.file, host.agreed)
            host.disk = host.disk.become(BAKING, confirmation=confirmation)
            self.may_die(host, danger)
            if self.write(host, head, seen, danger):
                host.confirmations[confirmation] = "pending"
            else:
                host.confirmations[confirmation] = "rolled back"
            self.may_die(host, danger)

    def write(self, host: Host, head: Head, seen: str, danger: float) -> bool:
        """Commit a release as a node does, with the comparison of the text, and assert the invariants."""
        if host.file != seen:
            host.disk = host.disk.become(WAITING, "it has changed since it was read")
            return False
        now = head.release
        assert not host.disk.kept, (host.name, "a node that a person holds changes nothing")
        assert not host.is_edited or head.force, (host.name, "an edit by hand is never overwritten unasked")
        assert now.key not in host.applied, (host.name, "nothing is applied twice")
        assert now.bundle in self.released, "only what was released is applied"
        if now.bundle in self.bad:
            assert head.state != DONE and host.name in head.stages[0], "a bad release reaches its first stage alone"
        host.file = host.agreed = now.bundle
        host.applied.add(now.key)
        return True

    # -- who leads, and people

    def lead(self, head: Head, version: int, reports: dict[str, Report], waited: float) -> None:
        if made := machine.advance(head, reports, waited, self.id(), 0.0):
            self.intend(made, version, {head.release.key})

    def intend(self, head: Head, version: int, parents: set[Key]) -> None:
        self.intended.append((head, version, parents))
        if len(self.intended) > 4:
            self.swap()

    def swap(self) -> None:
        """Let one of the pending replacements of the head be made, if the head still has the version that it was read with."""
        if not self.intended:
            return
        head, version, parents = self.intended.pop(self.chance.randrange(len(self.intended)))
        if self.is_away or version != self.version:
            return
        if head.state == DONE and head.release.bundle in self.bad:
            raise AssertionError("a bad release is never done")
        if head.release.key not in parents:
            assert all(number < head.release.number for number, _ in parents), "numbers only rise"
            self.parents[head.release.key] = parents
            self.releases += not head.release.reverts
            self.released.add(head.release.bundle)
            if origin := self.hosts.get(head.release.origin):
                origin.offered[head.release.key] = head.release.bundle
        self.head, self.version = head, self.version + 1

    def propose(self, host: Host) -> None:
        """Edit the text of a node, and release it."""
        head, node = self.head, host.disk
        if not self.reaches(host) or machine.hold_reason(head, node) or head is None or head.state != DONE or node.confirmation:
            return
        if node.kept or node.applied != head.release.bundle:
            return
        if host.file == head.release.bundle:
            host.file = f"t{self.id()}"
        if host.file not in self.released and self.chance.random() < 0.3:
            self.bad.add(host.file)
            self.bad_ones += 1
        for other in self.hosts.values():
            if self.chance.random() < 0.03:
                other.refused.add(host.file)
        others = [each.name for each in self.hosts.values() if each is not host and self.reaches(each)]
        able = [name for name in others if self.reports[name].phase != machine.HELD]
        if not able:
            return
        release = Release(head.release.number + 1, self.id(), host.file, "", 1, origin=host.name)
        stages = machine.split_into_stages(able, self.chance.choice([[1], [1, "25%"], ["50%"], ["100%"]]))
        force, dry_run = self.chance.random() < 0.15, self.chance.random() < 0.1
        if dry_run:
            release = replace(release, origin="")
        self.intend(machine.propose(head, release, stages=stages, force=force, dry_run=dry_run), self.version, {head.release.key})

    def steer(self) -> None:
        head = self.head
        if head is None or head.state == DONE:
            return
        if self.chance.random() < 0.2:
            self.intend(machine.revert(head, self.id(), "stopped", 0.0), self.version, {head.release.key})
        else:
            state = PAUSED if head.state == ROLLING else ROLLING
            self.intend(replace(head, state=state), self.version, {head.release.key})

    def edit(self, host: Host) -> None:
        """Edit the file of a node by hand: to a new text, or to a present or former text of the fleet.

        Leave out edits that a node cannot distinguish from its own interrupted work: a node that is catching up knows both texts.
        """
        text = self.chance.choice(sorted(self.released - self.bad)) if self.chance.random() < 0.4 else f"hand {self.id()}"
        node = host.disk
        is_catching_up = node.head and node.head.state == DONE and node.phase in (WAITING, CHECKED)
        if not (is_catching_up and node.head and text in (node.head.release.bundle, node.applied)):
            host.file = text

    def hold(self, host: Host) -> None:
        """Let a person hold a node that has seen no stage of its own. The store may have a release that the node has not seen."""
        node = host.disk
        is_staged = node.head and node.head.state != DONE and host.name in node.head.staged_nodes
        if host.is_up and not node.confirmation and not is_staged:
            host.disk = replace(node, kept="held by ann")

    def adopt(self, host: Host) -> None:
        """Let a person adopt a side: the release of the store for this node, or the text of this node for all nodes."""
        head, node = self.head, host.disk
        if not self.reaches(host) or node.confirmation:
            return
        if self.chance.random() < 0.5 and node.head and not (host.file in self.bad or host.is_edited):
            parents = {node.head.release.key} | ({head.release.key} if head else set())
            made = machine.adopt(head, node.head, Release(0, self.id(), host.file, "", 1))
            self.intend(made, self.version, parents)
        elif head and head.state == DONE and head.release.bundle not in host.refused:
            self.join(host, head)

    def join(self, host: Host, head: Head) -> None:
        host.agreed = host.file
        host.applied.discard(head.release.key)
        host.disk, action = machine.decide(head, NodeState(head, applied=host.file), host.name, host.file)
        if action == machine.CATCH_UP and self.write(host, head, host.file, 0.0):
            host.disk = host.disk.become(GOOD)

    # -- the end

    def descends(self, key: Key, former: Key) -> bool:
        """Return whether a release comes after another release, according to the model."""
        open_, known = [key], set[Key]()
        while open_:
            if (each := open_.pop()) == former:
                return True
            if each not in known:
                known.add(each)
                open_ += self.parents[each]
        return False

    def heal(self) -> None:
        """Let all nodes run without faults. Unedited nodes that follow the store must agree; all others must hold or report an edit."""
        self.is_away = False
        for host in self.hosts.values():
            host.is_up, host.is_cut, host.disk = True, False, replace(host.disk, kept="")
        for _ in range(3):
            if self.head and self.head.state == PAUSED:
                self.head, self.version = replace(self.head, state=ROLLING), self.version + 1
            self.intended.clear()
            for _ in range(12):
                self.round()
            if self.head and self.head.state != DONE and (made := machine.advance(self.head, self.reports, 10_000.0, self.id(), 0.0)):
                self.intend(made, self.version, {self.head.release.key})
                self.swap()
        for _ in range(4):
            self.round()
        assert self.head
        assert self.head.state == DONE
        now = self.head.release
        for host in self.hosts.values():
            node = host.disk
            followed = node.head
            assert followed
            if not self.descends(now.key, followed.release.key):
                assert node.held, "who is on another side holds"
            elif host.file == now.bundle:
                assert node.phase == GOOD and not node.held
            else:
                assert node.phase in (machine.DRIFTED, REFUSED), (host.name, node.report)
                assert host.is_edited or node.phase == REFUSED, (host.name, node.report, host.file)
                assert host.is_edited or now.bundle in host.refused, (host.name, node.report, host.file)
            was = host.file
            self.turn(host, calm=True)
            assert host.file == was, "nothing is done in a quiet fleet"

    def round(self) -> None:
        for host in self.hosts.values():
            self.turn(host, calm=True)
            while self.intended:
                self.swap()
