"""Enforce the permissions of callers that have roles, before the handler runs and on its response.

Before the handler runs, `answer_within_rights` checks that the caller may call the operation for its object. The commit later checks every
effect of a change. If roles are configured, a caller without a role may call only operations for ANYONE. Afterwards the function removes
from the response the objects that the caller may not read, and masks secrets unless the caller may see them.

The operation determines which objects its response shows:

- objects of the configuration: the object that the path and the query name, or one object per row of a list.
- other lists of `/services`: one object per row. `rows` in the x-operation of the document is a template for the name of that object. It is
  filled from the members of the row and the parameters of the call.
- `rows: objects` (OBJECTS), for lists of `/sidecar`: the objects that the members `object` and `objects` name.
- `rows: counters` (COUNTERS), for the counters of HAProxy: proxies and servers.
- any other operation: the object that `access` names, or all objects if `access` names none. Its response is not filtered: the caller needs
  the permission to read that object.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from dataplaneapi.api.bodies import decode
from dataplaneapi.api.call import Call, View
from dataplaneapi.api.errors import ApiError, response_to
from dataplaneapi.api.operations import ANY, ANYONE, COUNTERS, EFFECTS, IF_MATCH, OBJECTS, PATCH, READING, SECTION, Handler, Operation
from dataplaneapi.api.place import object_of, parent_name, place_of
from dataplaneapi.api.responses import (
    CONFIGURATION_CHECKSUM,
    CONTENT_LENGTH,
    JSON,
    TEXT,
    Reply,
    Response,
    is_large,
    json_response,
    to_json,
)
from haproxy_native.access.rights import ALL, READ, SECRETS, Rights
from haproxy_native.check.messages import Message
from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.object_names import encoded, name_of, object_of_section, section_of_object, spelled
from haproxy_native.editing.secrets import masked_value
from haproxy_native.errors import BreaksTests, Forbidden, InUse, NativeError, NoTransaction, Refused, ReloadFailed
from haproxy_native.planning.touches import CHANGE, CREATE, DELETE
from haproxy_native.request_context import Author
from haproxy_native.threads import LARGE, run_in_thread_if

HIDDEN = "HAProxy refuses the change because of sections that you may not read"
# Members that are removed from answers with OBJECTS, because their text may show any object.
_TEXTS = frozenset(("diff", "commands", "reasons", "messages", "notes", "response", "refused"))
# Members that are not filtered, because they only repeat names that the caller has sent.
_NAMED_BY_CALLER = frozenset(("conflicts", "taken"))


def object_to_read(operation: Operation, call: Call) -> str:
    """Return the name of the object that a caller needs the permission to read.

    Return ALL if the answer may show any object, and an empty text if the answer is filtered instead. Raises BadRequest.
    """
    if operation.rows:
        return ""
    if operation.access == SECTION:
        editor = call.services.editor
        return object_of_section(editor, *section_of_object(editor, call.query.object)) if call.query.object else ALL
    if operation.access not in ("", EFFECTS, READING):
        return name_from_template(operation.access, call.values)
    if not _is_of_configuration(call):
        file = call.services.editor.resources.by_name[operation.resource].file if operation.resource else ""
        return spelled(file, call.values["parent_name"]) if file else ALL
    if operation.action == "list":
        place = place_of(operation, call.values, call.services.editor, one=False)
        # Filtering a list by position would shift the positions. The list is refused as a whole instead, even if it is empty.
        return name_of(replace(place, key=0)) if place.resource.kind == "indexed" else ""
    return name_of(place_of(operation, call.values, call.services.editor, one=True))


def object_to_change(operation: Operation, call: Call) -> str:
    """Return the name of the object that a call changes as a whole or in part.

    Return an empty text if the call does not name a single object. A call for a site, for example, changes a frontend and its backends.
    """
    resource = call.services.editor.resources.by_name.get(operation.resource or "")
    if resource and resource.file:
        return spelled(resource.file, call.values["parent_name"])
    object_ = object_of(call.operation, call.values, call.services, call.body).rstrip("/")
    is_own = operation.store or (resource and resource.kind != "view") or object_.startswith("spoe/")
    return object_ if is_own else ""


def parent_of_list(operation: Operation, call: Call) -> str:
    """Return the name of the object that contains the rows of a list. Return an empty text for a top-level list and any other call."""
    if operation.rows:
        above, _, _ = operation.rows.rpartition("/")[0].rpartition("/")
        return name_from_template(above, call.values) if "{" in above else ""
    if operation.action != "list" or not _is_of_configuration(call):
        return ""
    return parent_name(place_of(operation, call.values, call.services.editor, one=False))


def readable_part(call: Call, rights: Rights, answer: Any) -> Any:
    """Return the part of a JSON answer that the caller may read.

    Raises Forbidden if the answer is a single object, or a list by position, and the caller may not read the object or every row.
    """
    operation = call.operation
    if operation.rows == OBJECTS and isinstance(answer, Mapping):
        part = _readable_members(rights, answer)
        if part is None:
            raise Forbidden(rights.refusal(READ, answer.get("object", ALL)))
        return part
    if operation.rows == OBJECTS:
        return [part for row in answer if (part := _readable_members(rights, row)) is not None]
    if operation.rows == COUNTERS:
        rows = []
        for row in answer.get("stats", ()):
            kind, name = row.get("type", ""), row.get("name", "")
            parts = ("backend", row.get("backend_name", ""), "server", name) if kind == "server" else (kind, name)
            if rights.may(READ, spelled(*parts)):
                rows.append(row)
        return {**answer, "stats": rows}
    if not isinstance(answer, list):
        return answer
    if operation.rows:
        return [row for row in answer if rights.may(READ, name_from_template(operation.rows, {**call.values, **row}))]
    if not _is_of_configuration(call):
        return answer
    place = place_of(operation, call.values, call.services.editor, one=operation.is_of_one)
    if place.resource.kind != "indexed":
        return [row for row in answer if rights.may(READ, name_of(replace(place, key=row[place.resource.key])))]
    for position in range(len(answer)):
        rights.require(READ, name_of(replace(place, key=position)))
    return answer


def name_from_template(template: str, values: Mapping[str, Any]) -> str:
    """Return the name of an object from a template such as `map/{name}`. Placeholders that `values` does not contain become empty."""
    return template.format_map(_Names({name: encoded(value) for name, value in values.items() if isinstance(value, str | int)}))


class _Names(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return ""


def _is_of_configuration(call: Call) -> bool:
    resource = call.services.editor.resources.by_name.get(call.operation.resource or "")
    return resource is not None and resource.kind != "view" and not resource.file


def _readable_members(rights: Rights, value: Any) -> Any:
    """Return the part of a value that the caller may read. Return None if the value describes an object that the caller may not read."""
    if isinstance(value, list):
        return [part for element in value if (part := _readable_members(rights, element)) is not None]
    if not isinstance(value, Mapping):
        return value
    if "object" in value and not rights.may(READ, value["object"]):
        return None
    # `objects` is a list of names, or a list of rows that each have an `object`. Rows are filtered like any other member.
    objects = value.get("objects")
    are_names = objects is not None and not any(isinstance(each, Mapping) for each in objects)
    readable = [name for name in objects if rights.may(READ, name)] if are_names and objects else []
    if are_names and not readable:
        return None
    members = {
        name: member_value if name in _NAMED_BY_CALLER else _readable_members(rights, member_value)
        for name, member_value in value.items()
        if name not in _TEXTS
    }
    return {**members, "objects": readable} if are_names else members


_VERBS = {"GET": READ, "HEAD": READ, "POST": CREATE, "PUT": CHANGE, "PATCH": CHANGE, "DELETE": DELETE}


async def answer_within_rights(call: Call, next: Handler) -> Response:
    """Check that the author may make the call, pass the call on, and return the part of its response that the author may see.

    Raises Forbidden.
    """
    operation, rights = call.operation, call.author.rights
    if not isinstance(rights, Rights):
        return await (await next(call)).complete()
    _require(operation, call, rights)
    if (parent := parent_of_list(operation, call)) and not rights.reaches(parent):
        # The caller may read nothing in the parent. An empty list does not reveal whether the parent exists.
        return await json_response(200, []).complete()
    if IF_MATCH in call.values:
        call = replace(call, view=view_of(call, rights, 200, is_read=True) or call.view)
    try:
        response = await next(call)
    except ApiError as error:
        response = response_to(error)
    except NativeError as error:
        if not rights.may(READ, ALL):
            error = without_unreadable(error, rights.may_read)
        if isinstance(error, BreaksTests) and not rights.may(SECRETS, ALL):
            # The first line is the number of failed tests. The others may contain secrets; the member `failed_tests` repeats them masked.
            error = BreaksTests(error.detail.partition("\n")[0], failed=error.failed, failed_before=error.failed_before)
        response = response_to(error)
    if view := view_of(call, rights, response.status_code, is_read=_verb_of(operation) == READ or bool(operation.rows)):
        await _apply_view(view, response)
    return await response.complete()


def without_unreadable(error: NativeError, may_read: Callable[[str], bool]) -> NativeError:
    """Return the error without the messages of HAProxy about sections that the caller may not read.

    `may_read(name)` returns whether the caller may read the object of that name.
    """
    if isinstance(error, ReloadFailed):
        return ReloadFailed("Reload failed: only callers that may read everything see HAProxy's message", reload_id=error.reload_id)
    if isinstance(error, InUse):
        return InUse(error.detail.partition(" at line ")[0])
    if not isinstance(error, Refused) or not error.alerts:
        return error

    def is_readable(header: str) -> bool:
        kind, *names = header.split()
        return may_read(object_of_section(standard_editor(), kind, names[0] if names else ""))

    own = [each for each in error.alerts if isinstance(each, Message) and each.section and is_readable(each.section)]
    lines = [f"line {each.line}, in '{each.section}': {each.text}" for each in own]
    return Refused("\n".join(lines) or HIDDEN, place=error.place, alerts=own)


def require_role(author: Author, operation: Operation) -> None:
    """Raise Forbidden for a caller without a role, unless the operation is for ANYONE."""
    if isinstance(author.rights, Rights) and not author.rights.rules and operation.access != ANYONE:
        who = f"{author.name!r} has no role" if author.name else "a caller without a name has no role"
        raise Forbidden(author.rights.why or f"{who}; an administrator can assign one in the settings, as role of a user or in role_of")


def _require(operation: Operation, call: Call, rights: Rights) -> None:
    """Raise Forbidden unless the caller may call the operation for its object. The object need not exist.

    This does not check the effects of a change, which the commit checks later.
    """
    verb = READ if operation.action == PATCH else _verb_of(operation)
    if (transaction := call.query.transaction_id) and (verb == READ or operation.rows):
        # If the transaction does not exist, the handler raises its own error.
        with suppress(NoTransaction):
            call.services.engine.transaction(transaction, author=call.author)
    if operation.access in (ANY, ANYONE):
        return
    if verb == READ:
        if object_ := object_to_read(operation, call):
            rights.require(READ, object_)
    elif operation.access != EFFECTS:
        rights.require(verb, name_from_template(operation.access, call.values) or ALL)
    elif (object_ := object_to_change(operation, call)) and not rights.may_change_within(object_):
        raise Forbidden(rights.refusal(_verb_of(operation), object_), object_=object_)


def reader(author: Author) -> Callable[[str], bool] | None:
    """Return a function that returns whether the author may read the object of a name. Return None if the author may read all objects."""
    return author.rights.may_read if isinstance(author.rights, Rights) and not author.rights.may_read(ALL) else None


def readable_tests(author: Author, failed: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the failed tests as the caller may see them: only their names unless the caller may read everything."""
    if reader(author) is None:
        return [dict(test) for test in failed]
    return [{member: test[member] for member in ("test", "name", "passed") if member in test} for test in failed]


def _verb_of(operation: Operation) -> str:
    return READ if operation.access == READING else _VERBS[operation.method]


def view_of(call: Call, rights: Rights, status: int, *, is_read: bool) -> View | None:
    """Return a function that removes from an answer what the caller may not see. Return None if the caller may see the whole answer.

    If `is_read`, the answer shows only objects that the caller may read.
    """
    operation, hides_secrets = call.operation, not rights.may(SECRETS, ALL)
    hides_objects = is_read and status == 200 and not rights.may(READ, ALL)

    def view(answer: Any, kind: bytes) -> Any:
        """Return the visible part of an answer of the media type `kind`. Raises Forbidden."""
        if hides_objects and kind == JSON:
            answer = readable_part(call, rights, answer)
        return masked_value(answer, operation.answer(status, kind.decode())) if hides_secrets else answer

    return view if hides_objects or hides_secrets else None


async def _apply_view(view: View, response: Response) -> None:
    """Remove from a response, in place, what its caller may not see. Raises Forbidden."""
    if isinstance(response, Reply):
        response.value = await run_in_thread_if(is_large(response.value), lambda: view(_with_lists(response.value), JSON))
        return
    kind, body = response.content_type, bytes(response.body)
    if not body or kind not in (JSON, TEXT):
        return
    visible = await run_in_thread_if(
        len(body) > LARGE, lambda: to_json(view(decode(body), JSON)) if kind == JSON else visible_text(view, body)
    )
    if visible != body:
        # The checksum covers the secrets, so it does not match the masked text.
        headers = [header for header in response.raw_headers if header[0] not in (CONTENT_LENGTH, CONFIGURATION_CHECKSUM)]
        response.body, response.raw_headers = visible, [*headers, (CONTENT_LENGTH, b"%d" % len(visible))]


def visible_text(view: View, text: bytes) -> bytes:
    return str(view(text.decode("utf-8", "surrogateescape"), TEXT)).encode("utf-8", "surrogateescape")


def _with_lists(value: Any) -> Any:
    """Return a value with its tuples replaced by lists, because the filters recognize only lists."""
    if isinstance(value, dict):
        return {name: _with_lists(member) for name, member in value.items()}
    return [_with_lists(each) for each in value] if isinstance(value, list | tuple) else value
