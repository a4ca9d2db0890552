"""The operations that list and remove overrides. The list includes values that others than this server have set in the process."""

from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.conventions import timestamp, without_unset
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.api.runtime_call import use_runtime
from dataplaneapi.features.overrides.feature import OverridesFeature
from haproxy_native.editing.object_names import spelled
from haproxy_native.features.overrides.ledger import Override
from haproxy_native.features.overrides.overrides import Overrides
from haproxy_native.planning.touches import changed

API, OUTSIDE = "api", "outside"
FROM_START, AFTER_START = "from_start", "after_start"


async def read_list(call: ReadCall) -> Response:
    overrides = _overrides(call)
    async with use_runtime(call, seconds=None):
        outside = await overrides.outside()
    rows = [
        {**as_dict(override, API), "in_new_worker": FROM_START if overrides.is_gapless(override) else AFTER_START}
        for override in overrides.all()
    ]
    return json_response(200, rows + [as_dict(override, OUTSIDE) for override in outside])


async def delete(call: JsonCall) -> Response:
    async with use_runtime(call):
        object_ = spelled("backend", call.path.parent_name, "server", call.path.name)
        await _overrides(call).delete(object_, call.author)
    return empty(204)


def as_dict(override: Override, source: str) -> dict[str, Any]:
    """Return an override as JSON. `source` is API or OUTSIDE."""
    shown = {
        "object": override.object,
        "member": override.member,
        "value": override.value,
        "former": override.former,
        "source": source,
        "since": timestamp(override.since) if override.since else None,
        "author": override.author,
    }
    return without_unset(shown)


async def check_delete(call: Call) -> None:
    """Raise the error with which the server would refuse to delete all overrides of a server of HAProxy."""
    object_ = spelled("backend", call.path.parent_name, "server", call.path.name)
    call.author.permit(changed(object_, (override.member for override in _overrides(call).known(object_))))


CHECKS = {"delete": check_delete}


def _overrides(call: Call) -> Overrides:
    return OverridesFeature.of(call.services).overrides
