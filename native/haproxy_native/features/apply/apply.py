"""Apply declarations: make the configuration and stored files equal to what an owner declares, in one commit.

An owner, such as a team or a pipeline, declares whole sections and files. The planner (planner.py) compares the declaration with the
present state, and finds conflicts with other owners and with changes by hand. `Apply` commits the plan and records the owner's claims.

One declaration is carried out at a time. `Apply` writes the claims twice:

1. Before the commit: the new claims, and the former claims with the outcome IN_COMMIT. After a crash both are valid, so the owner's values
   cause no conflict, whether or not the commit was made.
2. After the commit: the new claims. If the change may still be rolled back, because its reload fails or nobody confirms it, the former
   claims are stored together with the `AwaitedOutcome` of that reload and confirmation. A rollback makes the former claims valid again.

If the commit fails, the former claims are written again.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

from haproxy_native.changes.expect import ANY as ANY_VERSION
from haproxy_native.changes.expect import Version
from haproxy_native.changes.file_operations import Contents, EditFiles
from haproxy_native.commit.change import Change, Outcome
from haproxy_native.commit.commit import commit, run_to_the_end
from haproxy_native.commit.preview import Preview
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.object_names import ObjectPlace, kind_of, name_of, parsed, spelled, within
from haproxy_native.engine import Engine
from haproxy_native.errors import Conflict, Missing, Unreadable, Unusable
from haproxy_native.features.apply import plans
from haproxy_native.features.apply.files import COLLECTIONS, VALUE, file_object, is_map, parts
from haproxy_native.features.apply.owners import IN_COMMIT, ITSELF, AwaitedOutcome, Claims, Outcomes, Owners, OwnerTable
from haproxy_native.features.apply.planner import Moves, Planned, Values, plan_declaration, refuse_moved
from haproxy_native.features.apply.plans import Files
from haproxy_native.features.apply.rules import Declaration
from haproxy_native.features.apply.sections import SELF, collections, object_of, part_name, parts_of
from haproxy_native.planning.touches import ANY, CHANGE, CREATE, DELETE, Touch, changed
from haproxy_native.request_context import NOBODY, Author, Permissions
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread


class ApplyDeclaration:
    """The operation of a commit that carries out a declaration.

    If the configuration or the files have changed since `plan` was made, the operation makes a new plan. With `limits`, a conflict raises
    Contested. Without `limits`, as in a dry run, members in conflict stay unchanged.
    """

    is_whole: ClassVar[bool] = False

    def __init__(
        self, editor: Editor, former: Owners, declaration: Declaration, limits: "DeclarationLimits | None", files: Files, plan: Planned
    ) -> None:
        self._editor, self._former, self._declaration, self.limits = editor, former, declaration, limits
        self.files, self.plan = files, plan

    @property
    def author(self) -> Author:
        return self._declaration.author

    def apply(self, document: Document) -> Document:
        self._plan(document, self.plan.read)
        return self.plan.document

    def contents(self, present: Contents) -> Contents:
        """Return the new contents of the stored files that change, by path. The new content of a file to delete is None.

        `present`: the present contents, by path.
        """
        self._plan(self.plan.before, {object_: present[path] for object_, (_, path) in self.files.items()})
        return {self.files[object_][1]: content for object_, content in self.plan.files.contents.items()}

    def file_touches(self) -> list[Touch]:
        """Return the changes of stored files that the plan makes, for authorization."""
        touches = []
        for effect in self.plan.files.shown:
            verb = CREATE if effect.old is None else DELETE if effect.new is None else CHANGE
            touches.append(Touch(effect.object, CHANGE if effect.member else verb, frozenset((ANY,))))
        return touches

    def _plan(self, document: Document, read: Mapping[str, bytes | None]) -> None:
        if document is not self.plan.before or read != self.plan.read:
            self.plan = plan_declaration(self._editor, document, self._former, self._declaration, read)
            if self.limits:
                self.limits.check(self.plan)


class Contested(Conflict):
    """Raised if other owners own or have changed declared members. `planned` is the plan with the conflicts."""

    label = ""

    def __init__(self, found: Planned) -> None:
        first = found.conflicts[0]
        of = f"{first.member} of {first.object}" if first.member else first.object
        more = f", and {len(found.conflicts) - 1} more" if len(found.conflicts) > 1 else ""
        super().__init__(f"{of} belongs to {' and '.join(first.owners)}{more}; force=true takes over, unowned leaves members to others")
        self.planned = found


class TooManyDeleted(Conflict):
    """Raised if a declaration would delete more than `most` objects. `gone`: the names of these objects."""

    label = ""

    def __init__(self, gone: Sequence[str], most: int) -> None:
        super().__init__(f"{len(gone)} objects would be deleted, {gone[0]} first, and max_delete is {most}")
        self.gone = gone


@dataclass(frozen=True)
class ExportedFile:
    """A file that an owner has declared, with its present content.

    If it is a map, `entries` has the entries that the owner has declared, by key.
    """

    name: str
    content: bytes = field(repr=False)
    entries: Mapping[str, str] | None = None


@dataclass(frozen=True)
class DeclarationLimits:
    """The conditions under which a declaration is carried out. A field that is None sets no condition."""

    # How many objects it may delete.
    most_deleted: int | None = None
    # The version that the configuration must have.
    version: int | None = None
    # From a stored plan: the changes that the declaration must make, and the values that the running process must have.
    moves: Moves | None = None
    values: Values | None = None

    def check(self, found: Planned) -> None:
        """Raise ChangedSince, Contested or TooManyDeleted if the plan `found` does not meet the conditions."""
        if self.moves is not None:
            refuse_moved(self.moves, found.moves)
        if found.conflicts:
            raise Contested(found)
        self.check_deleted(found)

    def check_deleted(self, found: Planned) -> None:
        """Raise TooManyDeleted if the plan `found` deletes more than `most_deleted` objects."""
        if self.most_deleted is not None and len(deleted := found.deleted) > self.most_deleted:
            raise TooManyDeleted(deleted, self.most_deleted)


@dataclass(frozen=True)
class LastDeclaration:
    """The last declaration of an owner, so that the same request can be answered again without planning.

    Valid while the claims of the owner, the configuration and the files are unchanged.
    """

    # The digest of the request.
    sent: str
    claims: Claims
    files: Files
    # The plan to return: one without changes.
    planned: Planned


class Apply:
    """Carries out declarations for one engine.

    `confirmed`: returns whether the confirmation with this id was given, or None while the confirmation is pending.
    """

    def __init__(self, engine: Engine, editor: Editor, table: OwnerTable, confirmed: Callable[[str], bool | None] = lambda _: None) -> None:
        self._engine, self._editor, self._table = engine, editor, table
        self._outcomes = Outcomes(engine.reloads.records, confirmed)
        self._lock, self._last_declarations = asyncio.Lock(), dict[str, LastDeclaration]()

    @property
    def owners(self) -> Owners:
        """Return the present owners, after the outcomes of all ended reloads and confirmations are applied. Raises Unusable."""
        stored = self._table.owners
        if (owners := stored.with_known_outcomes(self._outcomes.is_permanent)) is not stored:
            self._table.replace_in_memory(owners)
        return owners

    async def plan(self, declaration: Declaration) -> tuple[Planned, Preview]:
        """Return the plan of a declaration, and a preview of its commit. Raises what `Engine.plan` raises, and Unusable."""
        declared = await self._plan_operation(declaration)
        preview = await self._engine.plan(self._change(declared))
        return declared.plan, preview

    async def check_plan(self, declaration: Declaration) -> None:
        """Raise what `plan` would raise for a declaration, without asking HAProxy to check the result."""
        await self._engine.permit_plan(self._change(await self._plan_operation(declaration)))

    async def _plan_operation(self, declaration: Declaration, limits: DeclarationLimits | None = None) -> ApplyDeclaration:
        """Plan a declaration for the present configuration and files, and return the operation to commit.

        Raises Forbidden, Unusable, and what `limits.check` raises.
        """
        former = self.owners
        files = self._stored_files(declaration, former)
        read = await asyncio.to_thread(_read_files, files)
        plan = await run_in_thread(plan_declaration, self._editor, self._engine.document, former, declaration, read)
        permit_claims(declaration.author.rights, self._editor, plan.claims, plan.created)
        if limits:
            limits.check(plan)
        return ApplyDeclaration(self._editor, former, declaration, limits, files, plan)

    async def values(self, declaration: Declaration, plan: Planned, preview: Preview) -> Values | None:
        """Query the running process for the values of the objects that a plan changes. Return None if HAProxy does not answer."""
        files = self._stored_files(declaration, self.owners)
        return await plans.known_values(self._engine.context, preview, {object_: files[object_] for object_ in plan.files.contents})

    def _stored_files(self, declaration: Declaration, owners: Owners) -> Files:
        """Return the store and path of each file that the owner declares or has declared before, by object name.

        Skips files without a store.
        """
        stores = {store.kind: store for store in self._engine.stores.values()}
        former = (file_object(object_) for object_ in owners.claims_of(declaration.owner))
        names = {object_: parsed(object_) for object_ in dict.fromkeys([*declaration.files, *former]) if object_}
        return {object_: (store, store.directory / name) for object_, (kind, name) in names.items() if (store := stores.get(kind))}

    async def repeated_plan(self, owner: str, sent: str, version: int | None, author: Author) -> Planned | None:
        """Return a plan without changes if the owner repeats its last declaration and nothing has changed since. Otherwise, return None.

        `sent`: the digest of the body and the options of the request. Raises Forbidden and Unusable, and Conflict if the configuration has
        another version than `version`.
        """
        permit_owner(author, owner)
        with suppress(Unreadable):
            await self._engine.notice()
        last = self._last_declarations.get(owner)
        if last is None or last.sent != sent or last.planned.before is not self._engine.document:
            return None
        if last.claims != self.owners.claims.get(owner, {}):
            return None
        (Version(version) if version else ANY_VERSION).compare(self._engine.version())
        return last.planned if await asyncio.to_thread(_read_files, last.files) == last.planned.read else None

    async def check(self, declaration: Declaration, limits: DeclarationLimits) -> bool:
        """Return whether `carry_out` would reload HAProxy. Raises what `carry_out` would raise, except for refusals by HAProxy."""
        permit_owner(declaration.author, declaration.owner)
        with suppress(Unreadable):
            await self._engine.notice()
        return await self._engine.check_change(self._change(await self._plan_operation(declaration, limits)))

    async def carry_out(self, declaration: Declaration, limits: DeclarationLimits, sent: str = "") -> tuple[Planned, Outcome | None]:
        """Commit a declaration. Return its plan and the outcome of the commit. The outcome is None if there was nothing to commit.

        `sent`: the digest of the request, by which `repeated_plan` recognizes a repetition. Cancelling the caller does not cancel the
        commit.

        Raises what a commit raises. Raises Contested, TooManyDeleted, ChangedSince, Forbidden and Unusable before anything is changed.
        """
        permit_owner(declaration.author, declaration.owner)
        with suppress(Unreadable):
            await self._engine.notice()
        return await run_to_the_end(self._engine.context, self._carry_out(declaration, limits, sent))

    async def _carry_out(self, declaration: Declaration, limits: DeclarationLimits, sent: str) -> tuple[Planned, Outcome | None]:
        async with self._lock:
            former, owner = self.owners, declaration.owner
            outcome: Outcome | None = None
            operation = await self._plan_operation(declaration, limits)
            plan = operation.plan
            if plan.is_nothing:
                (Version(limits.version) if limits.version else ANY_VERSION).compare(self._engine.version())
                if plan.owners != former:
                    # If the last change of this owner may still be rolled back, the new claims depend on the same outcome.
                    awaited = [each.awaited for each in former.former.get(owner, ())]
                    await self._table.write(plan.owners.with_former_claims(former, awaited[-1]) if awaited else plan.owners)
                repeated = plan
            else:
                await self._table.write(plan.owners.with_former_claims(former, IN_COMMIT))
                try:
                    outcome = await commit(self._engine.context, self._change(operation))
                    plan = operation.plan
                except BaseException:
                    await self._table.write(former)
                    raise
                await self._table.write(self._owners_to_store(declaration.author, former, plan.owners, outcome.version, outcome.reload_id))
                repeated = plan.repeated([*outcome.texts][1] if outcome.texts else plan.before)
            if sent:
                claims = self._table.owners.claims.get(owner, {})
                self._last_declarations[owner] = LastDeclaration(sent, claims, operation.files, repeated)
            return plan, outcome

    def _change(self, operation: ApplyDeclaration) -> Change:
        """Return the change to commit: the sections, and the stored files if any file changes."""
        files, limits = operation.files, operation.limits or DeclarationLimits()
        stores = {path: store for store, path in files.values()}
        has_files = operation.plan.files.contents
        edits = [EditFiles(stores, operation.contents, touches=operation.file_touches)] if has_files else []
        verify = plans.verifier(self._engine.context, limits.values, files)
        expect = Version(limits.version) if limits.version else ANY_VERSION
        return Change([operation, *edits], expect, verify=verify, author=operation.author)

    def list_stored_names(self, object_: str) -> list[str]:
        """Return the names of the owners of an object, or of any object in it, in the form `owner/NAME`. Raises Unusable."""
        claims = self.owners.claims
        return [spelled("owner", owner) for owner, objects in claims.items() if any(within(name, object_) for name in objects)]

    @asynccontextmanager
    async def follow_rename(self, object_: str, to: str, author: Author) -> AsyncIterator[None]:
        """Rename an object in the claims of its owners, while the body of the context commits the renaming of the object.

        Until the body ends, the owners own both names. If the body raises, the former claims are written again. Raises Unusable.
        """
        async with self._lock:
            former = self.owners
            renamed = former.renamed(object_, to)
            await self._table.write(renamed.with_former_claims(former, IN_COMMIT))
            try:
                yield
            except BaseException:
                await self._table.write(former)
                raise
            await self._table.write(self._owners_to_store(author, former, renamed, self._engine.version()))

    def _owners_to_store(self, author: Author, former: Owners, new: Owners, version: int, reload_id: str | None = None) -> Owners:
        """Return the owners to store after a commit: `new`, and the claims of `former` if the commit may still be rolled back."""
        reloads = self._engine.reloads
        awaited = AwaitedOutcome(reload_id or reloads.pending or reloads.loading or "", author.confirmation, version)
        return new.with_former_claims(former, awaited) if awaited.reload or awaited.confirmation else new

    def exported(self, owner: str) -> dict[str, Any]:
        """Return the sections that an owner has declared, by collection, with the present values of the declared members.

        The result has the form of a declaration, so the owner can apply it again.
        """
        claims, objects = self.owners.claims.get(owner, {}), dict[str, Any]()
        for collection, resource in collections(self._editor).items():
            names = [""] if resource.kind == "singleton" else [name for name, _ in self._engine.document.of_kind(resource.section)]
            for name in dict.fromkeys(names):
                try:
                    object_ = self._editor.get_object(self._engine.document, resource, None, name, full=True)
                except Missing:
                    continue
                own = {}
                for part, members in parts_of(self._editor, resource, object_).items():
                    if (claimed := claims.get(part_name(self._editor, resource, name, part))) is not None:
                        own[part] = {member: value for member, value in members.items() if member in claimed}
                if own:
                    exported = object_of(self._editor, resource, name, {SELF: {}, **own})
                    if resource.kind == "section":
                        objects.setdefault(collection, []).append(exported)
                    else:
                        objects[collection] = exported
        return objects

    def exported_files(self, owner: str) -> dict[str, list[ExportedFile]]:
        """Return the files that an owner has declared, with their present contents, by collection. Blocks."""
        claims, files = self.owners.claims.get(owner, {}), dict[str, list[ExportedFile]]()
        for object_, content in _read_files(self._stored_files(Declaration(owner, {}, author=NOBODY), self.owners)).items():
            own = {name: members for name, members in parts(object_, content).items() if name in claims}
            if content is not None and own:
                kind, name = parsed(object_)
                entries = None
                if is_map(object_):
                    entries = {parsed(entry)[3]: members[VALUE] for entry, members in own.items() if entry != object_}
                files.setdefault(COLLECTIONS[kind], []).append(ExportedFile(name, content, entries))
        return files


def _read_files(files: Files) -> dict[str, bytes | None]:
    """Return the contents of files, by object name. The content of a missing file is None. Blocks. Raises Unusable."""
    try:
        return {object_: store.content(path) if path.exists() else None for object_, (store, path) in files.items()}
    except OSError as error:
        raise Unusable(f"cannot read {error.filename}: {error.strerror}") from error


def permit_owner(author: Author, owner: str) -> None:
    """Raise Forbidden if the author may not declare for the owner."""
    author.permit(changed(spelled("owner", owner), ()))


def permit_claims(rights: Permissions | None, editor: Editor, claims: Mapping[str, Collection[str]], created: Collection[str] = ()) -> None:
    """Raise Forbidden unless `rights` permit to change or to create every claimed member, because a claim prevents changes by other owners.

    The message names the right to create an object if `created` contains the object, and otherwise the right to change it.
    """
    if rights is None or rights.are_all:
        return
    for object_, members in claims.items():
        if members := set(members) - {ITSELF}:
            for change in _claim_touches(editor, object_, members):
                creation = Touch(change.object, CREATE, change.members)
                if not rights.allow(creation):
                    rights.permit([creation if any(within(object_, name) for name in created) else change])
        elif not rights.knows(object_):
            rights.permit([changed(object_, ())])


def _claim_touches(editor: Editor, object_: str, members: Collection[str]) -> Iterator[Touch]:
    """Yield the changes to authorize for a claim of members. For roles, a list in a section, such as its rules, is a separate object."""
    if file_object(object_):
        yield changed(object_, {ANY})
        return
    parts = parsed(object_)
    resource = next((each for each in editor.resources.by_name.values() if not each.parents and kind_of(each) == parts[0]), None)
    lists = dict(editor.resources.children(resource.name)) if resource and len(parts) <= 2 else {}
    for member in sorted(lists.keys() & members):
        parent = (resource, "".join(parts[1:])) if resource else None
        yield changed(name_of(ObjectPlace(lists[member], parent, 0)), {ANY})
    if own := set(members) - lists.keys():
        yield changed(object_, own)
