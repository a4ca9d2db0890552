"""What HAProxy does with a request."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from dataplaneapi.api.call import JsonCall
from dataplaneapi.api.conventions import present
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, json_response
from haproxy_native.beside import beside
from haproxy_native.explain.question import question_of

ANSWER_SECONDS = 60.0


async def explain(call: JsonCall) -> Response:
    call.answer_within(ANSWER_SECONDS)
    engine, texts = call.services.engine, {question.get("config") for question in call.body}
    if len(texts) > 1 or (texts != {None} and call.get("transaction_id")):
        raise ApiError(400, "config in body is one text for all questions, without transaction_id; ask about several in several calls")
    text = texts.pop() if texts else None
    document = (
        engine.read(call.get("transaction_id")) if text is None else await beside(engine.with_texts, {engine.named(""): text.encode()})
    )
    explain = call.services.explain
    answers = await explain.answers(document, [question_of(question) for question in call.body], explain.staged(call.get("transaction_id")))
    found = [_shown(each) for each in answers]
    return json_response(200, found[0] if isinstance(call.sent, dict) else found)


def _shown(value: Any) -> Any:
    """As JSON, without what is not there."""
    if is_dataclass(value):
        return present({each.name: _shown(getattr(value, each.name)) for each in fields(value)})
    if isinstance(value, Mapping):
        return dict(value)
    return [_shown(each) for each in value] if isinstance(value, list | tuple) else value
