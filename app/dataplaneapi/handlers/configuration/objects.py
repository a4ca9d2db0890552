"""Read and change configuration objects, whatever the kind of their resource: section, view, named child, indexed child or singleton.

`target_of` returns which object or collection a call addresses. A read returns it from the configuration of the call. A write takes three
steps: a builder such as `build_replace` returns the edits as a `Write`, `change_of` adds what the call expects of the current version, and
`make_write` commits the change or adds it to the transaction of the call. An access check makes the first two steps only
(`WriteHandler.check`), and a batch collects the edits of its calls (handlers/sidecar/batch.py).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dataplaneapi.api import conflicts, validation
from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.conflicts import PARAMETER, merges
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.operations import IF_MATCH, PATCH
from dataplaneapi.api.place import place_of
from dataplaneapi.api.responses import UNPARSED_LINES, Header, Response, empty, json_response, reload_headers
from dataplaneapi.api.validation import has_zero, rebased, validated, with_sent_zeros
from dataplaneapi.did_you_mean import nearest
from dataplaneapi.handlers.configuration import naming
from haproxy_native.changes.expect import ANY, Expect, Rebase, Version, find_value
from haproxy_native.changes.operations import Create, Delete, Edit, Patch, Replace, ReplaceAll, apply_all, editor_of
from haproxy_native.commit.change import Change, Reload
from haproxy_native.editing.children import unquoted_name
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.object_names import ObjectPlace
from haproxy_native.editing.resources import Resource
from haproxy_native.editing.sites import Sites
from haproxy_native.errors import ChangedSince, Refused
from haproxy_native.references.naming import Renaming
from haproxy_native.threads import LARGE, run_in_thread_if

# A configuration, which the engine returns and the editor edits. Handlers do not look inside.
Document = Any


@dataclass(frozen=True)
class Target:
    """The object or collection that a call addresses."""

    # The key of the place is empty for a collection, and for an object that has neither a name nor an index.
    place: ObjectPlace
    # Whether a section is read and written with its children.
    full: bool

    @property
    def resource(self) -> Resource:
        return self.place.resource

    @property
    def editor(self) -> Editor | Sites:
        return editor_of(self.place)

    def extent(self, document: Document) -> int:
        """Return how many characters of the configuration must be parsed to read the target: those of its section, or all."""
        above, name = self.place.parent or (None, "")
        size: int = document.extent(above.section, name) if above and above.kind == "section" else document.size
        return size

    def objects(self, document: Document) -> list[dict[str, Any]]:
        return self.editor.list_objects(document, self.resource, self.place.parent, full=self.full)

    def object(self, document: Document) -> dict[str, Any]:
        return self.editor.get_object(document, self.resource, self.place.parent, self.place.key, full=self.full)

    def check_exists(self, document: Document, situation: str) -> None:
        self.editor.check_exists(document, self.resource, self.place.parent, self.place.key, situation)

    def with_key(self, key: Any) -> "Target":
        return replace(self, place=replace(self.place, key=key))

    def new_name(self, document: Document, body: Mapping[str, Any]) -> str:
        """Return the name in a body if that renames the object. Return an empty text if the name is the same or cannot change."""
        name, key = body.get(self.resource.key), str(self.place.key)
        if (
            self.resource.kind in ("indexed", "singleton")
            or not isinstance(name, str)
            or not name
            or unquoted_name(name) == unquoted_name(key)
        ):
            return ""
        # A section without a written name can be renamed, because other lines may refer to it. A line without a written name is just
        # replaced.
        is_section = self.resource.kind == "section" and document.find(self.resource.section, key) is not None
        return name if is_section or self.has_written_name(document) else ""

    def has_written_name(self, document: Document) -> bool:
        return self.editor.has_written_name(document, self.resource, self.place.parent, self.place.key)

    def edited_object(self, body: Mapping[str, Any], document: Document) -> dict[str, Any]:
        """Return the object from the document after an edit. If the object has no written name, it is found by the name in `body`."""
        name, kinds = body.get(self.resource.key), ("named", "section")
        is_new = name not in (None, "", self.place.key) and self.resource.kind in kinds and not self.has_written_name(document)
        return (self.with_key(name) if is_new else self).object(document)

    def added_object(self, before: Document, after: Document) -> dict[str, Any]:
        assert self.place.parent is not None
        assert isinstance(self.editor, Editor)
        return self.editor.added_object(before, after, self.resource, self.place.parent)


def target_of(call: Call, *, one: bool) -> Target:
    """Return the object or, if `one` is False, the collection that a call addresses. The last name in the path is the key of the object."""
    return Target(place_of(call.operation, call.values, call.services.editor, one=one), call.query.full_section)


async def read_all(call: ReadCall) -> Response:
    """Return a collection, filtered by the query parameters that have the names of members."""
    target, document = target_of(call, one=False), call.document
    filters = {name: call.values[name] for name in call.operation.filters if name in call.values}

    def respond() -> Response:
        objects = [object_ for object_ in target.objects(document) if all(object_.get(name) == value for name, value in filters.items())]
        unparsed = target.editor.unparsed(document, target.resource, target.place.parent)
        headers: list[Header] = [(UNPARSED_LINES, ",".join(map(str, unparsed)).encode())] if unparsed else []
        return json_response(200, objects, headers, cacheable=not call.transaction_id)

    return await run_in_thread_if(target.extent(document) > LARGE, respond)


async def read_one(call: ReadCall) -> Response:
    target, document = target_of(call, one=True), call.document
    return await run_in_thread_if(
        target.extent(document) > LARGE, lambda: json_response(200, target.object(document), cacheable=not call.transaction_id)
    )


@dataclass(frozen=True)
class Write:
    """The edits that a call makes, and how to answer the call."""

    # If `renaming` is set, these begin with its edits.
    edits: Sequence[Edit]
    # The status if the change is in effect. The status is 202 if it waits for a reload or the commit of a transaction.
    done: int
    # `stored(before, after)` returns the body of the response from the documents before and after the edits. None: no body.
    stored: Callable[[Document, Document], Any] | None = None
    # Whether a response with a pending reload has no body, and a call inside a transaction answers `done` instead of 202.
    silent: bool = False
    # The renaming of the object, including its changes outside the configuration.
    renaming: Renaming | None = None


Builder = Callable[[Call], Awaitable[Write]]


@dataclass(frozen=True)
class WriteHandler:
    """A handler of a write, which makes the write that `build` returns."""

    build: Builder

    async def __call__(self, call: JsonCall) -> Response:
        check_version_or_transaction(call, call.transaction_id, call.query.version or 0)
        return await make_write(call, await self.build(call))

    async def check(self, call: Call) -> bool | None:
        """Authorize and plan the change without making it, and return whether it would reload HAProxy.

        Raises the error with which the call would be refused.
        """
        check_version_or_transaction(call, call.transaction_id, call.query.version or 0)
        write = await self.build(call)
        try:
            return await call.services.engine.check_change(await change_of(call, write), transaction_id=call.transaction_id)
        except ChangedSince:
            raise conflicts.precondition_failed(call) from None


async def build_replace(call: Call) -> Write:
    target, document, renaming = await _find_target(call)

    def build() -> Write:
        edits, renamed, after_renaming = _apply_renaming(target, document, renaming)
        body = rebased(call.body, target.object(document), renamed.object(after_renaming)) if renaming else call.body
        body = _with_sent_zeros(call, body, after_renaming, renamed)
        replacement = Replace(renamed.place, body, renamed.full, call.services.editor, claims=renaming is None)
        return Write(
            [*edits, replacement],
            200,
            lambda _, after: renamed.edited_object(body, after),
            silent=renamed.resource.silent,
            renaming=renaming,
        )

    return await run_in_thread_if(target.extent(document) > LARGE, build)


async def build_patch(call: Call) -> Write:
    """Merge the body of a PATCH into the current object, validate the result as for a PUT, and return the write of what differs."""
    target, document, renaming = await _find_target(call)
    declared, services = call.operation.body, call.services
    assert declared is not None

    def build() -> Write:
        edits, renamed, after_renaming = _apply_renaming(target, document, renaming)
        current = find_value(after_renaming, renamed.place, full=renamed.full)
        body = call.body
        # If the object is missing, the edit refuses the change later.
        if current is not None:
            base: Mapping[str, Any] = current
            if (resource := services.editor.resources.by_name[call.operation.resource or ""]).section:
                base = validation.without_stale(current, call.body, services.editor.aliases(resource))
            whole = validation.merged(base, call.body)
            shaped = validated(whole, declared.schema, services.schemas, unwritable=call.operation.unwritable, present=lambda: base)
            body = with_sent_zeros(shaped, whole, base)
        members = {name: body.get(name) for name in [*(current or ()), *body] if current is None or body.get(name) != current.get(name)}
        patch = Patch(renamed.place, members, renamed.full, services.editor)
        return Write([*edits, patch], 200, lambda _, after: renamed.edited_object(body, after), renaming=renaming)

    return await run_in_thread_if(target.extent(document) > LARGE, build)


async def _find_target(call: Call) -> tuple[Target, Document, Renaming | None]:
    """Return the target and the document of a call, and the renaming if the body has another name than the path. Raises ApiError."""
    target, document = target_of(call, one=True), call.document
    if "replace" in target.resource.existence_first:
        await run_in_thread_if(document.size > LARGE, target.check_exists, document, "absent_replace")
    to = await run_in_thread_if(target.extent(document) > LARGE, target.new_name, document, call.body)
    if to and merges(call) and call.values.get(PARAMETER):
        text = f"{PARAMETER}=merge in query is not supported by a write that renames, because later writes may refer to the object"
        raise ApiError(400, f"{text}: send it without {PARAMETER}, with ?version={call.services.engine.version()}")
    return target, document, await naming.renaming_of(call, to) if to else None


def _apply_renaming(target: Target, document: Document, renaming: Renaming | None) -> tuple[Sequence[Edit], Target, Document]:
    """Return the edits of a renaming, the target under its new name, and the document after these edits."""
    if renaming is None:
        return [], target, document
    edits = renaming.change.edits
    return edits, target.with_key(renaming.name), apply_all(edits, document)


def _with_sent_zeros(call: Call, body: Any, document: Document, target: Target) -> Any:
    """Return the body with those zeros restored that both the client has sent and the current object has."""
    if not has_zero(call.sent) or (current := find_value(document, target.place, full=target.full)) is None:
        return body
    return with_sent_zeros(body, call.sent, current)


async def build_replace_all(call: Call) -> Write:
    target, document = target_of(call, one=False), call.document
    bodies = await run_in_thread_if(target.extent(document) > LARGE, _with_sent_zeros, call, call.body, document, target)
    return Write([ReplaceAll(target.place, bodies, editor=call.services.editor)], 200, lambda _, after: target.objects(after))


async def build_delete(call: Call) -> Write:
    target = target_of(call, one=True)
    if "delete" in target.resource.existence_first:
        document = call.document
        await run_in_thread_if(document.size > LARGE, target.check_exists, document, "absent_delete")
    await naming.refuse_used(call)
    return Write([Delete(target.place)], 204)


async def build_create(call: Call) -> Write:
    """Build the write that adds an object. An object with an index is inserted there; a negative index, or none, appends it."""
    target = target_of(call, one=call.operation.is_of_one)
    created = target.with_key(call.body.get(target.resource.key, ""))
    # The editor may insert an ACL above the requested position, so the response shows the added object instead of the one at that position.
    stored = target.added_object if target.resource.kind == "indexed" else lambda _, after: created.object(after)
    return Write([Create(target.place, call.body, target.full, call.services.editor)], 201, stored)


@dataclass(frozen=True)
class DeleteHandler(WriteHandler):
    """A handler of a DELETE. If HAProxy refuses the change, the error lists the references to the object."""

    async def __call__(self, call: JsonCall) -> Response:
        try:
            return await super().__call__(call)
        except Refused as error:
            raise await naming.add_references(call, error) from None


create_one = WriteHandler(build_create)
ACTIONS = {
    "list": read_all,
    "get": read_one,
    "create": create_one,
    "append": create_one,
    "replace": WriteHandler(build_replace),
    "patch": WriteHandler(build_patch),
    "replace_all": WriteHandler(build_replace_all),
    "delete": DeleteHandler(build_delete),
}


async def change_of(call: Call, write: Write) -> Change:
    """Return the change that makes a write, with what the call expects of the current version. Raises ApiError and Forbidden."""
    reload, version = call.reload, call.query.version or 0
    # Raises ApiError if the call cannot be merged.
    is_merged = merges(call)
    expect: Expect = ANY
    if IF_MATCH in call.values:
        document = call.document
        target = target_of(call, one=call.operation.is_of_one and conflicts.compares_one(call))
        forms = (target.full, not target.full) if target.resource.full_section else (False,)
        is_large = target.extent(document) > LARGE
        expect = await run_in_thread_if(is_large, conflicts.expected_object, call, document, target.place, forms)
    elif version:
        expect = Rebase(version) if is_merged else Version(version)
    if write.renaming:
        return replace(write.renaming.change, operations=[*write.edits, *write.renaming.change.files], expect=expect, reload=reload)
    skips_same = call.operation.action == PATCH and reload is Reload.AUTO
    return Change(write.edits, expect, reload, skips_same=skips_same, author=call.author)


async def make_write(call: Call, write: Write) -> Response:
    """Commit a write, or add it to the transaction of the call, and return the response.

    The status is `write.done` if the change is in effect, or 202 if it waits for a reload or the commit of the transaction. The body is the
    object as the next GET returns it.
    """
    engine, transaction_id = call.services.engine, call.transaction_id
    change = await change_of(call, write)
    try:
        if write.renaming:
            outcome = await naming.rename(call, replace(write.renaming, change=change))
        elif transaction_id:
            outcome = await engine.write(change.edits, change.expect, author=call.author, transaction_id=transaction_id)
        else:
            outcome = await engine.commit(change)
    except ChangedSince:
        raise conflicts.precondition_failed(call) from None
    scheduled = "" if outcome.live else outcome.reload_id
    headers = reload_headers(scheduled)
    status = 202 if scheduled or (transaction_id and not write.silent) else write.done
    if (stored := write.stored) is None or (write.silent and scheduled):
        return empty(status, headers)
    before, after = outcome.texts or (engine.document, engine.document)
    return await run_in_thread_if(after.size > LARGE, lambda: json_response(status, stored(before, after), headers))


def check_version_or_transaction(
    call: Call,
    transaction_id: str | None,
    version: int,
    current: int | None = None,
    version_path: str = "/v3/services/haproxy/configuration/version",
) -> None:
    """Raise ApiError (400) if a write has both a version and a transaction, or neither although the write needs one of them.

    For a file other than the configuration, `current` is the version of that file, and `version_path` the path that returns the version.
    """
    if transaction_id and version:
        raise ApiError(400, "both version and transaction specified, specify only one")
    # A PATCH of an object without an index needs no version.
    if transaction_id or version or IF_MATCH in call.values:
        return
    if call.operation.action == PATCH and target_of(call, one=True).resource.kind != "indexed":
        return
    known = {parameter.name for parameter in call.operation.parameters}
    unknown = (name for name in call.sent_query if name not in known)
    hints = [f"{name}: did you mean {near}?" for name in unknown if (near := nearest(name, ("version", "transaction_id")))]
    current = call.services.engine.version(None) if current is None else current
    remedy = f"add ?version={current}, the result of GET {version_path}, or ?transaction_id= of an open transaction"
    raise ApiError(400, "version or transaction not specified: " + "; ".join([*hints, remedy]))
