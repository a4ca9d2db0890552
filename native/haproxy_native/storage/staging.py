"""A store as a transaction sees it: with the files that the transaction has staged, and with changes that wait for its commit."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from haproxy_native.commit.file_change import touch
from haproxy_native.disk.file import Draft
from haproxy_native.rehearsal import would_change
from haproxy_native.request_context import author
from haproxy_native.transactions.staged import Staged
from haproxy_native.transactions.transactions import Transactions


class Kind(Protocol):
    """What is needed of a store."""

    name: str
    kind: str


@dataclass(frozen=True)
class Staging:
    """`staged`: the files of the transaction."""

    transactions: Transactions
    id: str
    staged: Staged

    def is_there(self, path: Path) -> bool | None:
        """Whether there is a file in the transaction; None where it is as it is outside."""
        return self.staged.content(path) is not None if path in self.staged.files else None

    async def put(self, store: Kind, path: Path, draft: Draft | None, check: Callable[[], None], *, is_there: bool) -> None:
        """Stages the draft, or without one the deletion. Raises what the check does, NoTransaction, Forbidden, BadRequest, WriteFailed."""
        async with self.transactions.staging(self.id) as staged:
            check()
            touched = touch(store.kind, path, is_there=is_there, stays=draft is not None)
            if rights := author.get().rights:
                rights.permit([touched])
            would_change(reloads=False)
            await asyncio.to_thread(staged.put, path, store.name, touched.object, draft, path)


def names_in(staged: Mapping[Path, object], directory: Path) -> set[str]:
    return {path.name for path in staged if path.parent == directory}
