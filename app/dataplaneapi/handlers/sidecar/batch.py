"""Several calls as one commit: all of them are made in a private transaction, each by its own handler."""

import json
from dataclasses import dataclass, replace
from typing import Any

from dataplaneapi.api.call import Call, JsonCall
from dataplaneapi.api.conventions import present
from dataplaneapi.api.described import Answer, Described, served
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.ignored import MEMBERS, PARAMETERS
from dataplaneapi.api.on_conflict import merges
from dataplaneapi.api.operations import Operation
from dataplaneapi.api.parameters import query_values
from dataplaneapi.api.responses import RELOAD_ID, Response, json_response
from dataplaneapi.handlers.sidecar.plan import as_dict, reason_as_dict
from haproxy_native.beside import beside
from haproxy_native.commit.preview import Preview
from haproxy_native.errors import Stale

MOST = 10_000
# As long as a reload may take.
ANSWER_SECONDS = 60.0
# Without a version the calls are made anew on what another commit has left, so often; then they are refused.
ATTEMPTS = 5
# What a call takes from the batch.
OF_BATCH = (
    "version",
    "transaction_id",
    "force_reload",
    "strict",
    "wait",
    "confirm",
    "guard",
    "tests",
    "on_conflict",
)


@dataclass(frozen=True)
class Step:
    """One call of the batch, and its operation."""

    number: int
    described: Described
    operation: Operation

    @property
    def name(self) -> str:
        return f"call {self.number} ({self.described.method} {self.described.path[:200]})"


async def create(call: JsonCall) -> Response:
    call.answer_within(ANSWER_SECONDS)
    if not call.body:
        raise ApiError(422, "body holds no call: send a list of {method, path, body}")
    if len(call.body) > MOST:
        raise ApiError(413, f"body holds {len(call.body)} calls, and {MOST} at most; send them in several batches")
    steps = [_step(call, number, described) for number, described in enumerate(call.sent)]
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return await _attempt(call, steps)
        except Stale:
            if call.get("version") or attempt == ATTEMPTS:
                raise
    raise AssertionError


def _step(call: Call, number: int, sent: Any) -> Step:
    """Raises ApiError for what is no write of the configuration."""
    described = Described(sent["method"], sent["path"], sent.get("body"), sent.get("content_type", ""), sent.get("file", ""))
    place = f"call {number} ({described.method} {described.path[:200]})"
    scope = described.scope(call.scope, call.caller)
    if described.method == "GET":
        raise ApiError(400, f"{place}: a batch changes, and reads nothing: send the GET by itself", index=number)
    try:
        operation, _ = call.services.index.find(scope)
    except ApiError as error:
        raise ApiError(error.status, f"{place}: {error.message}", headers=error.headers, index=number) from None
    if not operation.is_batched:
        raise ApiError(
            400,
            f"{place}: a batch takes writes of the configuration's objects and of stored files alone; make this call by itself",
            index=number,
        )
    if given := [name for name in OF_BATCH if name in query_values(scope["query_string"])]:
        raise ApiError(400, f"{place}: {given[0]} in query belongs to the batch: send it with POST /v3/sidecar/batch", index=number)
    return Step(number, described, operation)


async def _attempt(call: Call, steps: list[Step]) -> Response:
    engine, is_merged = call.services.engine, merges(call)
    async with engine.private_transaction(call.get("version"), merges=is_merged) as transaction:
        answers = [await _made(call, step, transaction.id) for step in steps]
        if call.get("dry_run"):
            preview = await engine.plan_private(transaction, merges=is_merged)
            return await beside(_planned, call, steps, answers, preview)
        outcome = await engine.commit_private(transaction, force_reload=bool(call.get("force_reload")), merges=is_merged)
    reload_id = None if outcome.live else outcome.reload_id
    results = await beside(_results, steps, answers, is_live=reload_id is None)
    reasons = [reason_as_dict(reason) for reason in outcome.reasons]
    shown = {"version": outcome.version, "reload": reload_id is not None, "reasons": reasons, "results": results}
    headers = [(RELOAD_ID, reload_id.encode())] if reload_id else []
    return await beside(json_response, 202 if reload_id else 200, shown, headers)


async def _made(call: Call, step: Step, transaction_id: str) -> Answer:
    """Raises ApiError with the answer of a call that is refused."""
    path = step.described.path
    query = f"transaction_id={transaction_id}&strict={str(call.strict).lower()}"
    described = replace(step.described, path=f"{path}{'&' if '?' in path else '?'}{query}")
    answer = await served(call, described, call.caller)
    if answer.status < 400:
        return answer
    members = json.loads(answer.body)
    message = members.pop("message", "")
    members.pop("code", None)
    raise ApiError(answer.status, f"{step.name}: {message}", **{**members, "index": step.number})


def _results(steps: list[Step], answers: list[Answer], *, is_live: bool) -> list[dict[str, Any]]:
    """Returns each step's result as if called alone, except that all are live or wait for the same reload."""
    return [_result(step, answer, is_live=is_live) for step, answer in zip(steps, answers, strict=True)]


def _result(step: Step, answer: Answer, *, is_live: bool) -> dict[str, Any]:
    status = step.operation.in_effect if is_live else 202
    ignored = {name.decode(): value.decode() for name, value in answer.headers if name in (PARAMETERS, MEMBERS)}
    body = json.loads(answer.body) if answer.body and status != 204 else None
    return present({"status": status, "body": body, "headers": ignored or None})


def _planned(call: Call, steps: list[Step], answers: list[Answer], preview: Preview) -> Response:
    results = _results(steps, answers, is_live=not preview.reasons)
    return json_response(200, {"version": call.services.engine.version(), **as_dict(preview), "results": results})
