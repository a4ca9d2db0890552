"""Releases of a fleet as a state machine without side effects. `decide` returns the next action of a node, `advance` the next head.

    done --propose--> rolling, gate 0: all check --> gate 1 --> gate 2 ... --> done
                         | refused                     | bad, refused, or not in time
                         +------------> done, with the next number and the settled text
    rolling <--> paused, by a person

`Head` is the only state that all nodes share. Any node replaces the head by compare-and-swap, so there is no leader. At gate 0 all nodes in
the stages check the text of the release. At gate k the nodes of the first k stages apply the text. All other nodes keep their text until
the release is DONE. They then apply the newest release, and skip the releases before it. A release that fails is followed by a new release
with the settled text, the text of the last release that was DONE. Numbers of releases therefore only rise, and a node applies each release
at most once. "Text" stands for the whole bundle of a release, with its stored files. The machine only compares digests.

A node stores on disk, before it acts: the last head that it has followed, its phase in that release, and `applied`, the last text that the
node got from the fleet. The rules of a node:

- *The chain* is the former releases and the present one. If a head has a lower number than the release that the node has followed, or its
  chain does not include that release, the store was restored, wiped or manipulated. The node then holds: it changes nothing until the
  chain includes the release again, or a person adopts the text of the store or of the node.
- *The phase.* A node does not retry a release that it has applied or refused.
- *A person's hold* (`kept`). The node then holds as well, until a person has it follow again.
- *The text.* If the node's text is not `applied`, the text was edited by hand. The node then refuses a release if it is in a stage of the
  release, and otherwise becomes DRIFTED. `force` overwrites an edit, once. On the node that proposed a release, the edited text counts as
  `applied`.

A release has no node in its stages that holds. If a node begins to hold afterwards, or in the same moment, the release is rolled back at
once: the node would neither check nor apply it.

The commit checks once more that the text is the one that `decide` has seen, so an edit in between is not overwritten.

After a kill: BAKING and the confirmation of the change are on disk before the change begins. The next start continues to watch the change.
If nothing was changed, the next start applies the release. If the change was rolled back at its deadline, the node becomes BAD. A kill
while a node catches up leaves the former or the new text, and the node knows both: the former text is `applied`. If somebody restores
exactly the former text before the next start, that text is overwritten, since this looks like a change that was never made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import Any, Self

ROLLING, PAUSED, DONE = "rolling", "paused", "done"
# The phases of a node in a release. REFUSED and BAD are final for that release.
WAITING, CHECKED, BAKING, GOOD, REFUSED, BAD, DRIFTED = "waiting", "checked", "baking", "good", "refused", "bad", "drifted"
# What a node that holds reports instead of its phase.
HELD = "held"
PHASES = (HELD, WAITING, CHECKED, BAKING, GOOD, REFUSED, BAD, DRIFTED)
# The actions of a node. CATCH_UP applies a release that is DONE, without bake. ABANDON rolls back the change that is BAKING.
NOTHING, CHECK, APPLY, CATCH_UP, ABANDON = "nothing", "check", "apply", "catch_up", "abandon"
# How many former releases the head has. A node that has missed more releases holds.
PAST = 100
# The default stages: one node, a quarter, all.
STAGES: Sequence[int | str] = (1, "25%", "100%")
EDITED = "it was edited by hand"
ACCEPTED = "dry run: all nodes accept it"
# What happens to a release, besides PAUSED and DONE, and to a node, besides HELD. A dry run that all nodes accept ends as CHECKED.
STARTED, GATE_PASSED, RESUMED, ROLLED_BACK, JOINED = "started", "gate_passed", "resumed", "rolled_back", "joined"


@dataclass(frozen=True)
class Release:
    """One release: its number, where its bundle is in the store, and who made it."""

    number: int
    # Random, so that two releases never have the same number and the same id.
    id: str
    # The SHA-256 of the bundle.
    bundle: str
    # The name of the bundle in the store, and the number of its pieces.
    object: str
    pieces: int
    author: str = ""
    message: str = ""
    # Unix time.
    made: float = 0.0
    # The node that proposed its own text; empty for the text of a former release.
    origin: str = ""
    # The number of the release that this one reverts; 0 for none.
    reverts: int = 0
    # The kinds of stored files in the bundle, separated by commas.
    files: str = ""

    @property
    def key(self) -> tuple[int, str]:
        """Return what identifies the release, also across stores."""
        return self.number, self.id


@dataclass(frozen=True)
class Policy:
    """How a release proceeds: its stages, and how its nodes are watched."""

    # As for `split_into_stages`.
    stages: Sequence[int | str] = STAGES
    # The members of a `Guard`; None for no guard.
    guard: Mapping[str, Any] | None = None
    # Seconds, as in `Head`.
    bake: float = 60.0
    deadline: float = 600.0


@dataclass(frozen=True)
class Head:
    """The state that all nodes of a group share: the newest release, and how far it has got."""

    release: Release
    # The release whose text is released again if this release fails.
    settled: Release
    state: str = DONE
    gate: int = 0
    stages: Sequence[Sequence[str]] = ()
    guard: Mapping[str, Any] | None = None
    # For how many seconds a node is watched before it is good.
    bake: float = 0.0
    # How many seconds a stage may take in addition to the bake.
    deadline: float = 600.0
    # Whether nodes that were edited by hand before the release are overwritten.
    force: bool = False
    # Whether the release ends at gate 0, after all nodes have checked it.
    dry_run: bool = False
    # Why the last release was reverted.
    reason: str = ""
    # The former releases, the newest last.
    past: Sequence[Release] = ()
    # The defaults of the group, which each release copies unless it has its own values.
    policy: Policy = Policy()

    @property
    def staged_nodes(self) -> list[str]:
        """Return the nodes of all stages."""
        return [name for stage in self.stages for name in stage]

    @property
    def chain(self) -> list[Release]:
        """Return the former releases and this one."""
        return [*self.past, self.release]

    def is_open(self, node: str) -> bool:
        """Return whether a node may apply the release: if the release is DONE, or its gate has reached the stage of the node."""
        return self.state == DONE or any(node in stage for stage in self.stages[: self.gate])

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, members: Mapping[str, Any]) -> Self:
        """Return the head from the result of its `as_dict`."""
        release, settled = Release(**members["release"]), Release(**members["settled"])
        past, stages = [Release(**each) for each in members["past"]], [tuple(stage) for stage in members["stages"]]
        policy = Policy(**members.get("policy", {}))
        return cls(**{**members, "release": release, "settled": settled, "past": past, "stages": stages, "policy": policy})


@dataclass(frozen=True)
class Report:
    """What a node reports to the others: its phase in the release with this number and id, or HELD."""

    number: int
    id: str
    phase: str
    reason: str = ""


@dataclass(frozen=True)
class NodeState:
    """The state of a node, which it stores on disk."""

    # The last head that the node has followed; None before it has joined.
    head: Head | None = None
    phase: str = WAITING
    reason: str = ""
    # The SHA-256 of the last text that the node got from the fleet.
    applied: str = ""
    # While the node is BAKING, the id of the confirmation of its change.
    confirmation: str = ""
    # Why the node holds; empty if it does not.
    held: str = ""
    # Why a person keeps the node out of releases; empty if nobody does.
    kept: str = ""

    @property
    def report(self) -> Report:
        number, id_ = self.head.release.key if self.head else (0, "")
        return Report(number, id_, HELD, self.held) if self.held else Report(number, id_, self.phase, self.reason)

    @property
    def is_well(self) -> bool:
        """Whether the node runs a release of its group, or takes part in one."""
        return self.head is not None and self.report.phase in (WAITING, CHECKED, BAKING, GOOD)

    def become(self, phase: str, reason: str = "", confirmation: str = "") -> "NodeState":
        """Return the node in another phase. A node that becomes GOOD has the text of the release."""
        applied = self.head.release.bundle if self.head and phase == GOOD else self.applied
        return replace(self, phase=phase, reason=reason, applied=applied, confirmation=confirmation)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, members: Mapping[str, Any]) -> Self:
        """Return the state of a node from the result of its `as_dict`."""
        return cls(**{**members, "head": members["head"] and Head.of(members["head"])})


# -- a node


def hold_reason(head: Head | None, node: NodeState) -> str:
    """Return why a node cannot follow a head, and therefore holds; '' if it can follow the head."""
    seen = node.head.release if node.head else None
    if head is None:
        return f"the store has no release, and this node has seen {seen.number}" if seen else "the group has no release yet"
    release = head.release
    if seen is None:
        return f"this node has not joined the group, which has release {release.number}"
    if release.number < seen.number:
        return f"the store has release {release.number}, and this node has seen {seen.number}"
    if all(each.key != seen.key for each in head.chain):
        return f"release {seen.number}, which this node has seen, is not among those before release {release.number} of the store"
    return ""


def decide(head: Head | None, node: NodeState, name: str, text: str) -> tuple[NodeState, str]:
    """Return the new state of a node, and its action. `head` is the head in the store, `text` the digest of the node's present text."""
    former = node.head
    if (why := hold_reason(head, node) or node.kept) or head is None or former is None:
        return replace(node, held=why), NOTHING
    node, release, seen = replace(node, held=""), head.release, former.release
    if node.confirmation:
        return node, NOTHING if release.key == seen.key else ABANDON
    if release.key != seen.key:
        is_from_here = any(each.number > seen.number and (each.origin, each.bundle) == (name, text) for each in head.chain)
        # The node was killed after it had caught up, and before it had stored that.
        has_it = node.phase in (WAITING, CHECKED) and former.state == DONE and text == seen.bundle
        node = NodeState(head, applied=text if is_from_here or has_it else node.applied)
    node = replace(node, head=head)
    if head.state != DONE and node.phase in (REFUSED, BAD):
        return node, NOTHING
    if text == release.bundle:
        # If the store was restored to an earlier gate of this release, the node does not repeat its stage.
        return node.become(GOOD if head.is_open(name) or node.applied == text else CHECKED), NOTHING
    is_staged, has_had_it = head.state != DONE and name in head.staged_nodes, node.phase in (GOOD, DRIFTED)
    if text != node.applied and (has_had_it or not head.force):
        return node.become(REFUSED if is_staged else DRIFTED, EDITED), NOTHING
    if node.phase in (REFUSED, BAD):
        return node, NOTHING
    if head.is_open(name):
        return node, CATCH_UP if head.state == DONE else APPLY
    if is_staged and node.phase != CHECKED:
        return node, CHECK
    return node if is_staged else node.become(WAITING), NOTHING


def events_between(former: NodeState, node: NodeState) -> list[str]:
    """Return the events between two states of a node, in order. Of releases that the node has missed, only the last is reported."""
    before, head = former.head, node.head
    if bool(node.held) != bool(former.held):
        return [HELD if node.held else JOINED]
    if head is None or before is None:
        return [JOINED] if head else []
    if head.release.key != before.release.key:
        if not head.release.reverts:
            return [STARTED, DONE] if head.state == DONE else [STARTED]
        return [CHECKED if before.dry_run and head.reason == ACCEPTED else ROLLED_BACK]
    if head.state == DONE:
        return [DONE] if before.state != DONE else []
    passed = [GATE_PASSED] if head.gate > before.gate else []
    if head.state != before.state:
        passed.append(PAUSED if head.state == PAUSED else RESUMED)
    return passed


# -- the next head, which any node may compute


def split_into_stages(names: Sequence[str], stages: Sequence[int | str]) -> list[tuple[str, ...]]:
    """Return the nodes of each stage. `stages` has the number or percentage of nodes that have the release after each stage.

    The last stage has all remaining nodes. Raises ValueError.
    """
    nodes, start = list[tuple[str, ...]](), 0
    for stage in (*stages, "100%"):
        text = str(stage)
        number = text.removesuffix("%")
        is_percentage = number != text
        if not number.isascii() or not number.isdigit() or not 1 <= int(number) <= (100 if is_percentage else 1_000_000):
            raise ValueError(f"a stage is a number of nodes, or a percentage as in 25%, not {text[:40]!r}")
        count = ceil(len(names) * int(number) / 100) if is_percentage else int(number)
        end = min(len(names), max(start, count))
        if end > start:
            nodes.append(tuple(names[start:end]))
        start = end
    return nodes


def propose(head: Head, release: Release, **members: Any) -> Head:
    """Return the head that begins a release, at gate 0. The release before, in `head`, is DONE."""
    return Head(release, head.release, ROLLING, past=head.chain[-PAST:], policy=head.policy, **members)


def revert(head: Head, id_: str, reason: str, made: float) -> Head:
    """Return the head after a release that failed or was stopped. It has a new release with the settled text, and is DONE."""
    number = head.release.number
    release = replace(head.settled, number=number + 1, id=id_, origin="", reverts=number, message=reason[:200], made=made)
    return Head(release, release, reason=reason, past=head.chain[-PAST:], policy=head.policy)


def adopt(head: Head | None, own: Head, release: Release) -> Head:
    """Return the head that releases the text of one node to all nodes, after a store was restored or wiped.

    `head` is the head in the store, `own` the last head that the node has followed. Their chains are merged, so that nodes that have
    followed a release of either head can follow the new head. The policy is that of `own`, as the store may have lost it.
    """
    both = {each.key: each for side in (head, own) if side for each in side.chain}
    release = replace(release, number=max(number for number, _ in both) + 1)
    return Head(release, release, past=sorted(both.values(), key=lambda each: each.number)[-PAST:], policy=own.policy)


def advance(head: Head, reports: Mapping[str, Report], waited: float, id_: str, now: float) -> Head | None:
    """Return the next head; None if the release is DONE or has to wait.

    `reports` are the reports of the nodes, by name. `waited` is for how many seconds the head has been at this gate, as far as the caller
    has seen. If the release has to be reverted, the new release gets the id `id_` and the time `now`.
    """
    if head.state == DONE:
        return None
    current = {name: report for name, report in reports.items() if (report.number, report.id) == head.release.key}
    for name in head.staged_nodes:
        # A node that holds reports the release that it has followed last.
        if name in reports and (reports[name].phase == HELD or (name in current and current[name].phase in (REFUSED, BAD))):
            return revert(head, id_, f"{name}: {reports[name].reason}", now)
    if head.state == PAUSED:
        return None
    awaited = head.stages[head.gate - 1] if head.gate else head.staged_nodes
    ready = (GOOD,) if head.gate else (CHECKED, BAKING, GOOD)
    late = [name for name in awaited if name not in current or current[name].phase not in ready]
    if not late and head.dry_run:
        return revert(head, id_, ACCEPTED, now)
    if not late:
        is_last = head.gate >= len(head.stages)
        return replace(head, state=DONE, settled=head.release) if is_last else replace(head, gate=head.gate + 1)
    if waited > head.deadline + (head.bake if head.gate else 0):
        name = late[0]
        why = current[name].reason if name in current else ""
        return revert(head, id_, f"{name} was not {'good' if head.gate else 'checked'} in time{f': {why}' if why else ''}", now)
    return None
