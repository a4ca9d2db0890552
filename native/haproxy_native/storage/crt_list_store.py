"""Store crt-lists, edit their entries, and update a list in HAProxy's memory.

HAProxy can only append entries to a loaded list. So a change that only appends and removes entries is made at runtime, and a change that
inserts an entry before others needs a reload. New entries are added before old ones are deleted, so that each name has a certificate at any
time.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from haproxy_native.commit.change import Outcome, Reload
from haproxy_native.commit.context import CommitContext
from haproxy_native.disk.directories import Directory
from haproxy_native.editing.file_references import FileReference
from haproxy_native.errors import BadRequest, Missing, NativeError, NeedsReload, RuntimeFailure, RuntimeRefused, WriteFailed
from haproxy_native.request_context import Author
from haproxy_native.runtime import ssl_files
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.ssl_files import CERTIFICATES
from haproxy_native.storage import crt_list
from haproxy_native.storage.certificate_store import is_name_of, needs_reload, read_with_key
from haproxy_native.storage.crt_list import CrtListLine
from haproxy_native.storage.digests import PRINTED_CRT_LISTS
from haproxy_native.storage.store import RuntimeWay, Store
from haproxy_native.text.words import unquoted

# The API lists only crt-lists with this extension. Lists with other names can be stored as well.
LISTED = ".txt"
# Bytes of a list that clients may store: each change parses the whole list.
LARGEST = 1 << 24


def crt_list_step(path: Path, name: str, former: str) -> Step:
    """Update the list that HAProxy has loaded as `name` to the entries of the file. `former`: the text that HAProxy has loaded.

    Raises NeedsReload if a reload is needed.
    """

    async def apply(runtime: Runtime) -> None:
        try:
            text = await asyncio.to_thread(path.read_text, "utf-8", "surrogateescape")
        except OSError as error:
            raise NeedsReload(f"{path} cannot be read: {error.strerror}") from error
        old, new = crt_list.entries(former), crt_list.entries(text)
        shown = await ssl_files.read_crt_list(runtime, name)
        if [(row.file, row.filters) for row in shown] != [(row.file, row.filters) for row in old]:
            raise NeedsReload(f"HAProxy has other entries for {path.name} than its former file")
        difference = crt_list.difference(old, new)
        if difference is None:
            raise NeedsReload(crt_list.obstacle(former, text))
        removed, added = difference
        await _append(runtime, name, added)
        try:
            for index in removed:
                await ssl_files.delete_crt_list_entry(runtime, name, shown[index].file, shown[index].line)
        except RuntimeFailure as error:
            # HAProxy refuses to delete the default certificate, for example. The reload loads the added entries, too.
            raise NeedsReload(str(error)) from error
        shown = await ssl_files.read_crt_list(runtime, name)
        if [(row.file, row.filters) for row in shown] != [(row.file, row.filters) for row in new]:
            raise NeedsReload(f"HAProxy shows other entries for {path.name} than were sent")

    return Step([f"{verb} ssl crt-list {name} ..." for verb in ("add", "del")], apply)


async def _append(runtime: Runtime, name: str, entries: Sequence[CrtListLine]) -> None:
    """Append all entries to a loaded list, or none."""
    before = len(await ssl_files.read_crt_list(runtime, name))
    try:
        for entry in entries:
            await _load_certificate(runtime, name, entry.file)
            await ssl_files.add_crt_list_entry(runtime, name, entry.file, entry.options, entry.filters)
    except RuntimeRefused as error:
        for row in reversed((await ssl_files.read_crt_list(runtime, name))[before:]):
            await ssl_files.delete_crt_list_entry(runtime, name, row.file, row.line)
        if needs_reload(error):
            raise NeedsReload(error.answer) from error
        raise


async def _load_certificate(runtime: Runtime, name: str, file: str) -> None:
    """Load a certificate of a list into HAProxy's memory, unless it is there."""
    if file in await ssl_files.list_files(runtime, CERTIFICATES):
        return
    if not file.startswith("/"):
        raise NeedsReload(f"the list names {file} by a relative path, which only HAProxy can resolve")
    pem = await asyncio.to_thread(read_with_key, Path(file))
    if pem is None:
        raise RuntimeRefused(f"unable to stat SSL certificate from file '{file}'", f"add ssl crt-list {name} {file}")
    await ssl_files.create(runtime, CERTIFICATES, file, pem)


class CrtListStore(Store):
    """The store `ssl_crt_lists`. Its directory may also contain certificates, which the store never shows."""

    kind = "crt_list"
    description = created = "managed certificate list"
    printed_kinds = (PRINTED_CRT_LISTS,)
    ends_lines = True

    def __init__(self, name: str, directory: Directory, state: Path) -> None:
        super().__init__(name, directory, state)
        # Locked during an edit of an entry, so that the next edit starts from the text that this one writes.
        self._editing = asyncio.Lock()

    def check_content(self, path: Path, draft: Path) -> None:
        if draft.stat().st_size > LARGEST:
            raise BadRequest(f"a list of certificates has at most {LARGEST} bytes")

    def files(self) -> list[Path]:
        return [path for path in super().files() if path.name.endswith(LISTED)]

    def find(self, name: str) -> Path:
        """Return the path of a list. Raises Missing if there is no such list, or if the file is a certificate, whose text is secret."""
        path = super().find(name)
        try:
            if crt_list.is_list(self.content(path)):
                return path
        except OSError as error:
            raise WriteFailed(f"cannot read {path}: {error.strerror}") from error
        raise self.not_there(path)

    def may_send(self, context: CommitContext, path: Path) -> bool:
        """Return whether clients may read a file.

        They may if all lines that name the file load it as a crt-list. If no line names the file, it must have the extension of lists.
        """
        base = context.base(context.current.document)
        named = [reference for reference in self.references(context, path) if path.name in reference.text]
        for words in [reference.text.split() for reference in named]:
            for before, word in zip(["", *words], words, strict=False):
                if path.name in word and not (before == "crt-list" and is_name_of(unquoted(word), path, base)):
                    return False
        return bool(named) or path.name.endswith(LISTED)

    def readable(self, context: CommitContext, name: str) -> Path:
        """Return the path of a list that clients may read. Raises Missing."""
        path = self.find(name)
        if not self.may_send(context, path):
            raise self.not_there(path)
        return path

    async def find_runtime_way(
        self, context: CommitContext, path: Path, content: Path | None, running_lines: Sequence[FileReference]
    ) -> RuntimeWay:
        if str(path) in context.ledger.entries:
            return RuntimeWay(obstacle=f"HAProxy has not read {path.name} since it was changed", is_loaded=True)
        base = context.base(context.current.document)
        try:
            names = [name for name in await ssl_files.list_crt_lists(context.runtime) if is_name_of(name, path, base)]
            former = self.text(path) if names else ""
            new = (await asyncio.to_thread(content.read_bytes)).decode("utf-8", "surrogateescape") if names and content else former
        except (NativeError, OSError) as error:
            return RuntimeWay(obstacle=str(error))
        if not context.runtime.capabilities.can("add ssl crt-list"):
            return RuntimeWay(obstacle="HAProxy cannot change a certificate list at runtime")
        if not names:
            return RuntimeWay(obstacle="HAProxy has not loaded the list, though its configuration refers to it")
        return RuntimeWay([crt_list_step(path, name, former) for name in names], crt_list.obstacle(former, new), is_loaded=True)

    async def add_entry(
        self, context: CommitContext, name: str, entry: CrtListLine, author: Author, reload: Reload = Reload.AUTO
    ) -> Outcome:
        """Append an entry to a list. Creates the list if it is missing."""
        async with self._editing:
            try:
                upload, former = self.upload_existing(name, author), self.text(self.find(name))
            except Missing:
                upload, former = self.upload_new(name, author), ""
            return await self.replace_text(context, upload, former, crt_list.with_entry(former, entry), reload)

    async def delete_entry(
        self, context: CommitContext, name: str, file: str, line: int, author: Author, reload: Reload = Reload.AUTO
    ) -> Outcome:
        """Delete the entry of a certificate at a line. Line 0 means the first entry of the certificate. Raises Missing."""
        async with self._editing:
            former = self.text(self.readable(context, name))
            text, _ = crt_list.without_entry(former, file, line)
            return await self.replace_text(context, self.upload_existing(name, author), former, text, reload)
