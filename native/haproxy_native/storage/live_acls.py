"""Changes of the ACLs that HAProxy has loaded, in the process alone or, with `sync`, in the ACL's file as well."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os.path import normpath

from haproxy_native.commit.change import Member
from haproxy_native.commit.commit import change_process
from haproxy_native.commit.context import CommitContext
from haproxy_native.editing.file_references import path_of_name
from haproxy_native.editing.object_names import encoded
from haproxy_native.errors import BadRequest, Exists, RuntimeRefused
from haproxy_native.planning.touches import CREATE, DELETE, Touch
from haproxy_native.request_context import Author
from haproxy_native.runtime import lists
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.lists import Acl, AddPattern, DeletePattern, ReplacePatterns
from haproxy_native.storage import pattern_file
from haproxy_native.storage.live_file import EntriesEdit, LiveFile, unchecked
from haproxy_native.storage.store import Store

PATTERN = "pattern"


@dataclass(frozen=True)
class AclFile(LiveFile[str]):
    """The file of one ACL, whose name in HAProxy is `acl`."""

    acl: str

    async def entries(self) -> list[str]:
        return [pattern for _, pattern in await lists.read_acl(self.context.runtime, self.acl)]

    def read(self, text: str) -> list[str]:
        return pattern_file.read(text)

    def written(self, text: str, entries: Sequence[str]) -> str:
        return pattern_file.with_patterns(text, entries)


@dataclass(frozen=True)
class LiveAcl:
    """One ACL by `#<id>` or its file as HAProxy spells it, as its author changes it; `object_name`: its file by the one path that it has.

    What changes it raises RuntimeFailure and, with `sync`, BadRequest where there is no file of ours, NotTaken, BadValue and WriteFailed.
    """

    context: CommitContext
    stores: Mapping[str, Store]
    name: str
    author: Author
    object_name: str = ""

    async def add(self, pattern: str, *, sync: bool = False) -> None:
        """Raises Exists."""

        async def check() -> None:
            if pattern in [row for _, row in await self._there()]:
                raise Exists(pattern)

        touched = self.touch(pattern, CREATE)
        changed = Member(touched.object, PATTERN, None, pattern)
        await self._change(
            AddPattern(self.name, pattern), lambda before: [*before, pattern], sync, touched, check=check, changes=lambda: [changed]
        )

    async def delete(self, reference: str, *, sync: bool = False) -> None:
        there = dict[str, str]()

        async def look() -> None:
            there.update(await self._there())

        def edit(before: Sequence[str]) -> list[str]:
            left = list(before)
            if (gone := there.get(reference)) in left:
                left.remove(gone)
            return left

        def changes() -> list[Member]:
            gone = there.get(reference)
            return [Member(self.touch(gone, DELETE).object, PATTERN, gone, None)] if gone is not None else []

        await self._change(DeletePattern(self.name, reference), edit, sync, self.touch(reference, DELETE), check=look, changes=changes)

    async def replace(self, patterns: Sequence[str], *, sync: bool = False) -> None:
        await self._change(ReplacePatterns(self.name, patterns), lambda before: list(patterns), sync)

    async def _there(self) -> list[tuple[str, str]]:
        """References and patterns; none of a missing ACL, which is reported by the command that would change it."""
        with suppress(RuntimeRefused):
            return await lists.read_acl(self.context.runtime, self.name)
        return []

    @property
    def object(self) -> str:
        return f"acl/{encoded(self.object_name or self.name)}"

    def touch(self, entry: str, verb: str) -> Touch:
        """`entry`: a new pattern, or the reference of one that is there."""
        return Touch(f"{self.object}/entry/{encoded(entry)}", verb)

    async def _change(
        self,
        step: Step,
        edit: EntriesEdit[str],
        sync: bool,
        touched: Touch | None = None,
        *,
        check: Callable[[], Awaitable[None]] = unchecked,
        changes: Callable[[], Sequence[Member]] = list,
    ) -> None:
        """`touched`: the entry that changes, all of them without it. `changes` returns what the step changes, once `check` has passed."""
        touches = [touched] if touched else ()
        if sync:
            await (await self._file()).change(step, edit, whole=touched is None, check=check, touched=touches)
            return

        async def apply() -> Sequence[Member]:
            await check()
            await step.apply(self.context.runtime)
            return changes()

        await change_process(self.context, self.object, apply, touches, author=self.author)

    async def _file(self) -> AclFile:
        """Raises BadRequest where there is none that may be written."""
        acl = next((acl for acl in await lists.list_acls(self.context.runtime) if self.name in (f"#{acl.id}", acl.file)), None)
        if acl is None:
            # HAProxy has words of its own for an ACL that is not there.
            await lists.read_acl(self.context.runtime, self.name)
        if acl is None or not acl.file:
            raise BadRequest(f"ACL {self.name} stands in the configuration and has no file that could follow")
        for store in self.stores.values():
            if path := store.own(self.context, acl.file):
                store.check_there(path)
                return AclFile(self.context, store, path, self.author, self.name)
        known = ", ".join(sorted({f"{store.setting} {store.directory}" for store in self.stores.values()}))
        what = f"the file of ACL {self.name}, {acl.file}, is in none of the directories for stored files and stays as it is"
        raise BadRequest(f"{what}; they are: {known}")


def place_of(context: CommitContext, stores: Mapping[str, Store], acl: Acl) -> str:
    """Return the one path of an ACL's file, however HAProxy spells it; empty for an ACL without a file."""
    if not acl.file:
        return ""
    own = next(filter(None, (store.own(context, acl.file) for store in stores.values())), None)
    document = context.running.document or context.current.document
    return str(own or normpath(path_of_name(document, str(context.current.path.parent), acl.file)))


async def found(context: CommitContext, stores: Mapping[str, Store], name: str) -> Acl | None:
    """The ACL that a number, a path or the name of a file means. Of several files of one name it is that in `acl_dir`, else none.

    Raises RuntimeFailure.
    """
    there = [(acl, place_of(context, stores, acl)) for acl in await lists.list_acls(context.runtime)]
    for acl, place in there:
        if name == acl.id or (place and name in (acl.file, place)):
            return acl
    own = [str(store.directory / name) for key, store in stores.items() if key == "acls" and name in {path.name for path in store.files()}]
    named = [acl for acl, place in there if (place in own if own else place and place.rpartition("/")[2] == name)]
    return named[0] if len(named) == 1 else None
