"""A store as a transaction or a batch sees it: with the files that it has staged, and with changes that wait for its commit."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from haproxy_native.changes.file_operations import FileStore
from haproxy_native.commit.permission import touches_of
from haproxy_native.disk.file import Draft
from haproxy_native.editing.object_names import spelled
from haproxy_native.planning.touches import Touch
from haproxy_native.request_context import Author, Rights
from haproxy_native.transactions.staged import Staged


@dataclass(frozen=True)
class Staging:
    """`staged`: the files of the transaction; `opened` holds them while one of them changes, which `author` does."""

    staged: Staged
    opened: Callable[[], AbstractAsyncContextManager[Staged]]
    author: Author

    def is_there(self, path: Path) -> bool | None:
        """Whether there is a file in the transaction; None where it is as it is outside."""
        return self.staged.files[path].is_there if path in self.staged.files else None

    async def put(self, store: FileStore, path: Path, draft: Draft | None, check: Callable[[], None], *, is_there: bool) -> None:
        """Stages the draft, or without one the deletion. Raises what the check does, NoTransaction, Forbidden, BadRequest, Unusable."""
        async with self.opened() as staged:
            check()
            if rights := self.author.rights:
                rights.permit(await asyncio.to_thread(self._touches, rights, store, path, draft, is_there=is_there))
            await asyncio.to_thread(staged.put, path, store.name, spelled(store.kind, path.name), draft, path)

    def _touches(self, rights: Rights, store: FileStore, path: Path, draft: Draft | None, *, is_there: bool) -> Sequence[Touch]:
        now = (self.staged.content(path) if path in self.staged.files else path) if is_there else None
        before, after = (file.read_bytes() if file else None for file in (now, draft.path if draft else None))
        return touches_of(rights, store, path, before, after)


def names_in(staged: Mapping[Path, object], directory: Path) -> set[str]:
    return {path.name for path in staged if path.parent == directory}
