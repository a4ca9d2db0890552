"""The operations on the fleet."""

import json
from dataclasses import asdict, replace
from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.conventions import duration, timestamp, without_unset
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.features.fleet.feature import FleetFeature, head_as_dict, release_as_dict
from haproxy_native.access.rights import ALL, READ, Rights
from haproxy_native.errors import NotFound, Unusable
from haproxy_native.features.confirmations.guard import read_guard
from haproxy_native.features.fleet import release as machine
from haproxy_native.features.fleet.differences import TextDifference, compare_other_node, compare_own, compare_releases, find_release
from haproxy_native.features.fleet.group import FleetConflict
from haproxy_native.features.fleet.member import FleetMember
from haproxy_native.features.fleet.release import Policy
from haproxy_native.features.fleet.requests import FleetRequests, Proposal

# The maximum of bake and deadline together, in seconds: a confirmation may not last longer.
LONGEST = 86400.0
# The time limit of a response: several calls to the store, and a commit.
ANSWER_SECONDS = 60.0


def _member(call: Call) -> FleetMember:
    return FleetFeature.of(call.services).member


def _requests(call: Call) -> FleetRequests:
    return FleetRequests(_member(call))


async def read(call: ReadCall) -> Response:
    member, head = _member(call), None
    node = _own_report(member)
    nodes, store = [node | {"present": True}], dict[str, Any]()
    try:
        head, _ = await member.group.head()
        nodes = await _nodes(member)
        # The store may answer while this node takes no part, because another one has its name.
        store = without_unset({"up": True, "error": member.store_state.error or None, **await member.group.facts()})
    except Unusable as error:
        store = {"up": False, "error": str(error)}
    if store["up"] == (not member.store_state.error):
        store["since"] = timestamp(member.store_state.since)
    head = head or member.node.state.head
    feature = FleetFeature.of(call.services)
    shown = {"group": feature.group, "node": member.name, "release": head and head_as_dict(head), "nodes": nodes, "store": store}
    return json_response(200, without_unset(shown))


async def health(call: ReadCall) -> Response:
    member = _member(call)
    return json_response(200 if member.node.state.is_well else 503, _own_report(member))


async def read_list(call: ReadCall) -> Response:
    head, _ = await _member(call).group.head()
    former = [release_as_dict(each) for each in reversed(head.past)] if head else []
    return json_response(200, [head_as_dict(head), *former] if head else [])


async def read_release(call: ReadCall) -> Response:
    head, _ = await _member(call).group.head()
    release = find_release(head, int(call.path.number))
    return json_response(200, head_as_dict(head) if head and release is head.release else release_as_dict(release))


async def read_release_diff(call: ReadCall) -> Response:
    since = int(call.query.from_) if call.query.from_ else None
    release, found = await compare_releases(_member(call).group, int(call.path.number), since)
    return json_response(200, _difference_as_dict(found) | {"to": release.number})


async def read_nodes(call: ReadCall) -> Response:
    return json_response(200, await _nodes(_member(call)))


async def read_node(call: ReadCall) -> Response:
    member, name = _member(call), call.path.name
    shown = next((node for node in await _nodes(member) if node["name"] == name), None)
    if shown is None:
        raise NotFound(f"the group has no node {name}")
    if call.query.diff:
        if isinstance(call.author.rights, Rights):
            # The difference may show any line of haproxy.cfg.
            call.author.rights.require(READ, ALL)
        shown["difference"] = _difference_as_dict(await _difference_of_node(member, name, shown.get("bundle", "")))
    return json_response(200, shown)


async def _difference_of_node(member: FleetMember, name: str, bundle: str) -> TextDifference:
    head, _ = await member.group.head()
    if head is None:
        raise FleetConflict("the group has no release to compare with")
    if name != member.name:
        return await compare_other_node(member.group, name, bundle, head)
    bundles = member.node.bundles
    return await compare_own(member.group, head.release, await bundles.read(), bundles.kinds, name)


async def init(call: JsonCall) -> Response:
    return json_response(201, head_as_dict(await _requests(call).init(call.author)))


async def adopt(call: JsonCall) -> Response:
    call.exchange.answer_within(ANSWER_SECONDS)
    return json_response(200, head_as_dict(await _requests(call).adopt(call.body["from"], call.author)))


async def create(call: JsonCall) -> Response:
    call.exchange.answer_within(ANSWER_SECONDS)
    body = call.body
    policy = _read_policy(call, await _requests(call).policy())
    given = {name: body[name] for name in ("message", "force", "dry_run") if name in body}
    proposal = Proposal(policy, **given, former=body.get("release", 0))
    head, left_out = await _requests(call).propose(proposal, call.author)
    return json_response(202, head_as_dict(head) | {"left_out": left_out})


async def read_policy(call: ReadCall) -> Response:
    return json_response(200, _policy_as_dict(await _requests(call).policy()))


async def replace_policy(call: JsonCall) -> Response:
    policy = _read_policy(call, Policy())
    await _requests(call).replace_policy(policy)
    return json_response(200, _policy_as_dict(policy))


def _read_policy(call: JsonCall, defaults: Policy) -> Policy:
    """Return the policy in the body of a call, with the defaults for missing members. Raises ApiError."""
    body, sent = call.body, call.sent
    given: dict[str, Any] = {name: duration(name, body[name]) for name in ("bake", "deadline") if name in body}
    member = "stages"
    try:
        if "stages" in body:
            machine.split_into_stages((), body["stages"])
            given["stages"] = body["stages"]
        member = "guard"
        if "guard" in body:
            # An empty guard means none. A guard with misspelt members is empty in `body` only.
            given["guard"] = asdict(read_guard(json.dumps(body["guard"]))) if sent["guard"] else None
    except ValueError as error:
        raise ApiError(422, f"{member} in body: {error}") from None
    policy = replace(defaults, **given)
    if not 1 <= policy.deadline <= policy.deadline + policy.bake <= LONGEST:
        raise ApiError(422, "deadline in body must be at least 1s, and together with bake at most 24h")
    return policy


def _policy_as_dict(policy: Policy) -> dict[str, Any]:
    shown = {
        "stages": [str(stage) for stage in policy.stages],
        "guard": policy.guard and without_unset(dict(policy.guard)),
        "bake": f"{policy.bake:g}s",
        "deadline": f"{policy.deadline:g}s",
    }
    return without_unset(shown)


async def pause(call: JsonCall) -> Response:
    return await _steer(call, "paused")


async def resume(call: JsonCall) -> Response:
    return await _steer(call, "resumed")


async def stop(call: JsonCall) -> Response:
    return await _steer(call, "stopped")


async def _steer(call: Call, to: str) -> Response:
    return json_response(200, head_as_dict(await _requests(call).steer(int(call.path.number), to, call.author)))


async def hold(call: JsonCall) -> Response:
    member = _named_member(call)
    await FleetRequests(member).hold(call.author)
    return json_response(200, _own_report(member))


async def follow(call: JsonCall) -> Response:
    member = _named_member(call)
    await FleetRequests(member).follow()
    return json_response(200, _own_report(member))


def _named_member(call: Call) -> FleetMember:
    """Return this node. Raises FleetConflict if the path names another one."""
    if (member := _member(call)).name != call.path.name:
        raise FleetConflict(f"this node is {member.name}; only {call.path.name} itself can do this, so make the call there")
    return member


async def forget(call: JsonCall) -> Response:
    member = _member(call)
    if call.path.name == member.name:
        raise FleetConflict(f"{member.name} is this node")
    await _requests(call).forget(call.path.name)
    return empty(204)


async def _nodes(member: FleetMember) -> list[dict[str, Any]]:
    """Return the nodes that have reported, by name, in the form of the API. Raises Unusable."""
    reports, there = await member.group.reports(), await member.group.present()
    return [_report_as_dict(name, report) | {"present": name in there} for name, report in sorted(reports.items())]


def _difference_as_dict(found: TextDifference) -> dict[str, Any]:
    shown = asdict(found)
    return {"from": shown.pop("since"), **shown}


def _own_report(member: FleetMember) -> dict[str, Any]:
    report = member.node.state.report
    return _report_as_dict(member.name, {"number": report.number, "phase": report.phase, "reason": report.reason})


def _report_as_dict(name: str, report: dict[str, Any]) -> dict[str, Any]:
    shown = {"number": report["number"] or None, "phase": report["phase"], "reason": report["reason"], "bundle": report.get("bundle")}
    return without_unset({"name": name} | shown)
