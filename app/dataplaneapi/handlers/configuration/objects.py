"""What the four kinds of configuration resources share: addressing an object, reading it, changing it."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dataplaneapi.api import merge_patch, preconditions
from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.on_conflict import PARAMETER, merges
from dataplaneapi.api.operations import IF_MATCH, PATCH
from dataplaneapi.api.place import place_of
from dataplaneapi.api.responses import RELOAD_ID, UNPARSED_LINES, Header, Response, empty, json_response, to_json
from dataplaneapi.api.unchanged import has_zero, rebased, sent_back
from dataplaneapi.api.validation import validated
from dataplaneapi.did_you_mean import nearest
from dataplaneapi.handlers.configuration import naming
from haproxy_native.beside import LARGE, beside_if
from haproxy_native.editing.children import meant
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.resources import Resource
from haproxy_native.editing.sites import Sites
from haproxy_native.errors import Missing, NoParent, Refused
from haproxy_native.planning.observed import Claimed, claimed_by
from haproxy_native.references.naming import Renaming
from haproxy_native.request_context import author

Parent = tuple[Resource, str] | None
# What the engine reads and the editor edits; a handler never looks inside.
Document = Any


@dataclass(frozen=True)
class Target:
    """The collection or the object that a call means; `key` is None for a whole collection."""

    editor: Editor | Sites
    resource: Resource
    parent: Parent
    key: Any
    full: bool

    def extent(self, document: Document) -> int:
        """Characters to look through for a read of it."""
        above, name = self.parent or (None, "")
        size: int = document.extent(above.section, name) if above and above.kind == "section" else document.size
        return size

    def objects(self, document: Document) -> list[dict[str, Any]]:
        return self.editor.list_objects(document, self.resource, self.parent, full=self.full)

    def object(self, document: Document) -> dict[str, Any]:
        return self.editor.get_object(document, self.resource, self.parent, self.key, full=self.full)

    def check_there(self, document: Document, situation: str) -> None:
        self.editor.check_there(document, self.resource, self.parent, self.key, situation)

    def named(self, key: Any) -> "Target":
        return dataclasses.replace(self, key=key)

    def other_name(self, document: Document, body: Mapping[str, Any]) -> str:
        """Return the new name that a body gives the object; empty if it keeps its name."""
        name = body.get(self.resource.key)
        if self.resource.kind in ("indexed", "singleton") or not isinstance(name, str) or not name or meant(name) == meant(self.key):
            return ""
        # A section without a name gets one, and so do the places that name it; a line without one is another line then.
        is_section = self.resource.kind == "section" and document.find(self.resource.section, str(self.key)) is not None
        return name if is_section or self.editor.says_name(document, self.resource, self.parent, self.key) else ""

    def as_named_in(self, body: Mapping[str, Any], document: Document) -> dict[str, Any]:
        """Return the object after an edit, which may have named an object that had no name."""
        name, kinds = body.get(self.resource.key), ("named", "section")
        is_new = name and self.resource.kind in kinds and not self.editor.says_name(document, self.resource, self.parent, self.key)
        return (self.named(name) if is_new else self).object(document)

    def create(self, document: Document, body: Any) -> Document:
        return self.editor.create(document, self.resource, self.parent, body, index=self.key, full=self.full)

    def added_object(self, before: Document, after: Document) -> dict[str, Any]:
        assert self.parent is not None
        assert isinstance(self.editor, Editor)
        return self.editor.added_object(before, after, self.resource, self.parent)

    def replace_all(self, document: Document, bodies: Any) -> Document:
        assert self.parent is not None
        assert isinstance(self.editor, Editor)
        return self.editor.replace_all(document, self.resource, self.parent, bodies)

    def replace(self, document: Document, body: Any) -> Document:
        return self.editor.replace(document, self.resource, self.parent, self.key, body, full=self.full)

    def delete(self, document: Document) -> Document:
        return self.editor.delete(document, self.resource, self.parent, self.key)


def target(call: Call, *, one: bool) -> Target:
    """`one`: the last name in the path is the object's key."""
    resource, parent, key = place_of(call.operation, call.values, call.services.editor, one=one)
    editor = call.services.editor
    return Target(Sites(editor) if resource.kind == "view" else editor, resource, parent, key, bool(call.get("full_section", False)))


async def read_all(call: ReadCall) -> Response:
    """A collection, filtered by the members that are also query parameters."""
    asked = target(call, one=False)
    document = call.services.engine.read(call.get("transaction_id"))
    return await beside_if(asked.extent(document) > LARGE, _listed, call, asked, document)


def _listed(call: Call, asked: Target, document: Document) -> Response:
    wanted = {name: call.values[name] for name in call.operation.filters if name in call.values}
    objects = [object_ for object_ in asked.objects(document) if all(object_.get(name) == value for name, value in wanted.items())]
    unparsed = asked.editor.unparsed(document, asked.resource, asked.parent)
    headers: list[Header] = [(UNPARSED_LINES, ",".join(map(str, unparsed)).encode())] if unparsed else []
    return json_response(200, objects, headers, cacheable=not call.get("transaction_id"))


async def read_one(call: ReadCall) -> Response:
    asked = target(call, one=True)
    transaction_id = call.get("transaction_id")
    document = call.services.engine.read(transaction_id)
    return await beside_if(asked.extent(document) > LARGE, lambda: json_response(200, asked.object(document), cacheable=not transaction_id))


async def replace_one(call: JsonCall) -> Response:
    asked = target(call, one=True)
    if "replace" in asked.resource.existence_first:
        await _check_there(call, asked, "absent_replace")
    shaped = call.body
    renaming, renamed = await _renaming(call, asked, shaped)

    def replace(document: Document) -> Document:
        body, before = shaped, document
        if renaming:
            document = renaming.change.edit(document)
            body = rebased(shaped, asked.object(before), renamed.object(document))
        call.body = _sent_back(body, call.sent, lambda: renamed.object(document))
        return renamed.replace(document, call.body)

    def stored(document: Document) -> Any:
        return renamed.as_named_in(call.body, document)

    return await change(call, replace, 200, stored, silent=asked.resource.silent, renaming=renaming)


async def patch_one(call: JsonCall) -> Response:
    """The object with some members changed. It is read in the document that is edited, and replaced as by a PUT."""
    asked, part = target(call, one=True), call.body
    if "replace" in asked.resource.existence_first:
        await _check_there(call, asked, "absent_replace")
    renaming, renamed = await _renaming(call, asked, part)

    def patch(document: Document) -> Document:
        document = renaming.change.edit(document) if renaming else document
        call.body = _merged(call, renamed.object(document), part)
        return renamed.replace(document, call.body)

    def stored(document: Document) -> Any:
        return renamed.as_named_in(call.body, document)

    return await change(call, patch, 200, stored, renaming=renaming)


async def _renaming(call: Call, asked: Target, body: Mapping[str, Any]) -> tuple[Renaming | None, Target]:
    """Return the change that renames the object to the name in the body, if it differs, and the object under its new name."""
    document = call.services.engine.read(call.get("transaction_id"))
    if not (to := await beside_if(asked.extent(document) > LARGE, asked.other_name, document, body)):
        return None, asked
    check_version_or_transaction(call, call.get("transaction_id"), call.get("version", 0))
    if merges(call) and call.get(PARAMETER):
        text = f"{PARAMETER}=merge in query is not for a write that renames, for other writes may have named the object meanwhile"
        raise ApiError(400, f"{text}: send it without {PARAMETER}, with ?version={call.services.engine.version()}")
    return await naming.renaming_of(call, to), asked.named(to)


def _merged(call: Call, now: Mapping[str, Any], part: Mapping[str, Any]) -> Any:
    """The body that a PUT would have. Raises ApiError where the object as a whole is not in order."""
    declared, services = call.operation.body, call.services
    assert declared is not None
    if (resource := services.editor.resources.by_name[call.operation.resource or ""]).section:
        now = merge_patch.without_stale(now, part, services.editor.aliases(resource))
    whole = merge_patch.merged(now, part)
    shaped = validated(whole, declared.schema, services.schemas, unwritable=call.operation.unwritable, present=lambda: now)
    return sent_back(shaped, whole, now)


async def _check_there(call: Call, asked: Target, situation: str) -> None:
    document = call.services.engine.read(call.get("transaction_id"))
    await beside_if(document.size > LARGE, asked.check_there, document, situation)


async def replace_all(call: JsonCall) -> Response:
    asked, shaped = target(call, one=False), call.body

    def replace(document: Document) -> Document:
        call.body = _sent_back(shaped, call.sent, lambda: asked.objects(document))
        return asked.replace_all(document, call.body)

    return await change(call, replace, 200, asked.objects)


def _sent_back(shaped: Any, sent: Any, now: Callable[[], Any]) -> Any:
    """The body with what stands as 0 and is sent back so."""
    try:
        return sent_back(shaped, sent, now()) if has_zero(sent) else shaped
    except (Missing, NoParent):
        return shaped


async def delete_one(call: JsonCall) -> Response:
    asked = target(call, one=True)
    if "delete" in asked.resource.existence_first:
        await _check_there(call, asked, "absent_delete")
    await naming.refuse_used(call)
    try:
        return await change(call, asked.delete, 204)
    except Refused as error:
        raise await naming.with_places(call, error) from None


async def change(
    call: Call,
    edit: Callable[[Document], Document],
    done: int,
    stored: Callable[[Document], Any] | None = None,
    *,
    silent: bool = False,
    renaming: Renaming | None = None,
) -> Response:
    """Makes an edit and answers `done` when it is live, 202 when a reload or a transaction will make it so.

    The edit begins with the change of a `renaming`, which knows what else changes with it.

    The body of the answer is the object as it is `stored` in the edited document: what the next GET answers. What is `silent` answers 202
    without a body, and inside a transaction `done`.
    """
    transaction_id, version = call.get("transaction_id"), call.get("version", 0)
    check_version_or_transaction(call, transaction_id, version)
    edited: list[Document] = []

    def remembering(document: Document) -> Document:
        edited[:] = [edit(document)]
        preconditions.check(call, lambda: _answers(call, document))
        return edited[0]

    force_reload = bool(call.get("force_reload", False))
    if renaming:
        outcome = await naming.rename(call, renaming, remembering, force_reload=force_reload)
    else:
        outcome = await call.services.engine.write(
            remembering,
            version=version or None,
            any_version=_needs_no_version(call),
            transaction_id=transaction_id,
            force_reload=force_reload,
            skips_same=call.operation.action == PATCH,
            merges=merges(call),
            claimed=_claimed(call),
        )
    scheduled = "" if outcome.live else outcome.reload_id
    headers: list[Header] = [(RELOAD_ID, scheduled.encode())] if scheduled else []
    status = 202 if scheduled or (transaction_id and not silent) else done
    if stored is None or (silent and scheduled):
        return empty(status, headers)
    document = edited[0]
    return await beside_if(document.size > LARGE, lambda: json_response(status, stored(document), headers))


def _claimed(call: Call) -> Claimed:
    """Return the server that a PUT states, so that the commit also corrects the process. Callers with limited rights correct nothing."""
    if call.operation.action != "replace" or author.get().rights is not None:
        return frozenset()
    asked = target(call, one=True)
    return claimed_by(asked.resource, asked.parent, str(asked.key))


def _needs_no_version(call: Call) -> bool:
    """Whether it says by itself what it is made on: by `If-Match`, or as a part of what a name stands for, whatever else has changed."""
    return IF_MATCH in call.values or (call.operation.action == PATCH and target(call, one=True).resource.kind != "indexed")


def _answers(call: Call, document: Document) -> Iterator[bytes]:
    """What GET answers of the object or the collection that a write is about, also with everything below it."""
    asked, of_one = target(call, one=call.operation.is_of_one), preconditions.is_of_one(call)
    for full in (asked.full, not asked.full) if asked.resource.full_section else (False,):
        seen = dataclasses.replace(asked, full=full)
        yield to_json(seen.object(document) if of_one else seen.objects(document))


def check_version_or_transaction(
    call: Call,
    transaction_id: str | None,
    version: int,
    current: int | None = None,
    asked: str = "/v3/services/haproxy/configuration/version",
) -> None:
    """Exactly one of the two, or none where it can be left out; the message says how to send it.

    `current` is the version of the file, where it is not the configuration, and `asked` the path that answers it.
    """
    if transaction_id and version:
        raise ApiError(400, "both version and transaction specified, specify only one")
    if transaction_id or version or _needs_no_version(call):
        return
    known = {parameter.name for parameter in call.operation.parameters}
    unknown = (name for name in call.query if name not in known)
    meant = [f"{name}: did you mean {near}?" for name in unknown if (near := nearest(name, ("version", "transaction_id")))]
    current = call.services.engine.version(None) if current is None else current
    remedy = f"add ?version={current}, which GET {asked} answers, or ?transaction_id= of an open transaction"
    raise ApiError(400, "version or transaction not specified: " + "; ".join([*meant, remedy]))
