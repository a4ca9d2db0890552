"""The operation that drains servers."""

from collections.abc import Callable

from dataplaneapi.api.call import Call, JsonCall
from dataplaneapi.api.conventions import duration
from dataplaneapi.api.responses import Response
from dataplaneapi.api.runtime_call import use_runtime
from dataplaneapi.features.drains.feature import DrainsFeature
from dataplaneapi.handlers.sidecar.operations import started
from haproxy_native.features.drains.drains import Drain

TIMEOUT = "5m"


async def create(call: JsonCall) -> Response:
    async with use_runtime(call):
        operations, targets = call.services.operations, call.body["targets"]
        return await started(
            call, await DrainsFeature.of(call.services).drains.begin(operations, targets, _drain_factory(call), author=call.author)
        )


def _drain_factory(call: Call) -> Callable[[list[str]], Drain]:
    """Return a function that creates the drain that a call requests. Its argument is the list of the servers' object names.

    Raises ApiError.
    """
    body, timeout = call.body, duration("timeout", call.body.get("timeout", TIMEOUT))

    def make(servers: list[str]) -> Drain:
        chosen = {name: body[name] for name in ("then", "at_timeout", "keep_ready") if name in body}
        return Drain(servers, body.get("until", {}).get("sessions", 0), timeout, **chosen)

    return make


async def check_create(call: Call) -> None:
    """Raise the error with which the server would refuse the drain."""
    async with use_runtime(call):
        operations, targets = call.services.operations, call.body["targets"]
        await DrainsFeature.of(call.services).drains.check(operations, targets, _drain_factory(call), author=call.author)


CHECKS = {"create": check_create}
