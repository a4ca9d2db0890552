"""What owners declare: made so, shown, listed."""

import asyncio
from typing import Any

from dataplaneapi.api.access import reader
from dataplaneapi.api.call import Call, ReadCall
from dataplaneapi.api.conventions import present
from dataplaneapi.api.declared import Declared, DeclaredCall, declared
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import RELOAD_ID, Response, json_response
from dataplaneapi.handlers.sidecar.plan import as_dict, reason_as_dict
from haproxy_native.apply.apply import Contested, Limits
from haproxy_native.apply.owners import ITSELF
from haproxy_native.apply.planner import Conflict, Declaration, Planned
from haproxy_native.beside import beside

# As long as a reload may take.
ANSWER_SECONDS = 60.0
# What a plan was asked with.
OPTIONS = ("owner", "dry_run", "prune", "force", "max_delete", "unowned")


async def replace(call: DeclaredCall) -> Response:
    call.answer_within(ANSWER_SECONDS)
    limits = Limits(call.get("max_delete"), call.get("version"))
    if token := call.get("plan"):
        if given := [name for name in OPTIONS if name in call.values]:
            raise ApiError(400, f"{given[0]} in query belongs to the call that asked for the plan")
        plan = await asyncio.to_thread(call.services.plans.take, token)
        call.body = await beside(declared, call, plan.body, plan.kind)
        call.values = {**call.values, **plan.options}
        limits = Limits(effects=plan.effects, version=call.get("version"))
    elif "owner" not in call.values:
        raise ApiError(400, "owner in query is required: who declares it, as in owner=team-a")
    declaration = _declaration(call, call.body)
    return await (_planned(call, declaration) if call.get("dry_run") else _carried_out(call, declaration, limits))


async def _planned(call: Call, declaration: Declaration) -> Response:
    found, preview = await call.services.apply.plan(declaration)
    planned = as_dict(preview)
    shown = _shown(call, found) | {name: planned[name] for name in ("commands", "reload", "reasons", "valid", "messages")}
    shown["conflicts"] = [_conflict(each) for each in found.conflicts]
    if not found.conflicts and preview.valid and not call.services.settings.read_only:
        options = {name: call.values[name] for name in OPTIONS if name in call.values and name != "dry_run"}
        shown["plan_token"] = await asyncio.to_thread(call.services.plans.keep, call.body.kind, call.body.data, options, found.digest)
    return await beside(json_response, 200, shown)


async def _carried_out(call: Call, declaration: Declaration, limits: Limits) -> Response:
    try:
        done = await call.services.apply.carry_out(declaration, limits)
    except Contested as error:
        raise ApiError(409, error.detail, conflicts=[_conflict(each) for each in error.planned.conflicts]) from None
    reasons = [reason_as_dict(each) for each in done.outcome.reasons] if done.outcome else []
    headers = [(RELOAD_ID, done.outcome.reload_id.encode())] if done.outcome and done.outcome.reload_id else []
    shown = _shown(call, done.planned) | {"reload": bool(headers), "reasons": reasons}
    return await beside(json_response, 202 if headers else 200, shown, headers)


async def export(call: ReadCall) -> Response:
    owner = call.get("owner")
    if owner not in call.services.apply.owners.claims:
        raise ApiError(404, f"owner {owner[:64]!r} has declared nothing; GET /v3/sidecar/owners lists those who have")
    return json_response(200, await beside(call.services.apply.exported, owner))


async def read_owners(call: ReadCall) -> Response:
    shown = [
        {"owner": owner, "objects": [{"object": each, "members": sorted(set(held) - {ITSELF})} for each, held in claims.items()]}
        for owner, claims in sorted(call.services.apply.owners.claims.items())
    ]
    return json_response(200, shown)


def _declaration(call: Call, declared: Declared) -> Declaration:
    unowned = declared.unowned | frozenset(filter(None, call.get("unowned", "").split(",")))
    prune, force = call.get("prune", True), call.get("force", False)
    return Declaration(call.get("owner"), declared.sections, prune=prune, force=force, unowned=unowned, texts=declared.texts)


def _shown(call: Call, found: Planned) -> dict[str, Any]:
    whole = [effect for effect in found.effects if not effect.member]
    return {
        "owner": call.get("owner"),
        "version": call.services.engine.version(),
        "created": [effect.object for effect in whole if effect.old is None],
        "changed": [present(effect.as_dict()) for effect in found.effects if effect.member],
        "deleted": [effect.object for effect in whole if effect.new is None],
        "unchanged": list(found.unchanged),
        "taken": [_conflict(each) for each in found.taken],
    }


def _conflict(conflict: Conflict) -> dict[str, Any]:
    """Without the value of what the caller may not read."""
    may_read = reader()
    theirs = conflict.theirs if may_read is None or may_read(conflict.object) else None
    members = {"object": conflict.object, "member": conflict.member or None, "owners": list(conflict.owners)}
    return present({**members, "theirs": theirs, "mine": conflict.mine})
