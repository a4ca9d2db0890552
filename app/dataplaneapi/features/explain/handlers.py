"""The operation that explains requests."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from dataplaneapi.api.call import Call, JsonCall
from dataplaneapi.api.conventions import without_unset
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, json_response
from dataplaneapi.features.explain.feature import ExplainFeature
from haproxy_native.commit.change import Candidate
from haproxy_native.features.explain.question import question_of
from haproxy_native.threads import run_in_thread

# How long a response may take, in seconds.
ANSWER_SECONDS = 60.0


async def explain(call: JsonCall) -> Response:
    call.exchange.answer_within(ANSWER_SECONDS)
    answers = await ExplainFeature.of(call.services).explain.answers(
        await _candidate(call), [question_of(question) for question in call.body]
    )
    rows = [_as_json(answer) for answer in answers]
    return json_response(200, rows[0] if isinstance(call.sent, dict) else rows)


async def _candidate(call: Call) -> Candidate:
    """Return the configuration on which to send the requests. Raises ApiError if the requests name different configurations."""
    about = {(question.get("transaction_id") or call.query.transaction_id, question.get("config")) for question in call.body}
    if len(about) > 1 or any(all(each) for each in about):
        raise ApiError(400, "all questions of a call are about the same configuration: send one config or one transaction_id")
    transaction_id, text = about.pop() if about else (call.query.transaction_id, None)
    return await run_in_thread(call.services.engine.candidate, None if text is None else text.encode(), transaction_id, author=call.author)


def _as_json(value: Any) -> Any:
    """Return a value as JSON. Members that are None are omitted."""
    if is_dataclass(value):
        return without_unset({field.name: _as_json(getattr(value, field.name)) for field in fields(value)})
    if isinstance(value, Mapping):
        return dict(value)
    return [_as_json(element) for element in value] if isinstance(value, list | tuple) else value


async def check_explain(call: Call) -> bool:
    """Raise the error with which the server would refuse the call. Return False, because the call does not reload HAProxy."""
    await call.services.engine.permit_evaluation(await _candidate(call))
    for question in call.body:
        question_of(question)
    return False


CHECKS = {"explain": check_explain}
