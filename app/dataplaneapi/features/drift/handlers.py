"""The operation that reports drift."""

from typing import Any

from dataplaneapi.api.call import ReadCall
from dataplaneapi.api.conventions import without_unset
from dataplaneapi.api.responses import Response, json_response
from dataplaneapi.features.drift.feature import DriftFeature
from haproxy_native.editing.secrets import masked_member
from haproxy_native.features.drift.drift import Difference
from haproxy_native.threads import run_in_thread


async def read(call: ReadCall) -> Response:
    services = call.services
    drift = await DriftFeature.of(services).drift.find()
    differences = await run_in_thread(lambda: [as_dict(difference) for difference in drift.differences])
    answer = {
        "in_sync": not differences and not drift.notes and drift.is_known and drift.answers,
        "running_known": drift.is_known,
        "worker_answers": drift.answers,
        "reload_pending": services.engine.context.pending,
        "differences": differences,
        "notes": list(drift.notes),
    }
    return json_response(200, without_unset(answer))


def as_dict(difference: Difference) -> dict[str, Any]:
    """Return a difference as JSON, with secrets masked."""
    shown = {"object": difference.object, "member": difference.member, "cause": difference.cause}
    values = [masked_member(value, difference.object, difference.member) for value in difference.values]
    shown |= dict(zip(difference.between, values, strict=True))
    return without_unset(shown)
