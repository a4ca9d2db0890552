"""What only this server offers: a look at what a change would do, and the whole record of a reload."""

from typing import Any

from app.abandon import while_there
from app.answer import Answer, json_answer
from app.call import Call, Written
from app.errors import ApiError
from app.file_body import Sent
from native.apply.plan import Reason
from native.apply.preview import Preview
from native.config.messages import Message
from native.errors import NotThere


async def plan(call: Written) -> Answer:
    """Of a text, or of a transaction; nothing changes."""
    transaction_id = call.get("transaction_id")
    if (call.body is None) == (transaction_id is None):
        raise ApiError(400, "send a configuration as text/plain, or name a transaction with ?transaction_id=, one of the two")
    return json_answer(200, as_dict(await while_there(call.receive, call.sidecar.engine.plan(call.body, transaction_id=transaction_id))))


async def plan_file(call: Sent) -> Answer:
    """Of other content for a stored file; it is not stored."""
    stores, name = call.sidecar.engine.stores, call.get("name")
    if (store := stores.get(call.get("store"))) is None:
        raise ApiError(404, f"there is no store {call.get('store')}, but {', '.join(stores)}")
    try:
        upload = store.other(name)
    except NotThere:
        upload = store.new(name)
    try:
        async for piece in call.body.pieces():
            await upload.append(piece)
        plan = await upload.plan(call.sidecar.engine.site)
    finally:
        upload.discard()
    commands = [command for step in plan.steps for command in step.said]
    return json_answer(200, {"commands": commands, "reload": bool(plan.reasons), "reasons": [_reason(each) for each in plan.reasons]})


async def reload_record(call: Call) -> Answer:
    try:
        return json_answer(200, call.sidecar.records.full(call.get("id")))
    except NotThere as error:
        raise ApiError(404, error.detail) from None


def as_dict(preview: Preview) -> dict[str, Any]:
    return {
        "diff": preview.diff,
        "commands": list(preview.commands),
        "reload": bool(preview.reasons),
        "reasons": [_reason(each) for each in preview.reasons],
        "valid": preview.valid,
        "messages": [_message(each) for each in preview.messages],
    }


def _reason(reason: Reason) -> dict[str, Any]:
    told = {"section": reason.section, "line": reason.line, "keyword": reason.keyword, "reason": reason.why, "file": reason.file}
    return {name: value for name, value in told.items() if value}


def _message(message: Message) -> dict[str, Any]:
    told = message.as_dict()
    return {"severity": told.pop("level"), **told}
