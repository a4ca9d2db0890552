"""crt-lists and edits of their entries, applied live where HAProxy has loaded the list."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from haproxy_native.commit.change import Outcome, Reload
from haproxy_native.commit.context import CommitContext
from haproxy_native.disk.directories import Directory
from haproxy_native.editing.file_references import Reference
from haproxy_native.errors import BadRequest, Conflict, Missing, RuntimeFailure, WriteFailed
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.request_context import Author
from haproxy_native.runtime import ssl_files
from haproxy_native.storage import crt_list, ssl_shown
from haproxy_native.storage.certificate_store import means
from haproxy_native.storage.crt_list import CrtListLine
from haproxy_native.storage.plans import by_reload, crt_list_plan, loaded_anew
from haproxy_native.storage.store import Store, Upload
from haproxy_native.storage.tls_steps import CrtListStep
from haproxy_native.text.words import unquoted

# Others are stored, too, but not listed.
LISTED = ".txt"
# Bytes of a list that clients may store: it is read as a whole, again and again.
LARGEST = 1 << 24


class CrtListStore(Store):
    kind = "crt_list"
    description = created = "managed certificate list"

    def __init__(self, name: str, directory: Directory, state: Path) -> None:
        super().__init__(name, directory, state)
        # An edit of one entry begins with the text that the one before it left.
        self._one_at_a_time = asyncio.Lock()

    def check_content(self, path: Path, draft: Path) -> None:
        if draft.stat().st_size > LARGEST:
            raise BadRequest(f"a list of certificates may have {LARGEST} bytes")

    def files(self) -> list[Path]:
        return [path for path in super().files() if path.name.endswith(LISTED)]

    def find(self, name: str) -> Path:
        """Never a certificate with its key: those stand in the same directory, and their text is never returned."""
        path = super().find(name)
        try:
            if crt_list.is_list(self.content(path)):
                return path
        except OSError as error:
            raise WriteFailed(f"cannot read {path}: {error.strerror}") from error
        raise self.not_there(path)

    def may_send(self, context: CommitContext, path: Path) -> bool:
        """One that is listed or that the configuration loads as a list, and that nothing else in the configuration reads."""
        named = [reference for reference in self.references(context, path) if path.name in reference.text]
        if named:
            return all(_is_loaded(name, path, str(context.current.path.parent)) for name in named)
        return path.name.endswith(LISTED)

    def readable(self, context: CommitContext, name: str) -> Path:
        """A list of which clients may learn what it holds. Raises Missing."""
        path = self.find(name)
        if not self.may_send(context, path):
            raise self.not_there(path)
        return path

    def text(self, path: Path) -> str:
        """Raises WriteFailed where it cannot be read."""
        try:
            if path.parent == self.directory:
                return self.content(path).decode("utf-8", "surrogateescape")
            return path.read_text("utf-8", "surrogateescape")
        except OSError as error:
            raise WriteFailed(f"cannot read {path}: {error.strerror}") from error

    async def differing(self, context: CommitContext) -> list[tuple[str, str, str]]:
        return await ssl_shown.differing(context, self, ssl_shown.CRT_LISTS)

    async def plan(self, context: CommitContext, path: Path, content: Path | None) -> FilePlan:
        used, wanted = self.used(context, path), self.references(context, path)
        if str(path) in context.ledger.entries:
            return loaded_anew(used, wanted, f"HAProxy has not read {path.name} since it was changed")
        base = str(context.current.path.parent)
        try:
            names = [name for name in await ssl_files.list_crt_lists(context.runtime) if means(name, path, base)]
            former = self.text(path) if names else ""
            new = self.text(content) if names and content else former
        except (RuntimeFailure, WriteFailed) as error:
            return by_reload(used, wanted, str(error))
        if not context.runtime.capabilities.can("add ssl crt-list"):
            return by_reload(used, wanted, "HAProxy cannot take a certificate list live")
        return crt_list_plan([CrtListStep(path, name, former) for name in names], crt_list.obstacle(former, new), used, wanted)

    def _upload(self, path: Path, author: Author, check: Callable[[], None]) -> Upload:
        upload = super()._upload(path, author, check)
        upload.ends_lines = True
        return upload

    async def add_entry(
        self, context: CommitContext, name: str, entry: CrtListLine, author: Author, reload: Reload = Reload.AUTO
    ) -> Outcome:
        """Adds an entry at the end of a list, which is created if missing."""
        async with self._one_at_a_time:
            try:
                upload, former = self.other(name, author), self.text(self.find(name))
            except Missing:
                upload, former = self.new(name, author), ""
            return await self._commit(context, upload, crt_list.with_entry(former, entry), former, reload)

    async def delete_entry(
        self, context: CommitContext, name: str, file: str, line: int, author: Author, reload: Reload = Reload.AUTO
    ) -> Outcome:
        """The entry of a certificate at a line, the first for 0. Raises Missing."""
        async with self._one_at_a_time:
            former = self.text(self.readable(context, name))
            text, _ = crt_list.without_entry(former, file, line)
            return await self._commit(context, self.other(name, author), text, former, reload)

    async def _commit(self, context: CommitContext, upload: Upload, text: str, former: str, reload: Reload) -> Outcome:
        """Raises Conflict if another client has changed the list in between."""
        check = upload.check

        def unchanged() -> None:
            check()
            if (self.text(upload.path) if upload.path.exists() else "") != former:
                raise Conflict(f"{upload.path.name} was changed by another client at the same time; send the entry again")

        upload.check = unchanged
        try:
            await upload.append(text.encode("utf-8", "surrogateescape"))
            return await upload.commit(context, reload)
        finally:
            upload.discard()


def _is_loaded(reference: Reference, path: Path, base: str) -> bool:
    """Whether a line loads a file as a list, and as nothing else."""
    words = reference.text.split()
    loaded = [place for place, word in enumerate(words) if path.name in word]
    return all(words[place - 1] == "crt-list" and means(unquoted(words[place]), path, base) for place in loaded)
