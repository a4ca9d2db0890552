"""`Bundle`: the content of a release: the text of haproxy.cfg, and all stored files of the kinds that the fleet releases.

A bundle is one sequence of bytes, so two nodes have the same bundle if the digests are the same. If the fleet releases no stored files, the
bundle is the text. Otherwise, its first line is JSON that lists each content with its store, name and length, and the contents follow. A
node that applies a bundle writes the text and the files that differ in one commit. The commit also deletes stored files of the released
kinds that are not in the bundle.

`BundleReader` reads the bundle of this node. It has a cache and nothing else: the files on disk are the state.
"""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from haproxy_native.changes.expect import ExpectedText
from haproxy_native.changes.file_operations import Contents, EditFiles
from haproxy_native.changes.operations import PutText, text_as_sent
from haproxy_native.commit.change import Change, Operation
from haproxy_native.editing import header
from haproxy_native.engine import Engine
from haproxy_native.errors import BadRequest, ChangedSince, NativeError, Unreadable
from haproxy_native.request_context import Author
from haproxy_native.storage.store import Store, is_file_name
from haproxy_native.text import parts
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread

# The kinds of stored files that a fleet can release: the names of their stores.
KINDS = ("maps", "acls", "general", "ssl_certificates", "ssl_crt_lists")
# How many bytes a bundle with stored files may have.
LARGEST = 8 << 20
# A file that was written less than so many seconds ago may have been written again without a new time.
UNCERTAIN_SECONDS = 2.0
# Store and name.
FileKey = tuple[str, str]


@dataclass(frozen=True)
class Bundle:
    """The bundle of this node."""

    document: Document = field(repr=False)
    data: bytes = field(repr=False)
    digest: str
    # The SHA-256 of each stored file of the kinds.
    files: Mapping[Path, str]


def packed(text: bytes, files: Mapping[FileKey, bytes]) -> bytes:
    """Return the bundle of a text and stored files."""
    rows = [("", "", len(text)), *((store, name, len(data)) for (store, name), data in sorted(files.items()))]
    return json.dumps(rows).encode() + b"\n" + text + b"".join(data for _, data in sorted(files.items()))


def unpacked(data: bytes) -> tuple[bytes, dict[FileKey, bytes]]:
    """Return the text and the stored files of a bundle. Raises ValueError."""
    first, _, rest = data.partition(b"\n")
    files, start = dict[FileKey, bytes](), 0
    for store, name, size in json.loads(first):
        files[store, name] = rest[start : start + size]
        start += size
    return files.pop(("", "")), files


def _digest(content: bytes | None) -> str | None:
    return None if content is None else sha256(content).hexdigest()


class BundleReader:
    """Reads the bundle of one node, and makes the change that applies another bundle. `kinds` are the kinds of stored files in bundles."""

    def __init__(self, engine: Engine, kinds: Sequence[str]) -> None:
        self._engine, self._kinds = engine, [kind for kind in KINDS if kind in kinds]
        self._cached: tuple[Bundle, list[object]] | None = None

    @property
    def kinds(self) -> str:
        """The kinds of stored files, separated by commas, as in `Release.files`."""
        return ",".join(self._kinds)

    async def read(self) -> Bundle:
        """Return the present bundle. Raises Unreadable and Unusable if stored files cannot be read."""
        with suppress(NativeError):
            await self._engine.notice()
        document = self._engine.document
        stamps = await asyncio.to_thread(self._file_stamps) if self._kinds else []
        if self._cached is None or self._cached[0].document is not document or self._cached[1] != stamps or None in stamps:
            self._cached = await run_in_thread(self._read_bundle, document), stamps
        return self._cached[0]

    def _paths(self) -> Iterator[tuple[Store, Path]]:
        """Yield the stored files of the released kinds. If two stores share a directory, the files belong to the first store."""
        directories = set[Path]()
        for kind in self._kinds:
            if (store := self._engine.stores.get(kind)) and store.directory not in directories:
                directories.add(store.directory)
                # Not `store.files()`, which leaves out keys in files of their own.
                yield from ((store, path) for path in Store.files(store))

    def _file_stamps(self) -> list[object]:
        """Return values that change with each write of a stored file. Add None if a file is so new that another write may not show."""
        stamps = list[object]()
        for _, path in self._paths():
            with suppress(OSError):
                status = path.stat()
                stamps.append((path, status.st_ino, status.st_mtime_ns, status.st_size))
                stamps += [None] * (time.time() - status.st_mtime < UNCERTAIN_SECONDS)
        return stamps

    def _read_bundle(self, document: Document) -> Bundle:
        main = Document.parse(parts.split(document.data)[parts.MAIN]) if parts.is_joined(document) else document
        text = header.without_banner(header.bare(main)).data
        if not self._kinds:
            return Bundle(document, text, sha256(text).hexdigest(), {})
        contents, digests = dict[FileKey, bytes](), dict[Path, str]()
        for store, path in self._paths():
            try:
                contents[store.name, path.name] = data = store.content(path)
            except OSError as error:
                raise Unreadable(f"Cannot read {path}: {error.strerror}") from error
            digests[path] = sha256(data).hexdigest()
        data = packed(text, contents)
        return Bundle(document, data, sha256(data).hexdigest(), digests)

    def change(self, data: bytes, author: Author) -> Change:
        """Return the change from the bundle that was read last to the bundle `data`. Raises BadRequest. Blocks.

        The commit of the change raises ChangedSince if somebody has edited the text or a file after that read.
        """
        assert self._cached
        own = self._cached[0]
        text, files = unpacked(data) if self._kinds else (data, {})
        operations: list[Operation] = [PutText(parts.MAIN, text_as_sent(text))]
        stores: dict[Path, Store] = {path: store for store, path in self._paths()} if self._kinds else {}
        contents: dict[Path, bytes | None] = dict.fromkeys(own.files)
        for (kind, name), content in files.items():
            store = self._engine.stores.get(kind)
            if store is None or kind not in self._kinds or not is_file_name(name):
                raise BadRequest(f"the release has the file {name[:100]!r} of {kind[:40]}, which this node has no directory for")
            stores[path := store.directory / name] = store
            contents[path] = content
        differing = {path: content for path, content in contents.items() if content is None or _digest(content) != own.files.get(path)}

        def edit(present: Contents) -> Contents:
            for path, content in present.items():
                if _digest(content) != own.files.get(path):
                    raise ChangedSince(f"{path.name} is not what was seen")
            return differing

        if differing:
            operations.append(EditFiles({path: stores[path] for path in differing if path in stores}, edit, is_checked=False))
        return Change(operations, ExpectedText.from_document(own.document, parts.MAIN), author=author)
