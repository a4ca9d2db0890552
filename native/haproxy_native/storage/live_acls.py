"""Change the patterns of ACLs: in the process alone or, with `sync`, in their files as well (see `live_maps`)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os.path import normpath

from haproxy_native.commit.change import MemberChange
from haproxy_native.commit.commit import change_process
from haproxy_native.commit.context import CommitContext
from haproxy_native.editing.file_references import path_of_name
from haproxy_native.editing.object_names import encoded
from haproxy_native.errors import BadRequest, Exists, RuntimeRefused
from haproxy_native.planning.touches import CREATE, DELETE, Touch
from haproxy_native.request_context import Author
from haproxy_native.runtime import lists
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.lists import LoadedAcl, add_pattern, delete_pattern, replace_patterns
from haproxy_native.storage import list_files
from haproxy_native.storage.live_maps import EntriesEdit, LiveFile, unchecked
from haproxy_native.storage.store import Store


@dataclass(frozen=True)
class AclFile(LiveFile[str]):
    """An ACL and its stored file, for changes of both (`sync`)."""

    # The ACL's name in HAProxy.
    acl: str

    async def entries(self) -> list[str]:
        return [pattern for _, pattern in await lists.read_acl(self.context.runtime, self.acl)]

    def parse(self, text: str) -> list[str]:
        return list_files.parse_patterns(text)

    def edited(self, text: str, entries: Sequence[str]) -> str:
        return list_files.edit_patterns(text, entries)


@dataclass(frozen=True)
class LiveAcl:
    """An ACL that HAProxy has loaded. `author` makes all changes.

    Changes raise RuntimeFailure. With `sync` they also raise RefusedAtRuntime, BadValue, WriteFailed, and BadRequest if the ACL has no
    stored file.
    """

    context: CommitContext
    stores: Mapping[str, Store]
    # `#<id>`, or its file as HAProxy spells it.
    name: str
    author: Author
    # The path of its file, from `acl_path`, which permissions and the history use as its name.
    object_name: str = ""

    async def add(self, pattern: str, *, sync: bool = False) -> None:
        """Append a pattern. Raises Exists."""

        async def check() -> None:
            if pattern in [row for _, row in await self._patterns()]:
                raise Exists(pattern)

        touched = self.touch(pattern, CREATE)
        changed = MemberChange(touched.object, "pattern", None, pattern)
        await self._change(
            add_pattern(self.name, pattern), lambda before: [*before, pattern], sync, touched, check=check, changes=lambda: [changed]
        )

    async def delete(self, reference: str, *, sync: bool = False) -> None:
        """Delete the pattern with a reference, the address in the worker's memory that HAProxy prints."""
        by_reference = dict[str, str]()

        async def read_current() -> None:
            by_reference.update(await self._patterns())

        def edit(before: Sequence[str]) -> list[str]:
            left = list(before)
            if (deleted := by_reference.get(reference)) in left:
                left.remove(deleted)
            return left

        def changes() -> list[MemberChange]:
            deleted = by_reference.get(reference)
            return [MemberChange(self.touch(deleted, DELETE).object, "pattern", deleted, None)] if deleted is not None else []

        await self._change(
            delete_pattern(self.name, reference), edit, sync, self.touch(reference, DELETE), check=read_current, changes=changes
        )

    async def replace(self, patterns: Sequence[str], *, sync: bool = False) -> None:
        await self._change(replace_patterns(self.name, lambda: patterns), lambda before: list(patterns), sync)

    async def _patterns(self) -> list[tuple[str, str]]:
        """Return (reference, pattern) for each pattern; an empty list for a missing ACL, whose change HAProxy refuses anyway."""
        with suppress(RuntimeRefused):
            return await lists.read_acl(self.context.runtime, self.name)
        return []

    @property
    def object(self) -> str:
        return f"acl/{encoded(self.object_name or self.name)}"

    def touch(self, entry: str, verb: str) -> Touch:
        """Return the touch of an entry. `entry`: a new pattern, or the reference of an existing pattern."""
        return Touch(f"{self.object}/entry/{encoded(entry)}", verb)

    async def _change(
        self,
        step: Step,
        edit: EntriesEdit[str],
        sync: bool,
        touched: Touch | None = None,
        *,
        check: Callable[[], Awaitable[None]] = unchecked,
        changes: Callable[[], Sequence[MemberChange]] = list,
    ) -> None:
        """Change one pattern by a step, or all patterns if `touched` is None.

        With `sync`, `edit` makes the same change to the patterns of the file. `changes` is called after `check`, and returns the changes
        that the step makes, for the history.
        """
        touches = [touched] if touched else ()
        if sync:
            await (await self._find_file()).change(step, edit, whole=touched is None, check=check, touched=touches)
            return

        async def apply() -> Sequence[MemberChange]:
            await check()
            await step.apply(self.context.runtime)
            return changes()

        await change_process(self.context, self.object, apply, touches, author=self.author)

    async def _find_file(self) -> AclFile:
        """Return the ACL's stored file. Raises BadRequest if it has none."""
        acl = next((acl for acl in await lists.list_acls(self.context.runtime) if self.name in (f"#{acl.id}", acl.file)), None)
        if acl is None:
            # Raises HAProxy's refusal for a missing ACL.
            await lists.read_acl(self.context.runtime, self.name)
        if acl is None or not acl.file:
            raise BadRequest(f"ACL {self.name} is defined in the configuration and has no file")
        for store in self.stores.values():
            if path := store.file_loaded_as(self.context, acl.file):
                store.check_there(path)
                return AclFile(self.context, store, path, self.author, self.name)
        known = ", ".join(sorted({f"{store.setting} {store.directory}" for store in self.stores.values()}))
        what = f"the file of ACL {self.name}, {acl.file}, is not in a directory of stored files, so it cannot be changed"
        raise BadRequest(f"{what}; they are: {known}")


def acl_path(context: CommitContext, stores: Mapping[str, Store], acl: LoadedAcl) -> str:
    """Return the absolute path of an ACL's file, however HAProxy spells it; empty for an ACL without a file."""
    if not acl.file:
        return ""
    own = next(filter(None, (store.file_loaded_as(context, acl.file) for store in stores.values())), None)
    document = context.running.document or context.current.document
    return str(own or normpath(path_of_name(document, context.base(document), acl.file)))


async def find_acl(context: CommitContext, stores: Mapping[str, Store], name: str) -> LoadedAcl | None:
    """Return the ACL with this number, or with a file of this path or name; None if there is none. Raises RuntimeFailure.

    If the files of several ACLs have this name, return the ACL whose file is in `acl_dir`, or None if no such file is in `acl_dir`.
    """
    acls = [(acl, acl_path(context, stores, acl)) for acl in await lists.list_acls(context.runtime)]
    for acl, path in acls:
        if name == acl.id or (path and name in (acl.file, path)):
            return acl
    own = [str(store.directory / name) for key, store in stores.items() if key == "acls" and name in {path.name for path in store.files()}]
    named = [acl for acl, path in acls if (path in own if own else path and path.rpartition("/")[2] == name)]
    return named[0] if len(named) == 1 else None
