"""The operations that list the references to an object, and rename the object."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.conventions import without_unset
from dataplaneapi.api.responses import Response, json_response, reload_headers
from dataplaneapi.handlers.configuration.naming import naming_of, permit, uses
from dataplaneapi.handlers.sidecar.plan import as_dict, file_plan, reason_as_dict
from haproxy_native.access.rights import READ, Rights
from haproxy_native.editing.object_names import parsed, spelled
from haproxy_native.references.naming import Naming, ReferenceRow, Renaming


async def read(call: ReadCall) -> Response:
    object_, rights = spelled(*parsed(call.query.object)), call.author.rights
    if isinstance(rights, Rights):
        rights.require(READ, object_)
    named = await Naming(call.services.engine).references(object_, call.document)
    shown: dict[str, Any] = {"references": _rows(named.places), "not_followed": _rows(named.lost)}
    shown["used_by"] = await uses(call, object_)
    return json_response(200, shown)


async def rename(call: JsonCall) -> Response:
    naming, transaction_id, renaming = naming_of(call.services), call.transaction_id, await _renaming(call)
    if call.query.dry_run:
        preview = await naming.plan(renaming)
        shown = as_dict(call.author, preview) | _renaming_as_dict(renaming)
        shown["files"] = [{"object": spelled(file.store.kind, file.path.name), **file_plan(file.plan)} for file in preview.files]
        return json_response(200, shown)
    outcome = await naming.rename(renaming, call.reload)
    headers = reload_headers(outcome.reload_id)
    shown = _renaming_as_dict(renaming) | {"version": outcome.version, "reload": bool(headers)}
    shown["reasons"] = [reason_as_dict(reason) for reason in outcome.reasons]
    return json_response(202 if headers or transaction_id else 200, shown, headers)


async def _renaming(call: Call) -> Renaming:
    """Return the renaming that a call requests. Raises Forbidden, and what `Naming.renaming` raises."""
    object_, to = spelled(*parsed(call.body["object"])), call.body["to"]
    permit(call.author, object_, to)
    naming = naming_of(call.services)
    version, id_ = call.query.version, call.transaction_id
    return await naming.renaming(object_, to, call.document, author=call.author, version=version, transaction_id=id_)


def _renaming_as_dict(renaming: Renaming) -> dict[str, Any]:
    """Return as JSON the references that a renaming changes, and those that it cannot change."""
    shown = {"from": renaming.object, "to": renaming.to, "places": _rows(renaming.places), "not_followed": _rows(renaming.lost)}
    return shown | {"carried": list(renaming.carried)}


def _rows(rows: Sequence[ReferenceRow]) -> list[dict[str, Any]]:
    return [without_unset(asdict(row)) for row in rows]


async def check_rename(call: Call) -> bool:
    """Raise the error with which the server would refuse the renaming. Return whether the renaming would reload HAProxy."""
    change = (await _renaming(call)).change
    return await call.services.engine.check_change(replace(change, reload=call.reload), transaction_id=call.transaction_id)


CHECKS = {"rename": check_rename}
