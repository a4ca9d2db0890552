"""Make several calls in one commit.

Each call is built on the result of the calls before it. Its edits, and the files that it stages, become part of one change, which is
committed as a whole: either all calls take effect or none. If a call is refused, nothing is committed, and the error names the call.

A batch without a version is built on the current configuration. If another commit comes first, the batch is built again, at most ATTEMPTS
times.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from dataplaneapi.api.access import answer_within_rights
from dataplaneapi.api.call import Call, JsonCall
from dataplaneapi.api.conflicts import merges
from dataplaneapi.api.conventions import without_unset
from dataplaneapi.api.described import DescribedCall
from dataplaneapi.api.errors import ApiError, response_to
from dataplaneapi.api.ignored import MEMBERS, PARAMETERS
from dataplaneapi.api.operations import Operation
from dataplaneapi.api.parameters import query_values
from dataplaneapi.api.responses import Header, Response, empty, json_response, reload_headers
from dataplaneapi.handlers.configuration.objects import Document, WriteHandler
from dataplaneapi.handlers.sidecar.plan import as_dict, reason_as_dict
from haproxy_native.changes.expect import Rebase, Version
from haproxy_native.changes.operations import Edit, apply_all
from haproxy_native.commit.change import Change, Texts
from haproxy_native.commit.permission import permit
from haproxy_native.commit.transaction_commit import edits_of
from haproxy_native.errors import NativeError, Stale
from haproxy_native.threads import LARGE, run_in_thread, run_in_thread_if
from haproxy_native.transactions.staged import Staged

MOST = 10_000
# The time limit of the response in seconds, which includes a reload.
ANSWER_SECONDS = 60.0
# How often a batch without a version is built before it is refused, because other commits come first.
ATTEMPTS = 5
# The query parameters of the batch as a whole, which its calls may not have.
BATCH_PARAMETERS = (
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
class BatchStep:
    """One call of the batch, with its operation and the values of its path parameters."""

    number: int
    described: DescribedCall
    operation: Operation
    values: Mapping[str, str]
    # The prefix of its error messages. Empty for the only call of a batch.
    prefix: str


@dataclass(frozen=True)
class CallAnswer:
    """The response to a call without its status: the body, and the headers that list ignored parameters and members."""

    body: bytes
    ignored: Iterable[Header]


@dataclass
class BatchState:
    """The result of the calls so far."""

    # The configuration, and the stored files.
    document: Document
    staged: Staged
    # The edits that lead to the document.
    edits: list[Edit] = field(default_factory=list)

    async def serve(self, call: Call) -> Response:
        """Serve one call. A write of the configuration edits `document`; the handlers of other calls use `staged`. Raises Forbidden."""
        handler = call.operation.handler
        if not isinstance(handler, WriteHandler):
            return await handler(call)
        write, before = await handler.build(call), self.document

        def apply() -> Document:
            edited = apply_all(write.edits, before)
            # The commit checks later whether the author may cause a reload.
            permit(call.author, Texts(before, edited))
            return edited

        self.document = await run_in_thread_if(before.size > LARGE, apply)
        self.edits += write.edits
        if (stored := write.stored) is None:
            return empty(write.done)
        after = self.document
        return await run_in_thread_if(after.size > LARGE, lambda: json_response(write.done, stored(before, after)))


async def create(call: JsonCall) -> Response:
    call.exchange.answer_within(ANSWER_SECONDS)
    steps = _parse_steps(call)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return await _attempt(call, steps)
        except Stale:
            if call.query.version or attempt == ATTEMPTS:
                raise
    raise AssertionError


def _parse_steps(call: Call) -> list[BatchStep]:
    """Return the calls in the body. Raises ApiError if a call cannot be part of a batch."""
    if not call.body:
        raise ApiError(422, "body contains no call: send a list of {method, path, body}")
    if len(call.body) > MOST:
        raise ApiError(413, f"body contains {len(call.body)} calls, more than {MOST}; send them in several batches")
    steps = []
    for number, sent in enumerate(call.sent):
        described = DescribedCall(sent["method"], sent["path"], sent.get("body"), sent.get("content_type", ""), sent.get("file", ""))
        # The error of the only call needs no number.
        prefix = f"call {number} ({described.method} {described.path[:200]}): " if len(call.sent) > 1 else ""
        if described.method == "GET":
            raise ApiError(400, f"{prefix}a batch accepts only writes: send the GET separately", index=number)
        try:
            operation, values = described.find_operation(call.services)
        except ApiError as error:
            raise ApiError(error.status, f"{prefix}{error.message}", headers=error.headers, index=number) from None
        if not operation.is_batched:
            what = "a batch accepts only writes of configuration objects and stored files; send this call separately"
            raise ApiError(400, f"{prefix}{what}", index=number)
        if given := [name for name in BATCH_PARAMETERS if name in query_values(described.query)]:
            raise ApiError(400, f"{prefix}{given[0]} in query belongs to the batch: send it with POST /v3/sidecar/batch", index=number)
        steps.append(BatchStep(number, described, operation, values, prefix))
    return steps


async def _attempt(call: Call, steps: list[BatchStep]) -> Response:
    """Build and commit or plan the change of a batch, and answer. Raises Stale if another commit came first."""
    engine = call.services.engine
    async with _build_change(call, steps) as (change, answers):
        if call.query.dry_run:
            preview = await engine.plan(change)

            def respond() -> Response:
                planned = _result_rows(steps, answers, is_live=not preview.reloads)
                return json_response(200, {"version": engine.version(), **as_dict(call.author, preview), "results": planned})

            return await run_in_thread(respond)
        outcome = await engine.commit(change)
    reload_id = None if outcome.live else outcome.reload_id
    results = await run_in_thread(_result_rows, steps, answers, is_live=reload_id is None)
    reasons = [reason_as_dict(reason) for reason in outcome.reasons]
    shown = {"version": outcome.version, "reload": reload_id is not None, "reasons": reasons, "results": results}
    return json_response(202 if reload_id else 200, shown, reload_headers(reload_id))


@asynccontextmanager
async def _build_change(call: Call, steps: list[BatchStep]) -> AsyncIterator[tuple[Change, list[CallAnswer]]]:
    """Yield the change that makes all calls, and the responses to the calls. Remove the staged files afterwards. Raises ApiError."""
    is_merged = merges(call)
    base, version = await call.services.engine.base(call.query.version, merges=is_merged)
    state = BatchState(base, Staged())
    try:
        answers = [await _serve_step(call, step, state) for step in steps]
        expect = Rebase(version, base) if is_merged else Version(version, base, state.document)
        files = edits_of(state.staged, call.services.engine.stores)
        skips_same = not call.query.force_reload
        yield Change([*state.edits, *files], expect, call.reload, skips_same=skips_same, author=call.author), answers
    finally:
        await asyncio.to_thread(state.staged.remove)


async def _serve_step(call: Call, step: BatchStep, state: BatchState) -> CallAnswer:
    """Make a call on the result of the calls before. If the call is refused, raise ApiError with the error and the number of the call."""
    incoming = step.described.incoming(call, step.operation, step.values, call.author)
    incoming.strict, incoming.base, incoming.staged = call.strict, state.document, state.staged
    response: Response
    try:
        response = await answer_within_rights(await step.operation.reader(incoming), state.serve)
    except (ApiError, NativeError) as error:
        response = await response_to(error).complete()
    if response.status_code < 400:
        return CallAnswer(bytes(response.body), incoming.exchange.ignored)
    members = json.loads(bytes(response.body))
    message = members.pop("message", "")
    members.pop("code", None)
    raise ApiError(response.status_code, step.prefix + message, **{**members, "index": step.number})


def _result_rows(steps: list[BatchStep], answers: list[CallAnswer], *, is_live: bool) -> list[dict[str, Any]]:
    """Return the result of each call as if the call were made alone. `is_live`: all calls are in effect; else all wait for one reload."""
    rows = []
    for step, answer in zip(steps, answers, strict=True):
        status = step.operation.in_effect if is_live else 202
        ignored = {name.decode(): value.decode() for name, value in answer.ignored if name in (PARAMETERS, MEMBERS)}
        body = json.loads(answer.body) if answer.body and status != 204 else None
        rows.append(without_unset({"status": status, "body": body, "headers": ignored or None}))
    return rows


async def check_create(call: Call) -> bool:
    engine = call.services.engine
    async with _build_change(call, _parse_steps(call)) as (change, _):
        if call.query.dry_run:
            await engine.permit_plan(change)
            return False
        return await engine.check_change(change)


CHECKS = {"create": check_create}
