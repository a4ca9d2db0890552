"""The feature `fleet`. If the setting `fleet` is missing, the feature does nothing, and its operations answer 404."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from dataplaneapi.api.call import Call
from dataplaneapi.api.conventions import timestamp, without_unset
from dataplaneapi.api.feature import Feature, Gauge, WriteOption
from dataplaneapi.api.operations import Handler
from dataplaneapi.api.responses import HeaderName, Response
from dataplaneapi.api.services import Services
from dataplaneapi.features.confirmations.feature import ConfirmationsFeature
from dataplaneapi.features.fleet.settings import read_fleet
from haproxy_native.commit.events import Announced, Committed, Events
from haproxy_native.editing.secrets import masked_object
from haproxy_native.errors import NotFound
from haproxy_native.features.fleet.bundle import BundleReader
from haproxy_native.features.fleet.etcd import EtcdStore
from haproxy_native.features.fleet.group import FleetGroup
from haproxy_native.features.fleet.member import FleetMember
from haproxy_native.features.fleet.node import FleetNode
from haproxy_native.features.fleet.release import HELD, JOINED, PHASES, Head, NodeState, Release
from haproxy_native.features.fleet.sealing import Keyring

FLEET_RELEASE = HeaderName(b"Fleet-Release")
# The type of the fleet's events, and the objects that they are about.
FLEET, RELEASE, NODE = "fleet", "fleet/release", "fleet/node"


class StateRelease(WriteOption):
    """Adds the header `Fleet-Release` to the response of a write: the number of the release that this node follows, below the change."""

    names = ()

    def __init__(self, node: FleetNode) -> None:
        self._node = node

    def is_asked(self, call: Call) -> bool:
        """Return whether this node has joined its group, and the call is a write of something that a release contains."""
        return call.operation.has_options and self._node.state.head is not None

    async def serve(self, call: Call, next: Handler) -> Response:
        """Make the write and return its response, with the header."""
        response = await next(call)
        response.raw_headers.append((FLEET_RELEASE, b"%d" % self._node.state.report.number))
        return response


class FleetFeature(Feature):
    """The feature `fleet`. `member` is this server's node in the fleet."""

    only_changes = True

    def __init__(self, services: Services) -> None:
        self._member: FleetMember | None = None
        self.group = ""
        settings = services.settings
        if (fleet := read_fleet(settings.fleet, settings.name)) is None:
            return
        self.group = fleet.group
        confirmations = ConfirmationsFeature.of(services)
        group = FleetGroup(EtcdStore(fleet.etcd), Keyring(fleet.group, fleet.secrets), fleet.path)
        events = services.engine.context.events
        notify = partial(_publish_fleet_event, events, fleet.node)
        bundles = BundleReader(services.engine, fleet.files)
        node = FleetNode(services.engine, bundles, confirmations.confirmations, group, confirmations.statistics, notify)
        self._member = member = FleetMember(services.engine, group, node, fleet.node, refuses_local=fleet.refuses_local)
        self.runs, self.write_options = (member,), (StateRelease(node),)

        def wake_after_commit(event: object) -> None:
            if isinstance(event, Committed):
                member.wake()

        events.listen(wake_after_commit)

    def gauges(self) -> Iterator[Gauge]:
        """Yield the gauges of this node and its group, as of its last turn. Does not call the store."""
        if (member := self._member) is None:
            return
        state, has_failed = member.node.state, bool(member.store_state.error)
        yield Gauge("fleet_release", "Number of the release that this node has seen last.", state.report.number)
        yield Gauge("fleet_well", "Whether this node runs a release of its group, or takes part in one.", state.is_well)
        yield Gauge("fleet_store_up", "Whether the store of the fleet answers.", not has_failed)
        yield Gauge("fleet_drift", "Whether this node was changed since the last release.", member.has_drifted)
        behind = "Seconds since the newest release was made; 0 if this node has it."
        yield Gauge("fleet_behind_seconds", behind, member.behind_seconds)
        phases = {} if has_failed else {phase: member.phases.get(phase, 0) for phase in PHASES}
        yield Gauge(
            "fleet_nodes",
            "Nodes by the phase that they reported last, present or not; nothing while the store does not answer.",
            phases,
            "phase",
        )

    @property
    def member(self) -> FleetMember:
        """This server's node. Raises NotFound if the server is not in a fleet."""
        if self._member is None:
            raise NotFound("this server is not in a fleet: its settings have no `fleet`")
        return self._member


def _publish_fleet_event(events: Events, node: str, change: str, state: NodeState) -> None:
    """Publish an event of the type `fleet`. `node` is the name of this node."""
    is_about_node = change in (HELD, JOINED)
    head = head_as_dict(state.head) if state.head else {}
    shown = {name: head.get(name) for name in ("number", "id", "author", "message", "state", "gate", "reverts")}
    shown |= {"change": change, "node": node, "reason": state.held or None if is_about_node else head.get("reason")}
    events.publish(Announced(FLEET, NODE if is_about_node else RELEASE, masked_object(without_unset(shown), "fleet_event")))


def release_as_dict(release: Release) -> dict[str, Any]:
    """Return a release in the form of the API."""
    shown = {
        "number": release.number,
        "id": release.id,
        "author": release.author,
        "message": release.message,
        "made": timestamp(release.made),
        "bundle": release.bundle,
        "reverts": release.reverts or None,
        "files": release.files.split(",") if release.files else None,
    }
    return without_unset(shown)


def head_as_dict(head: Head) -> dict[str, Any]:
    """Return the fleet's head, which is the current release with its stages and policy, in the form of the API."""
    shown = release_as_dict(head.release) | {
        "state": head.state,
        "gate": head.gate,
        "stages": [list(stage) for stage in head.stages],
        "settled": head.settled.number,
        "guard": head.guard and without_unset(dict(head.guard)),
        "bake": head.bake,
        "deadline": head.deadline,
        "force": head.force,
        "dry_run": head.dry_run,
        "reason": head.reason or None,
    }
    return without_unset(shown)
