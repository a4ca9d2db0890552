"""Plan a change: return what it would do, without making it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from dataplaneapi.api.access import readable_tests, reader
from dataplaneapi.api.call import Call
from dataplaneapi.api.conflicts import conflicts_of
from dataplaneapi.api.conventions import without_unset
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, json_response
from dataplaneapi.api.upload import Parts, TextOrFormCall, UploadCall, file_operation, form_operations
from haproxy_native.changes.operations import PutText, text_as_sent
from haproxy_native.commit.change import Change, Operation, Validation
from haproxy_native.commit.permission import GateVerdict
from haproxy_native.commit.preview import FilePreview, Preview
from haproxy_native.editing import state_ring
from haproxy_native.errors import Collided
from haproxy_native.planning.outcome import FilePlan, Reason
from haproxy_native.request_context import Author
from haproxy_native.threads import run_in_thread


async def plan(call: TextOrFormCall) -> Response:
    """Plan a text, a transaction, a form with stored files, or the lines that `add` names."""
    engine = call.services.engine
    async with _operations_to_plan(call) as operations:
        id_ = call.transaction_id
        if id_:
            preview = await engine.plan_transaction(id_, operations, author=call.author)
        else:
            preview = await engine.plan(Change(operations, author=call.author))
    shown = await run_in_thread(as_dict, call.author, preview)
    if isinstance(call.body, Parts):
        shown.setdefault("files", [])
    if call.query.add and reader(call.author) is None:
        # The caller can send the text as the configuration, if no other file changes too.
        main, texts = engine.resolve_file(""), {put.name: put.text for put in operations if isinstance(put, PutText)}
        if texts.keys() == {main}:
            shown["text"] = await run_in_thread(lambda: texts[main].data.decode(errors="replace"))
    if preview.conflict:
        shown["conflict"] = str(preview.conflict)
    if isinstance(preview.conflict, Collided):
        shown["conflicts"] = await conflicts_of(call, preview.conflict)
    # The plan may be large: a change of 10,000 servers results in a megabyte.
    return json_response(200, shown)


@asynccontextmanager
async def _operations_to_plan(call: Call) -> AsyncIterator[Sequence[Operation]]:
    """Yield the operations to plan, apart from those of the call's transaction. Raises ApiError."""
    engine = call.services.engine
    if call.query.add:
        # The lines with which HAProxy logs state changes of servers to a ring.
        if named := [name for name in ("transaction_id", "file") if call.values.get(name)] or ["body"] * (call.body is not None):
            raise ApiError(400, f"add in query plans lines for the current configuration: omit {named[0]}")
        await engine.notice()
        added = await run_in_thread(state_ring.texts_with_lines, engine.document)
        yield [PutText(name, text_as_sent(text)) for name, text in added.items()]
    elif isinstance(call.body, Parts):
        async with form_operations(call) as operations:
            if call.transaction_id is not None and any(isinstance(each, PutText) for each in operations):
                raise ApiError(400, "send either a part configuration or ?transaction_id= of a transaction, not both")
            yield operations
    elif (call.body is None) == (call.transaction_id is None):
        raise ApiError(400, "send either a configuration as text/plain or ?transaction_id= of a transaction")
    elif call.body is None:
        yield []
    else:
        name = engine.resolve_file(call.query.file)
        yield [PutText(name, await run_in_thread(text_as_sent, call.body))]


def with_files(shown: Mapping[str, Any], files: Sequence[FilePreview]) -> dict[str, Any]:
    """Add the plans of stored files to the plan of a configuration. If any of them needs a reload, the result has no commands."""
    plans = [file_plan(file.plan) for file in files]
    reasons = [*shown["reasons"], *(reason for plan in plans if not plan["commands"] for reason in plan["reasons"])]
    commands = [] if reasons else [command for plan in plans for command in plan["commands"]] + shown["commands"]
    return {**shown, "commands": commands, "reload": bool(reasons), "reasons": reasons}


async def plan_file(call: UploadCall) -> Response:
    """Plan new content of a stored file."""
    async with file_operation(call) as put:
        preview = await call.services.engine.plan(Change([put], validation=Validation.NEVER, author=call.author))
    (file,) = preview.files
    return json_response(200, file_plan(file.plan) | tests_member(call.author, preview.tests))


def as_dict(author: Author, preview: Preview) -> dict[str, Any]:
    """Return a plan as clients get it, with those failed tests that the author may read."""
    messages = []
    for message in preview.messages:
        members = message.as_dict()
        messages.append({"severity": members.pop("level"), **members})
    shown = {
        "diff": preview.diff,
        "effects": [without_unset(effect.as_dict()) for effect in preview.effects],
        "commands": list(preview.commands),
        "reload": preview.reloads,
        "reasons": [reason_as_dict(reason) for reason in preview.reasons],
        "valid": preview.valid,
        "messages": messages,
        **tests_member(author, preview.tests),
    }
    files = []
    for file in preview.files:
        row = {"store": file.store.name, "name": file.path.name, **file_plan(file.plan)}
        files.append(row if file.diff is None else row | {"diff": file.diff})
    return shown | {"files": files} if files else shown


def tests_member(author: Author, verdict: GateVerdict | None) -> dict[str, Any]:
    """Return the member `tests` of a plan; an empty dictionary if no routing tests are required."""
    if verdict is None:
        return {}
    members = {"failed_tests": readable_tests(author, verdict.failed), "failed_before": list(verdict.failed_before)}
    return {"tests": members | ({"untested": verdict.untested} if verdict.untested else {})}


def file_plan(plan: FilePlan) -> dict[str, Any]:
    commands = [command for step in plan.steps for command in step.texts]
    return {"commands": commands, "reload": bool(plan.reasons), "reasons": [reason_as_dict(reason) for reason in plan.reasons]}


def reason_as_dict(reason: Reason) -> dict[str, Any]:
    members = {"section": reason.section, "line": reason.line, "keyword": reason.keyword, "reason": reason.why, "file": reason.file}
    members["remedy"] = reason.remedy
    return {name: value for name, value in members.items() if value}


async def check_plan(call: Call) -> bool:
    """Raise Forbidden unless the caller may have HAProxy evaluate the planned configuration. Return False, because a plan never reloads."""
    engine = call.services.engine
    async with _operations_to_plan(call) as operations:
        if call.transaction_id:
            await engine.permit_evaluation(await run_in_thread(engine.candidate, None, call.transaction_id, author=call.author))
        await engine.permit_plan(Change(operations, author=call.author))
    return False


async def check_plan_file(call: Call) -> bool:
    async with file_operation(call) as put:
        await call.services.engine.permit_plan(Change([put], author=call.author))
    return False


CHECKS = {"plan": check_plan, "plan_file": check_plan_file}
