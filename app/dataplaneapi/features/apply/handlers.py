"""The operations that apply, plan, export and list declarations."""

import asyncio
import dataclasses
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from dataplaneapi.api.access import reader
from dataplaneapi.api.call import Call, ReadCall
from dataplaneapi.api.conflicts import last_changes
from dataplaneapi.api.conventions import without_unset
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, json_response, reload_headers
from dataplaneapi.features.apply.declared import Declared, DeclaredCall, Sent, check_members, parse_body
from dataplaneapi.features.apply.feature import ApplyFeature
from dataplaneapi.handlers.sidecar.plan import as_dict, reason_as_dict, with_files
from haproxy_native.access.rights import SECRETS, Rights
from haproxy_native.editing.object_names import spelled
from haproxy_native.editing.secrets import MASKED
from haproxy_native.features.apply.apply import Apply, Contested, DeclarationLimits, ExportedFile, TooManyDeleted
from haproxy_native.features.apply.files import COLLECTIONS, FileEffect, file_object, is_map, lines_of
from haproxy_native.features.apply.owners import ITSELF
from haproxy_native.features.apply.planner import Planned
from haproxy_native.features.apply.rules import Declaration, OwnershipConflict
from haproxy_native.planning.effects import Effect, file_of_object, line_of_member
from haproxy_native.request_context import OUTSIDE, Author
from haproxy_native.storage.secret_files import is_secret
from haproxy_native.threads import run_in_thread

# How long a response may take, since the commit may reload HAProxy.
ANSWER_SECONDS = 60.0
_KINDS = {collection: kind for kind, collection in COLLECTIONS.items()}
# The members of a dry run's response that come from the preview of the commit.
PLANNED = ("commands", "reload", "reasons", "valid", "messages", "tests")
# The query parameters that a plan stores. A call that carries the plan out must not have them.
OPTIONS = ("owner", "dry_run", "prune", "force", "max_delete", "unowned")


async def replace(call: DeclaredCall) -> Response:
    call.exchange.answer_within(ANSWER_SECONDS)
    call, limits = await _with_plan(call, pop=True)
    options = {name: call.values[name] for name in OPTIONS if name in call.values}
    sent = "" if call.query.plan or call.query.dry_run else await asyncio.to_thread(call.body.digest, options)
    if sent and (same := await _apply(call).repeated_plan(call.query.owner, sent, limits.version, call.author)):
        return await run_in_thread(lambda: json_response(200, _plan_as_dict(call, same) | {"commands": [], "reload": False, "reasons": []}))
    declaration = _declaration(call, await parse_body(call, call.body))
    try:
        if call.query.dry_run:
            return await _plan_declaration(call, declaration, limits)
        return await _commit_declaration(call, declaration, limits, sent)
    except TooManyDeleted as error:
        raise ApiError(409, error.detail, deleted=error.gone) from None


async def _with_plan(call: Call, *, pop: bool) -> tuple[Call, DeclarationLimits]:
    """Return the call and its limits. If the call carries out a stored plan, it gets the body and the options of this plan.

    `pop`: whether to delete the stored plan. Raises ApiError, NoPlan and Unusable.
    """
    if token := call.query.plan:
        if given := [name for name in OPTIONS if name in call.values]:
            raise ApiError(400, f"{given[0]} in query is part of the plan; send it with the call that requests the plan")
        plans = ApplyFeature.of(call.services).plans
        plan = await (plans.pop if pop else plans.get)(token)
        limits = DeclarationLimits(version=call.query.version, moves=plan.moves, values=plan.values)
        return dataclasses.replace(call, body=Sent(plan.kind, plan.body), values={**call.values, **plan.options}), limits
    if call.query.owner == OUTSIDE:
        raise ApiError(400, f"owner in query: {OUTSIDE} stands for changes that no owner has declared; choose another name")
    if "owner" not in call.values:
        # Parse the body first, so that its errors are reported before this one, as in other operations.
        await parse_body(call, call.body)
        raise ApiError(400, "owner in query is required; name the owner of the declaration, as in owner=team-a")
    return call, DeclarationLimits(call.query.max_delete, call.query.version)


async def check_replace(call: Call) -> bool:
    """Raise the error with which the server would refuse the call. Return whether the call would reload HAProxy."""
    call, limits = await _with_plan(call, pop=False)
    declaration = _declaration(call, await parse_body(call, call.body))
    if call.query.dry_run:
        await _apply(call).check_plan(declaration)
        return False
    return await _apply(call).check(declaration, limits)


CHECKS = {"replace": check_replace}


async def _plan_declaration(call: Call, declaration: Declaration, limits: DeclarationLimits) -> Response:
    """Respond with the plan of a declaration. Store the plan if it has no conflicts and HAProxy accepts the result."""
    planned_apply, preview = await _apply(call).plan(declaration)
    limits.check_deleted(planned_apply)
    planned = await run_in_thread(lambda: with_files(as_dict(call.author, preview), preview.files))
    shown = await run_in_thread(_plan_as_dict, call, planned_apply) | {name: planned[name] for name in PLANNED if name in planned}
    shown["conflicts"] = await _conflicts(call, planned_apply)
    if not planned_apply.conflicts and preview.valid and not call.services.settings.read_only:
        options = {name: call.values[name] for name in OPTIONS if name in call.values and name != "dry_run"}
        values = await _apply(call).values(declaration, planned_apply, preview)
        body = call.body
        shown["plan_token"] = await ApplyFeature.of(call.services).plans.store(
            call.author, body.kind, body.data, options, planned_apply.moves, values
        )
    return json_response(200, shown)


async def _commit_declaration(call: Call, declaration: Declaration, limits: DeclarationLimits, sent: str) -> Response:
    """Commit a declaration, and respond with the changes. Raises ApiError, which has the conflicts if there are any."""
    try:
        planned, outcome = await _apply(call).carry_out(declaration, limits, sent)
    except Contested as error:
        raise ApiError(409, error.detail, conflicts=await _conflicts(call, error.planned)) from None
    reasons = [reason_as_dict(reason) for reason in outcome.reasons] if outcome else []
    commands = outcome.commands if outcome else []
    headers = reload_headers(outcome.reload_id if outcome else None)
    shown = await run_in_thread(_plan_as_dict, call, planned) | {"commands": commands, "reload": bool(headers), "reasons": reasons}
    return json_response(202 if headers else 200, shown, headers)


async def export(call: ReadCall) -> Response:
    owner = call.query.owner
    if owner not in _apply(call).owners.claims:
        raise ApiError(404, f"owner {owner[:64]!r} has declared nothing; GET /v3/sidecar/owners lists the owners")
    shown = await run_in_thread(_apply(call).exported, owner)
    for collection, files in (await asyncio.to_thread(_apply(call).exported_files, owner)).items():
        shown[collection] = [_exported_file_as_dict(call.author, collection, file) for file in files]
    return json_response(200, shown)


def _exported_file_as_dict(author: Author, collection: str, file: ExportedFile) -> dict[str, Any]:
    """Return an exported file as JSON.

    Instead of its content, the result has `masked` if `author` may not read it or if it is not UTF-8.
    """
    if file.entries is not None:
        return {"name": file.name, "entries": [{"key": key, "value": value} for key, value in file.entries.items()]}
    rights, object_ = author.rights, spelled(_KINDS[collection], file.name)
    may_read = rights is None or (isinstance(rights, Rights) and rights.may(SECRETS, object_))
    with suppress(UnicodeDecodeError):
        if may_read or not is_secret(file.content):
            return {"name": file.name, "content": file.content.decode()}
    return {"name": file.name, "masked": MASKED}


async def read_owners(call: ReadCall) -> Response:
    owners = sorted(_apply(call).owners.claims.items())

    def respond() -> Response:
        rows = []
        for owner, claims in owners:
            objects = [{"object": object_, "members": sorted(set(members) - {ITSELF})} for object_, members in claims.items()]
            rows.append({"owner": owner, "objects": objects})
        return json_response(200, rows)

    return await run_in_thread(respond)


def _declaration(call: Call, declared: Declared) -> Declaration:
    """Return the declaration from a parsed body and the query. Raises ApiError."""
    unowned = frozenset(filter(None, map(str.strip, call.query.unowned.split(","))))
    check_members(call, unowned, "query")
    return Declaration(
        call.query.owner,
        declared.sections,
        declared.files,
        prune=call.query.prune,
        force=call.query.force,
        unowned=declared.unowned | unowned,
        texts=declared.texts,
        author=call.author,
    )


def _plan_as_dict(call: Call, planned: Planned) -> dict[str, Any]:
    """Return a plan as JSON, without its unresolved conflicts."""
    every: list[Effect | FileEffect] = [*planned.effects, *planned.files.shown]
    whole = [effect for effect in every if not effect.member]
    return {
        "owner": call.query.owner,
        "version": call.services.engine.version(),
        "created": [effect.object for effect in whole if effect.old is None],
        "changed": [without_unset(_mask_contents(effect.as_dict())) for effect in every if effect.member],
        "deleted": [effect.object for effect in whole if effect.new is None],
        "unchanged": list(planned.unchanged),
        "taken": [_conflict_as_dict(call.author, conflict, {}) for conflict in planned.overruled],
    }


async def _conflicts(call: Call, planned: Planned) -> list[dict[str, Any]]:
    """Return the unresolved conflicts of a plan as JSON.

    A conflict with OUTSIDE has the last change of the object according to the history.
    """
    outside = [_changed_object(conflict) for conflict in planned.conflicts if OUTSIDE in conflict.owners]
    last = await last_changes(call, outside) if outside else {}

    def as_rows() -> list[dict[str, Any]]:
        maps = {file for conflict in planned.conflicts if is_map(file := file_object(conflict.object))}
        map_lines = {object_: line for each in maps for object_, line in lines_of(each, planned.read.get(each) or b"").items()}
        before, rows = planned.before, []
        for conflict in planned.conflicts:
            line = map_lines.get(conflict.object) or line_of_member(before, conflict.object, conflict.member)
            # The configuration file; None for the main file.
            location = {"line": line, "file": file_of_object(before, conflict.object) or None}
            change = last.get(_changed_object(conflict), {}) if OUTSIDE in conflict.owners else {}
            rows.append(_conflict_as_dict(call.author, conflict, location) | change)
        return rows

    return await run_in_thread(as_rows)


def _changed_object(conflict: OwnershipConflict) -> str:
    """Return the object whose history has the changes that caused a conflict. For an entry of a map, this is the map."""
    return file_object(conflict.object) or conflict.object


def _mask_contents(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members with all bytes masked, because these are contents of files."""
    return {name: MASKED if isinstance(value, bytes) else value for name, value in members.items()}


def _conflict_as_dict(author: Author, conflict: OwnershipConflict, location: Mapping[str, Any]) -> dict[str, Any]:
    """Return a conflict as JSON. If `author` may not read the object, the result omits the present value and the location."""
    may_read = reader(author)
    theirs, location = (conflict.theirs, location) if may_read is None or may_read(conflict.object) else (None, {})
    members = {"object": conflict.object, "member": conflict.member or None, "owners": list(conflict.owners)}
    return without_unset(_mask_contents({**members, "theirs": theirs, "mine": conflict.mine, **location}))


def _apply(call: Call) -> Apply:
    return ApplyFeature.of(call.services).apply
