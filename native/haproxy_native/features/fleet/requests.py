"""`FleetRequests`: what people request of a fleet: begin or join a group, release, pause, resume, stop, and hold, follow or forget a node.

Each request reads the head, computes the next head, and replaces the head if nobody else has done so in between; otherwise the request is
refused or, if it still makes sense, repeated. A request therefore takes effect completely or not at all, and a kill before the replacement
has changed nothing. Only `init` and `adopt` also change this node, after
they have replaced the head. A kill in between leaves a node that holds; the person then repeats the request as `adopt`.

`hold` and `follow` change the state of this node on disk, and nothing else. A person calls them on the node that is to be held, because
only the node itself writes its state.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from haproxy_native.errors import BadRequest, NotFound
from haproxy_native.features.fleet import release as machine
from haproxy_native.features.fleet.bundle import LARGEST
from haproxy_native.features.fleet.differences import find_release
from haproxy_native.features.fleet.group import FleetConflict, HeadReplaced, new_id
from haproxy_native.features.fleet.member import FleetMember
from haproxy_native.features.fleet.release import DONE, GOOD, HELD, PAUSED, ROLLING, Head, Policy, Release
from haproxy_native.features.fleet.store import TooLarge
from haproxy_native.request_context import Author

# The states in which a release can be paused, resumed and stopped.
STATES = {"paused": (ROLLING,), "resumed": (PAUSED,), "stopped": (ROLLING, PAUSED)}


@dataclass(frozen=True)
class Proposal:
    """A person's request for a release."""

    policy: Policy
    message: str = ""
    force: bool = False
    dry_run: bool = False
    # The number of a former release whose text is released again; 0 for the text of this node.
    former: int = 0


class FleetRequests:
    """The requests that one member of a fleet accepts. Each raises FleetConflict and Unusable."""

    def __init__(self, member: FleetMember) -> None:
        self._member, self._group, self._node = member, member.group, member.node

    async def init(self, by: Author) -> Head:
        """Begin a new group, with this node's text as the first release."""
        async with self._member.at_rest():
            head, _ = await self._group.head()
            if begun := head or self._node.state.head:
                raise FleetConflict(f"the group has begun, and has release {begun.release.number}; adopt it to join")
            release = await self._upload(1, by, "")
            made = Head(release, release)
            await self._group.swap(made, None, None)
            await self._node.join(made, self._member.name)
        return made

    async def adopt(self, side: str, by: Author) -> Head:
        """Follow the head in the store, even if this node has followed other releases. With the side "node", release its text first."""
        async with self._member.at_rest():
            head, version = await self._group.head()
            if side == "node":
                if (own := self._node.state.head) is None:
                    raise FleetConflict("this node has not joined the group; adopt the release of the store first")
                made = machine.adopt(head, own, await self._upload(own.release.number + 1, by, "adopted"))
                await self._group.swap(made, version, head)
                head = made
            elif head is None:
                raise FleetConflict("the store has no release; adopt the configuration of this node, or init a new group")
            elif head.state != DONE:
                raise FleetConflict(f"release {head.release.number} is {head.state}; try again when it is done")
            await self._node.join(head, self._member.name)
            if self._node.state.phase != GOOD:
                raise FleetConflict(f"release {head.release.number} is {self._node.state.phase} here: {self._node.state.reason}")
        return head

    async def propose(self, proposal: Proposal, by: Author) -> tuple[Head, list[str]]:
        """Begin a release. Return the new head, and the names of nodes that are in no stage because they are absent or hold.

        Also raises BadRequest.
        """
        async with self._member.at_rest():
            head, version = await self._followed()
            if kept := self._node.state.kept:
                raise FleetConflict(f"this node is {kept}; have it follow again, or release from another node")
            if head.state != DONE:
                raise FleetConflict(f"release {head.release.number} by {head.release.author} is {head.state}, at gate {head.gate}")
            release = await self._proposed_release(head, proposal, by)
            if self._node.state.applied != head.release.bundle and not (proposal.former or proposal.force):
                text = f"this node does not have release {head.release.number}, so its configuration lacks the changes of that release"
                raise FleetConflict(f"{text}; adopt it and make your change again, or use force")
            if release.bundle == head.release.bundle:
                raise FleetConflict(f"the configuration is that of release {head.release.number}; there is nothing to release")
            has_it = (await self._node.bundles.read()).digest == release.bundle
            reports, present = await self._group.reports(), await self._group.present()
            able = sorted(name for name in present if name in reports and reports[name]["phase"] != HELD)
            try:
                stages = machine.split_into_stages(
                    [name for name in able if name != self._member.name or not has_it], proposal.policy.stages
                )
            except ValueError as error:
                raise BadRequest(str(error)) from None
            if not stages and len(reports) > 1 and not proposal.force:
                raise FleetConflict("no other node is present that could check the release; use force to release it nevertheless")
            made = machine.propose(
                head,
                release,
                stages=stages,
                guard=proposal.policy.guard,
                bake=proposal.policy.bake,
                deadline=proposal.policy.deadline,
                force=proposal.force,
                dry_run=proposal.dry_run,
            )
            await self._group.swap(made, version, head)
        return made, sorted(set(reports) - set(able))

    async def _proposed_release(self, head: Head, proposal: Proposal, by: Author) -> Release:
        """Return the release to propose after `head`: with the text of this node, or of a former release."""
        number = head.release.number + 1
        if not proposal.former:
            release = await self._upload(number, by, proposal.message)
            return replace(release, origin="") if proposal.dry_run else release
        former = find_release(head, proposal.former)
        made = {"number": number, "id": new_id(), "author": by.name, "message": proposal.message, "made": time.time()}
        return Release(**asdict(former) | made | {"origin": "", "reverts": 0})

    async def steer(self, number: int, to: str, by: Author) -> Head:
        """Pause, resume or stop the release with this number. `to` is a key of STATES."""

        def steered(head: Head) -> Head:
            if head.release.number != number or head.state not in STATES[to]:
                raise FleetConflict(f"release {head.release.number} is {head.state}, so release {number} cannot be {to}")
            if to == "stopped":
                return machine.revert(head, new_id(), f"stopped by {by.name}", time.time())
            return replace(head, state=PAUSED if to == "paused" else ROLLING)

        return await self._change_head(steered)

    async def policy(self) -> Policy:
        """Return the defaults of the group; the built-in ones if the group has no release yet."""
        head, _ = await self._group.head()
        return head.policy if head else Policy()

    async def replace_policy(self, policy: Policy) -> None:
        """Replace the defaults of the group. A release that is under way keeps its own values."""
        await self._change_head(lambda head: replace(head, policy=policy))

    async def _change_head(self, change: Callable[[Head], Head]) -> Head:
        """Replace the head in the store by the result of `change`, and return the result. `change` may raise FleetConflict.

        If another node replaces the head meanwhile, for example because a release has reached its next stage, change the new head.
        """
        async with self._member.at_rest():
            while True:
                head, version = await self._followed()
                made = change(head)
                with suppress(HeadReplaced):
                    await self._group.swap(made, version, head)
                    return made

    async def hold(self, by: Author) -> None:
        """Keep this node out of releases until `follow` or `adopt`. This works while the store does not answer."""
        async with self._member.at_rest():
            state = self._node.state
            if (head := state.head) is None:
                raise FleetConflict("this node has not joined the group, so it takes part in no release")
            if state.confirmation or (head.state != DONE and self._member.name in head.staged_nodes):
                text = f"release {head.release.number} is {head.state}, and {self._member.name} is in one of its stages"
                raise FleetConflict(f"{text}; stop the release, or try again when it is done")
            kept = f"held by {by.name}" + (f": {by.message}" if by.message else "")
            held = kept if state.held == state.kept else state.held
            await self._node.store_state(replace(state, kept=kept, held=held))

    async def follow(self) -> None:
        """End the hold that a person has begun. The next turn brings the newest release, unless this node was edited by hand."""
        async with self._member.at_rest():
            state = self._node.state
            if state.held and not state.kept:
                raise FleetConflict(f"this node holds: {state.held}; adopt the release of the store, or the configuration of this node")
            await self._node.store_state(replace(state, kept="", held="" if state.held == state.kept else state.held))

    async def forget(self, name: str) -> None:
        """Delete the report of a node that is gone. Also raises NotFound."""
        if name in await self._group.present():
            raise FleetConflict(f"{name} is present; stop its server first")
        if not await self._group.delete_report(name):
            raise NotFound(f"the group has no node {name[:40]}")

    async def _followed(self) -> tuple[Head, str | None]:
        """Return the head in the store and its version. Raises FleetConflict if this node cannot follow it."""
        head, version = await self._group.head()
        if (why := machine.hold_reason(head, self._node.state)) or head is None:
            raise FleetConflict(why)
        return head, version

    async def _upload(self, number: int, by: Author, message: str) -> Release:
        """Write this node's bundle to the store, and return a release with this bundle. Also raises TooLarge."""
        own, kinds = await self._node.bundles.read(), self._node.bundles.kinds
        if kinds and len(own.data) > LARGEST:
            raise TooLarge(f"the configuration and its stored files ({kinds}) have {len(own.data)} bytes; a release has at most {LARGEST}")
        name, pieces = await self._group.upload(own.data, own.digest)
        return Release(number, new_id(), own.digest, name, pieces, by.name, message[:200], time.time(), self._member.name, files=kinds)
