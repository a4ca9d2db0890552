"""What a change would do, without making it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from dataplaneapi.api.access import readable_tests, reader
from dataplaneapi.api.call import Call
from dataplaneapi.api.conventions import present
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.on_conflict import conflicts_of
from dataplaneapi.api.responses import Response, json_response
from dataplaneapi.api.set_body import received
from dataplaneapi.api.upload import Parts, TextOrFormCall, UploadCall
from haproxy_native.beside import beside
from haproxy_native.changes.operations import PutText, text_as_sent
from haproxy_native.check.messages import Message
from haproxy_native.commit.change import Candidate, Change
from haproxy_native.commit.gate import GateVerdict
from haproxy_native.commit.preview import Preview
from haproxy_native.errors import Collided, Missing
from haproxy_native.event_stream import ring
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.planning.plan import Reason
from haproxy_native.storage.coming import FilePreview
from haproxy_native.storage.upload import Upload


async def plan(call: TextOrFormCall) -> Response:
    """Plans a text, a transaction, a form with stored files, or lines that are added; changes nothing."""
    if call.get("add"):
        return await _of_lines(call)
    if isinstance(call.body, Parts):
        return await beside(json_response, 200, await _of_parts(call))
    _check_one(call)
    preview = await call.services.engine.plan(call.body, transaction_id=call.transaction_id, file=call.get("file", ""))
    shown = await beside(as_dict, preview)
    if preview.conflict:
        shown["conflict"] = str(preview.conflict)
    if isinstance(preview.conflict, Collided):
        shown["conflicts"] = await conflicts_of(call, preview.conflict)
    # One of all servers has a megabyte for 10,000 of them.
    return await beside(json_response, 200, shown)


def _check_one(call: Call) -> None:
    if (call.body is None) == (call.transaction_id is None):
        raise ApiError(400, "send a configuration as text/plain, or name a transaction with ?transaction_id=, one of the two")


def _check_lines(call: Call) -> None:
    if named := [name for name in ("transaction_id", "file") if call.get(name)] or ["body"] * (call.body is not None):
        raise ApiError(400, f"add in query plans the present configuration with more lines: leave out {named[0]}")


def _check_parts(call: Call, texts: Mapping[str, bytes]) -> None:
    if texts and call.transaction_id is not None:
        raise ApiError(400, "send a part configuration, or name a transaction with ?transaction_id=, one of the two")


async def _of_lines(call: Call) -> Response:
    """Plan the current configuration with the lines that let HAProxy push the states of servers.

    If they all go into the main file, the answer has its text, for a raw push by a caller who may read it.
    """
    _check_lines(call)
    engine = call.services.engine
    await engine.notice()
    texts = await beside(ring.texts_with_lines, engine.document)
    preview = await engine.plan_change(Change([PutText(name, text_as_sent(text)) for name, text in texts.items()]))
    main = engine.named("")
    text = {"text": texts[main].decode(errors="replace")} if texts.keys() == {main} and reader() is None else {}
    return await beside(json_response, 200, as_dict(preview) | text)


async def _of_parts(call: Call) -> dict[str, Any]:
    async with received(call) as (texts, files):
        _check_parts(call, texts)
        preview, plans = await call.services.engine.plan_set(texts, files, transaction_id=call.transaction_id)
    shown = as_dict(preview) | {"files": [_file(plan) for plan in plans]}
    return shown | {"reload": shown["reload"] or any(plan.plan.reasons for plan in plans)}


def with_files(shown: Mapping[str, Any], files: Sequence[FilePreview]) -> dict[str, Any]:
    """The plan of a configuration and of files that are changed with it: live, or with one reload."""
    plans = [file_plan(file.plan) for file in files]
    reasons = [*shown["reasons"], *(reason for plan in plans if not plan["commands"] for reason in plan["reasons"])]
    commands = [] if reasons else [command for plan in plans for command in plan["commands"]] + shown["commands"]
    return {**shown, "commands": commands, "reload": bool(reasons), "reasons": reasons}


def _file(preview: FilePreview) -> dict[str, Any]:
    shown = {"store": preview.store, "name": preview.name, **file_plan(preview.plan)}
    return shown if preview.diff is None else shown | {"diff": preview.diff}


async def plan_file(call: UploadCall) -> Response:
    """Plans other content of a stored file, without storing it."""
    async with _uploaded(call) as upload:
        plan = await upload.plan(call.services.engine.context)
        tests = await upload.verdict(call.services.engine.context)
    return json_response(200, file_plan(plan) | of_tests(tests))


@asynccontextmanager
async def _uploaded(call: Call) -> AsyncIterator[Upload]:
    """The content that is sent, as that of the stored file; it is gone at the end."""
    stores, name = call.services.engine.stores, call.get("name")
    if (store := stores.get(call.get("store"))) is None:
        raise ApiError(404, f"there is no store {call.get('store')}, but {', '.join(stores)}")
    try:
        upload = store.other(name)
    except Missing:
        upload = store.new(name)
    try:
        async for piece in call.body.pieces():
            await upload.append(piece)
        yield upload
    finally:
        upload.discard()


def as_dict(preview: Preview) -> dict[str, Any]:
    return {
        "diff": preview.diff,
        "effects": [present(effect.as_dict()) for effect in preview.effects],
        "commands": list(preview.commands),
        "reload": bool(preview.reasons),
        "reasons": [reason_as_dict(reason) for reason in preview.reasons],
        "valid": preview.valid,
        "messages": [_message(message) for message in preview.messages],
        **of_tests(preview.tests),
    }


def of_tests(verdict: GateVerdict | None) -> dict[str, Any]:
    """The member of a plan, where tests of routing are required."""
    if verdict is None:
        return {}
    members = {"failed_tests": readable_tests(verdict.failed), "failed_before": list(verdict.failed_before)}
    return {"tests": members | ({"untested": verdict.untested} if verdict.untested else {})}


def file_plan(plan: FilePlan) -> dict[str, Any]:
    commands = [command for step in plan.steps for command in step.texts]
    return {"commands": commands, "reload": bool(plan.reasons), "reasons": [reason_as_dict(reason) for reason in plan.reasons]}


def reason_as_dict(reason: Reason) -> dict[str, Any]:
    members = {"section": reason.section, "line": reason.line, "keyword": reason.keyword, "reason": reason.why, "file": reason.file}
    members["remedy"] = reason.remedy
    return {name: value for name, value in members.items() if value}


def _message(message: Message) -> dict[str, Any]:
    members = message.as_dict()
    return {"severity": members.pop("level"), **members}


async def _check(call: Call) -> bool:
    """Whether HAProxy may be asked about what would be planned."""
    engine = call.services.engine
    if isinstance(call.body, Parts):
        async with received(call) as (texts, files):
            _check_parts(call, texts)
            after = await beside(engine.with_texts, texts) if texts else call.document
            await engine.permit_evaluation(Candidate(engine.document, after, {file.path: file.content for file in files}))
    elif call.get("add"):
        _check_lines(call)
        texts = await beside(ring.texts_with_lines, engine.document)
        await engine.permit_evaluation(Candidate(engine.document, await beside(engine.with_texts, texts)))
    else:
        _check_one(call)
        await engine.permit_evaluation(await beside(engine.candidate, call.body, call.transaction_id, file=call.get("file", "")))
    return False


async def _check_file(call: Call) -> bool:
    async with _uploaded(call) as upload:
        await upload.permit(call.services.engine.context)
    return False


CHECKS = {"plan": _check, "plan_file": _check_file}
