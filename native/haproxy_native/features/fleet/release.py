"""Releases of a fleet: a pure machine with one function for a node, `decide`, and one for whoever leads, `advance`.

    done --propose--> rolling, gate 0: all check --> gate 1 --> gate 2 ... --> done
                         | refused                     | bad, refused, or not in time
                         +------------> done, with the next number and the settled text
    rolling <--> paused, by a person

`Head` is the only state that all nodes share. Any node replaces it by compare-and-swap, so nobody has to be the leader. At gate 0 all nodes
of the plan check the text, at gate k those of the first k stages apply it. All other nodes keep what they have until the release is DONE;
they then apply the newest one, never those between. A release that fails is followed by a new one with the settled text. So numbers only
rise, and a node applies each release at most once.

A node remembers three things, on disk and before it acts: the last head that it has followed, its phase in that release, and `applied`, the
text that it had last from the fleet. Each rule of a node is about one of them:

- *The chain.* A head with a lower number, or one whose former releases lack the one that the node has followed, comes from a store that was
  restored, wiped or manipulated. The node holds: it changes nothing until the chain is whole, or a person adopts one side.
- *The phase.* A release that the node has had, or refused, is not tried again.
- *The text.* One that is not `applied` was edited by hand. The node refuses a release that plans it, and is DRIFTED otherwise. `force`
  overwrites an edit, once. The node from which a release was proposed has its text from there.

That the text is still the one decided about is compared once more by the commit, which closes the race with an editor.

What a kill leaves behind: BAKING is on disk before the change begins, with the confirmation that it belongs to. The next start goes on
watching; or it finds that nothing was changed, and applies the release; or the change was rolled back at its deadline, which is BAD. A kill
while a node catches up leaves one of the two texts, and both are known: the former one is `applied`. Only somebody who restores exactly the
former text before the next start is overwritten, as nothing tells that from a change that was never made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import Any, Self

ROLLING, PAUSED, DONE = "rolling", "paused", "done"
# The phases of a node in a release. REFUSED and BAD are final for that release.
WAITING, CHECKED, BAKING, GOOD, REFUSED, BAD, DRIFTED = "waiting", "checked", "baking", "good", "refused", "bad", "drifted"
# Reported in place of a phase by a node that holds.
HELD = "held"
# What a node is to do. CATCH_UP applies a release that is DONE, without bake. ABANDON rolls back the change that is BAKING.
NOTHING, CHECK, APPLY, CATCH_UP, ABANDON = "nothing", "check", "apply", "catch_up", "abandon"
# The number of former releases in the head. A node that was away for more holds.
PAST = 100
# Stages without others: one node, a quarter, all.
STAGES: Sequence[int | str] = (1, "25%", "100%")
EDITED = "it was edited by hand"
ACCEPTED = "dry run: all nodes accept it"


@dataclass(frozen=True)
class Release:
    number: int
    # Random, so that two releases never have the same number and the same id.
    id: str
    # The SHA-256 of the text, without header.
    bundle: str
    # The name of the text in the store, and the number of its pieces.
    object: str
    pieces: int
    author: str = ""
    message: str = ""
    # Unix time.
    made: float = 0.0
    # The node whose own text it is; empty for a former text.
    origin: str = ""
    # The number of the release that this one takes back; 0 for none.
    reverts: int = 0

    @property
    def key(self) -> tuple[int, str]:
        """What tells it from all others, in any store."""
        return self.number, self.id


@dataclass(frozen=True)
class Head:
    release: Release
    # The release that is taken up again if this one fails.
    settled: Release
    state: str = DONE
    gate: int = 0
    stages: Sequence[Sequence[str]] = ()
    guard: Mapping[str, Any] | None = None
    # Seconds that a node is watched before it is good, and that a stage may take beyond that.
    bake: float = 0.0
    deadline: float = 600.0
    # Whether nodes that were edited by hand before the release are overwritten.
    force: bool = False
    # Whether it ends at gate 0.
    dry_run: bool = False
    # Why the last release was taken back.
    reason: str = ""
    # The former releases, the newest last.
    past: Sequence[Release] = ()

    @property
    def planned(self) -> list[str]:
        """The nodes of all stages."""
        return [name for stage in self.stages for name in stage]

    @property
    def chain(self) -> list[Release]:
        """The former releases and this one."""
        return [*self.past, self.release]

    def is_open(self, node: str) -> bool:
        """Return whether a node is to have the release."""
        return self.state == DONE or any(node in stage for stage in self.stages[: self.gate])

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, members: Mapping[str, Any]) -> Self:
        """Return the head that `as_dict` was made of."""
        release, settled = Release(**members["release"]), Release(**members["settled"])
        past, stages = [Release(**each) for each in members["past"]], [tuple(stage) for stage in members["stages"]]
        return cls(**{**members, "release": release, "settled": settled, "past": past, "stages": stages})


@dataclass(frozen=True)
class Report:
    """What a node tells the others: its phase in the release with this number and id, or HELD."""

    number: int
    id: str
    phase: str
    reason: str = ""


@dataclass(frozen=True)
class NodeState:
    """What a node remembers."""

    # The head that it has followed last; None before it has joined.
    head: Head | None = None
    phase: str = WAITING
    reason: str = ""
    # The SHA-256 of the text that it had last from the fleet.
    applied: str = ""
    # The confirmation that its change waits for while it is BAKING.
    confirmation: str = ""
    # Why it holds; empty if it does not.
    held: str = ""

    @property
    def report(self) -> Report:
        number, id_ = self.head.release.key if self.head else (0, "")
        return Report(number, id_, HELD, self.held) if self.held else Report(number, id_, self.phase, self.reason)

    def become(self, phase: str, reason: str = "", confirmation: str = "") -> "NodeState":
        """Return the node in another phase. A node that becomes GOOD has the text of the release."""
        applied = self.head.release.bundle if self.head and phase == GOOD else self.applied
        return replace(self, phase=phase, reason=reason, applied=applied, confirmation=confirmation)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, members: Mapping[str, Any]) -> Self:
        """Return the node that `as_dict` was made of."""
        return cls(**{**members, "head": members["head"] and Head.of(members["head"])})


# -- a node


def broken(head: Head | None, node: NodeState) -> str:
    """Return why a node cannot follow a head; empty if it can."""
    seen = node.head.release if node.head else None
    if head is None:
        return f"the store has no release, and this node has seen {seen.number}" if seen else "the group has no release yet"
    now = head.release
    if seen is None:
        return f"this node has not joined the group, which has release {now.number}"
    if now.number < seen.number:
        return f"the store has release {now.number}, and this node has seen {seen.number}"
    if all(each.key != seen.key for each in head.chain):
        return f"release {seen.number}, which this node has seen, is not among those before release {now.number} of the store"
    return ""


def decide(head: Head | None, node: NodeState, name: str, text: str) -> tuple[NodeState, str]:
    """Return what a node remembers from now on, and what it is to do. `head` is that of the store, `text` the SHA-256 of its own text."""
    former = node.head
    if (why := broken(head, node)) or head is None or former is None:
        return replace(node, held=why), NOTHING
    node, now, seen = replace(node, held=""), head.release, former.release
    if node.confirmation:
        return node, NOTHING if now.key == seen.key else ABANDON
    if now.key != seen.key:
        is_from_here = any(each.number > seen.number and (each.origin, each.bundle) == (name, text) for each in head.chain)
        # Killed after it had caught up, and before it had noted that.
        has_it = node.phase in (WAITING, CHECKED) and former.state == DONE and text == seen.bundle
        node = NodeState(head, applied=text if is_from_here or has_it else node.applied)
    node = replace(node, head=head)
    if head.state != DONE and node.phase in (REFUSED, BAD):
        return node, NOTHING
    if text == now.bundle:
        # A store that was set back within the release does not make its stage anew.
        return node.become(GOOD if head.is_open(name) or node.applied == text else CHECKED), NOTHING
    is_planned, has_had_it = head.state != DONE and name in head.planned, node.phase in (GOOD, DRIFTED)
    if text != node.applied and (has_had_it or not head.force):
        return node.become(REFUSED if is_planned else DRIFTED, EDITED), NOTHING
    if node.phase in (REFUSED, BAD):
        return node, NOTHING
    if head.is_open(name):
        return node, CATCH_UP if head.state == DONE else APPLY
    if is_planned and node.phase != CHECKED:
        return node, CHECK
    return node if is_planned else node.become(WAITING), NOTHING


# -- whoever leads


def staged(names: Sequence[str], stages: Sequence[int | str]) -> list[tuple[str, ...]]:
    """Return the nodes of each stage. A stage is the number of nodes, or the percentage, that have the release after it.

    The last stage has all that are left. Raises ValueError.
    """
    made, begun = list[tuple[str, ...]](), 0
    for stage in (*stages, "100%"):
        end = min(len(names), max(begun, _count(stage, len(names))))
        if end > begun:
            made.append(tuple(names[begun:end]))
        begun = end
    return made


def _count(stage: int | str, nodes: int) -> int:
    text = str(stage)
    number = text.removesuffix("%")
    if not number.isascii() or not number.isdigit() or not 1 <= int(number) <= (100 if number != text else 1_000_000):
        raise ValueError(f"a stage is a number of nodes, or a percentage as in 25%, not {text[:40]!r}")
    return ceil(nodes * int(number) / 100) if number != text else int(number)


def propose(head: Head, release: Release, **members: Any) -> Head:
    """Return the head that follows one that is DONE: a release at gate 0."""
    return Head(release, head.release, ROLLING, past=head.chain[-PAST:], **members)


def revert(head: Head, id_: str, reason: str, made: float) -> Head:
    """Return the head that follows a release which is taken back."""
    number = head.release.number
    release = replace(head.settled, number=number + 1, id=id_, origin="", reverts=number, message=reason[:200], made=made)
    return Head(release, release, reason=reason, past=head.chain[-PAST:])


def adopt(head: Head | None, own: Head, release: Release) -> Head:
    """Return the head that makes the text of one node the truth, after a store was restored or wiped.

    `head` is that of the store, `own` the last one that the node has followed. Nodes that have followed any release of either can follow.
    """
    both = {each.key: each for side in (head, own) if side for each in side.chain}
    release = replace(release, number=max(number for number, _ in both) + 1)
    return Head(release, release, past=sorted(both.values(), key=lambda each: each.number)[-PAST:])


def advance(head: Head, reports: Mapping[str, Report], waited: float, id_: str, now: float) -> Head | None:
    """Return the head that follows, or None as long as there is something to wait for.

    `reports`: what the nodes say. `waited`: for how many seconds the caller has seen the head at this gate. `id_` and `now` are for a
    release that takes this one back.
    """
    if head.state == DONE:
        return None
    told = {name: report for name, report in reports.items() if (report.number, report.id) == head.release.key}
    for name in head.planned:
        if name in told and told[name].phase in (REFUSED, BAD):
            return revert(head, id_, f"{name}: {told[name].reason}", now)
    if head.state == PAUSED:
        return None
    awaited = head.stages[head.gate - 1] if head.gate else head.planned
    ready = (GOOD,) if head.gate else (CHECKED, BAKING, GOOD)
    late = [name for name in awaited if name not in told or told[name].phase not in ready]
    if not late and head.dry_run:
        return revert(head, id_, ACCEPTED, now)
    if not late:
        is_last = head.gate >= len(head.stages)
        return replace(head, state=DONE, settled=head.release) if is_last else replace(head, gate=head.gate + 1)
    if waited > head.deadline + (head.bake if head.gate else 0):
        name = late[0]
        why = told[name].reason if name in told else ""
        return revert(head, id_, f"{name} was not {'good' if head.gate else 'checked'} in time{f': {why}' if why else ''}", now)
    return None
