"""`Apply`: carries out declarations, one at a time, and keeps who owns what."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haproxy_native.apply.fragment import collections
from haproxy_native.apply.owners import OwnerFile, Owners
from haproxy_native.apply.parts import SELF, Members, object_of, part_name, parts_of
from haproxy_native.apply.planner import Declaration, Planned, planned
from haproxy_native.beside import beside
from haproxy_native.commit.change import Change, Outcome
from haproxy_native.commit.commit import commit, to_the_end
from haproxy_native.commit.preview import Preview
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.object_names import spelled
from haproxy_native.engine import Engine
from haproxy_native.errors import Conflict, Missing, Moved
from haproxy_native.planning.touches import changed
from haproxy_native.request_context import author
from haproxy_native.text.document import Document

OWNER = "owner"
# Of one member that waits for reload after reload.
MOST_DIGESTS = 4


class Contested(Conflict):
    """Its detail is the whole text; `planned` has the conflicts."""

    label = ""

    def __init__(self, found: Planned) -> None:
        first = found.conflicts[0]
        of = f"{first.member} of {first.object}" if first.member else first.object
        more = f", and {len(found.conflicts) - 1} more" if len(found.conflicts) > 1 else ""
        super().__init__(f"{of} belongs to {' and '.join(first.owners)}{more}; force=true takes over, unowned leaves members to others")
        self.planned = found


class TooManyDeleted(Conflict):
    """Its detail is the whole text."""

    label = ""


@dataclass(frozen=True)
class Applied:
    """`outcome` is None where nothing differed."""

    planned: Planned
    outcome: Outcome | None


@dataclass(frozen=True)
class Limits:
    """What a declaration may do: delete at most so many objects, be made on this version, and have effects of this digest."""

    most_deleted: int | None = None
    version: int | None = None
    effects: str | None = None

    def check(self, found: Planned) -> None:
        """Raises Contested, TooManyDeleted and Moved."""
        if self.effects not in (None, found.digest):
            raise Moved("what the plan changes, or what it left as it was, has been changed since; ask for a new plan")
        if found.conflicts:
            raise Contested(found)
        gone = [effect.object for effect in found.effects if effect.new is None and not effect.member]
        if self.most_deleted is not None and len(gone) > self.most_deleted:
            raise TooManyDeleted(f"{len(gone)} objects would be deleted, {gone[0]} first, and max_delete is {self.most_deleted}")


class Apply:
    def __init__(self, engine: Engine, editor: Editor, file: OwnerFile) -> None:
        self._engine, self._editor, self._file = engine, editor, file
        self._lock = asyncio.Lock()

    @property
    def owners(self) -> Owners:
        """Raises Unusable."""
        return self._file.owners

    async def plan(self, declaration: Declaration) -> tuple[Planned, Preview]:
        """What it would change. Raises what the engine's `plan` raises, and Unusable."""
        found = await beside(planned, self._editor, self._engine.document, self._file.owners, declaration)
        return found, await self._engine.plan_document(found.document)

    async def carry_out(self, declaration: Declaration, limits: Limits) -> Applied:
        """Raises Contested, TooManyDeleted and Moved with nothing changed, Forbidden, Unusable, and what a commit raises."""
        if rights := author.get().rights:
            rights.permit([changed(spelled(OWNER, declaration.owner), ())])
        return await to_the_end(self._engine.context, self._carried_out(declaration, limits))

    async def _carried_out(self, declaration: Declaration, limits: Limits) -> Applied:
        async with self._lock:
            former = self._file.owners
            found = await beside(planned, self._editor, self._engine.document, former, declaration)
            limits.check(found)
            if not found.effects and found.document is found.before:
                if found.owners != former:
                    await asyncio.to_thread(self._file.write, found.owners)
                return Applied(found, None)
            # Known before the commit, so that what a kill leaves behind is not taken for an edit by others.
            await asyncio.to_thread(self._file.write, _both(former, found.owners, declaration.owner))
            try:
                found, outcome = await self._committed(declaration, former, found, limits)
            except BaseException:
                await asyncio.to_thread(self._file.write, former)
                raise
            # What may still go back by itself is this owner's in either state.
            goes_back = outcome.reload_id or author.get().confirmation
            kept = _both(former, found.owners, declaration.owner) if goes_back else found.owners
            await asyncio.to_thread(self._file.write, kept)
            return Applied(found, outcome)

    async def _committed(self, declaration: Declaration, former: Owners, found: Planned, limits: Limits) -> tuple[Planned, Outcome]:
        """`found`: what was planned already, used where nothing has come between."""
        plans = [found]

        def edit(before: Document) -> Document:
            if before is not plans[0].before:
                plans[0] = planned(self._editor, before, former, declaration)
                limits.check(plans[0])
            return plans[0].document

        outcome = await commit(self._engine.context, Change(edit, limits.version, kept=False))
        return plans[0], outcome

    def exported(self, owner: str) -> dict[str, Any]:
        """What an owner declares, as it stands in the configuration; it can be applied again."""
        claims, found = self._file.owners.of(owner), dict[str, Any]()
        for collection, resource in collections(self._editor).items():
            names = [""] if resource.kind == "singleton" else [name for name, _ in self._engine.document.of_kind(resource.section)]
            for name in dict.fromkeys(names):
                try:
                    object_ = self._editor.get_object(self._engine.document, resource, None, name, full=True)
                except Missing:
                    continue
                parts = parts_of(self._editor, resource, object_)
                named = {part: part_name(self._editor, resource, name, part) for part in parts}
                own = {part: _owned(members, claims[named[part]]) for part, members in parts.items() if named[part] in claims}
                if own:
                    whole = object_of(self._editor, resource, name, {SELF: {}, **own})
                    found.setdefault(collection, []).append(whole) if resource.kind == "section" else found.update({collection: whole})
        return found


def _owned(members: Members, claims: Mapping[str, str]) -> Members:
    return {member: value for member, value in members.items() if member in claims}


def _both(former: Owners, now: Owners, owner: str) -> Owners:
    """With both digests of a member, and with what the owner gives up."""
    before, after = former.of(owner), now.of(owner)
    claims: dict[str, dict[str, str]] = {}
    for object_ in dict.fromkeys([*before, *after]):
        old, new = before.get(object_, {}), after.get(object_, {})
        claims[object_] = {member: _last([each[member] for each in (old, new) if member in each]) for member in {**old, **new}}
    return former.with_claims(owner, claims, {})


def _last(digests: Sequence[str]) -> str:
    """The last few of them."""
    return ",".join(list(dict.fromkeys(",".join(digests).split(",")))[-MOST_DIGESTS:])
