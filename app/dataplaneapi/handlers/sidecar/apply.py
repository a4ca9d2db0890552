"""What owners declare: made so, shown, listed."""

from typing import Any

from dataplaneapi.api.access import reader
from dataplaneapi.api.call import Call, ReadCall
from dataplaneapi.api.conventions import present
from dataplaneapi.api.declared import Declared, DeclaredCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import RELOAD_ID, Response, json_response
from dataplaneapi.handlers.sidecar.plan import as_dict, reason_as_dict
from haproxy_native.apply.apply import Contested
from haproxy_native.apply.owners import ITSELF
from haproxy_native.apply.planner import Conflict, Declaration, Planned
from haproxy_native.beside import beside

# As long as a reload may take.
ANSWER_SECONDS = 60.0


async def replace(call: DeclaredCall) -> Response:
    declaration = _declaration(call, call.body)
    call.answer_within(ANSWER_SECONDS)
    if call.get("dry_run"):
        found, preview = await call.services.apply.plan(declaration)
        shown = as_dict(preview)
        further = {name: shown[name] for name in ("commands", "reload", "reasons", "valid", "messages")}
        conflicts = [conflict_as_dict(each) for each in found.conflicts]
        return await beside(json_response, 200, _shown(call, found) | further | {"conflicts": conflicts})
    try:
        done = await call.services.apply.carry_out(declaration, most_deleted=call.get("max_delete"), version=call.get("version"))
    except Contested as error:
        raise ApiError(409, error.detail, conflicts=[conflict_as_dict(each) for each in error.planned.conflicts]) from None
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
        "taken": [conflict_as_dict(each) for each in found.taken],
    }


def conflict_as_dict(conflict: Conflict) -> dict[str, Any]:
    """Without the value of what the caller may not read."""
    may_read = reader()
    theirs = conflict.theirs if may_read is None or may_read(conflict.object) else None
    members = {"object": conflict.object, "member": conflict.member or None, "owners": list(conflict.owners)}
    return present({**members, "theirs": theirs, "mine": conflict.mine})
