"""Store files of clients in a directory that HAProxy reads (`Store`, the base class of all stores), and receive uploads (`Upload`).

A subclass of `Store` defines its kind of file. Depending on what the worker has loaded, it plans the runtime commands or the reload that a
change of a file needs. The module `stores` lists the subclasses. Every change of a file is a commit: it runs under the commit's lock, is
written to the ledger, and is undone if HAProxy refuses it.

An upload gets a sanitized name, the stored name. Clients may use that name or the name that they uploaded (`stored_name`). Rules, logs and
the history use the stored name. In a transaction or a batch, `within` and `with_staged` return a copy of the store that shows the staged
files, and stages changes instead of committing them.
"""

import asyncio
import errno
import logging
import os
import posixpath
import re
import stat
import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Self

from haproxy_native.changes.file_operations import PutFile
from haproxy_native.commit.change import Change, Outcome, Reload, Validation
from haproxy_native.commit.commit import admit, commit
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.permission import permit_file, touches_of
from haproxy_native.disk.atomic import is_draft, remove_drafts
from haproxy_native.disk.directories import Directory
from haproxy_native.disk.file import ConfigFile, Draft, drafts_directory
from haproxy_native.disk.journal import FileJournal
from haproxy_native.editing.file_references import FileReference, path_of_name, real_directory, references
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import BadRequest, Conflict, Exists, InUse, Missing, RuntimeRefused, WriteFailed
from haproxy_native.planning.outcome import FilePlan, Reason
from haproxy_native.planning.touches import CHANGE, CREATE, DELETE, Touch
from haproxy_native.request_context import Author
from haproxy_native.runtime.commands import Step
from haproxy_native.storage import secret_files
from haproxy_native.storage.digests import PrintedKind
from haproxy_native.text.document import Document
from haproxy_native.transactions.staged import Staged, StagedFile
from haproxy_native.transactions.transactions import Transactions

_NOT_SANITIZED = re.compile(r"[^A-Za-z0-9_-]+")
_NOT_IN_NAMES = re.compile(r"[/\\\x00-\x1f\x7f-\x9f]")


def sanitized_name(name: str) -> str:
    """Return a name as one path element: replace all characters except letters, digits, `_`, `-` and the last dot by `_`."""
    stem, dot, extension = name.rpartition(".")
    if not dot or "/" in extension:
        return _NOT_SANITIZED.sub("_", posixpath.normpath(name)) if name else ""
    extension = _NOT_SANITIZED.sub("_", extension)
    return f"{_NOT_SANITIZED.sub('_', posixpath.normpath(stem))}.{extension}" if stem else f"_{extension}"


def uploaded_name(name: str) -> str:
    """Return the name under which an upload is stored: the sanitized last path element of the client's name."""
    return sanitized_name(name.rpartition("/")[2])


def is_file_name(name: str) -> bool:
    """Return whether a stored file may have this name: one path element without backslashes and control characters."""
    return name not in ("", ".", "..") and not _NOT_IN_NAMES.search(name)


def real_path(directory: Path, name: str) -> Path:
    """Return the path of a file without links. Raises OSError, with EXDEV for a link that leads out of the directory.

    Links inside the directory are allowed, because mounted secrets consist of them. Nothing protects against a process that replaces a link
    while the file is being opened: whoever can write to the directory is trusted with the files that this server can read.
    """
    path = Path(os.path.realpath(directory / name, strict=True))
    if not path.is_relative_to(os.path.realpath(directory)):
        raise OSError(errno.EXDEV, "a link leads out of the directory", str(directory / name))
    return path


@dataclass(frozen=True)
class Staging:
    """The staged files of a transaction or a batch."""

    staged: Staged
    # Returns a context manager that locks the staged files for a change and yields them.
    lock: Callable[[], AbstractAsyncContextManager[Staged]]
    # The author of the changes.
    author: Author


# How many bytes to buffer before a write.
PIECE = 1 << 18


class Upload:
    """The new content of a file, written piece by piece to a draft next to the file.

    If the content is known, call `put`. Otherwise call `admit`, then `append` for each piece, then `commit`, and always `discard` at the
    end. The draft is created when the first bytes arrive, so an upload that is refused earlier leaves nothing on the disk. `check` is
    called under the commit's lock, and raises an error to refuse the upload. In a transaction or a batch, `commit` stages the draft.
    """

    def __init__(self, store: "Store", path: Path, author: Author, check: Callable[[], None]) -> None:
        self.path, self.size, self.check, self._author, self._store = path, 0, check, author, store
        self._made: Draft | None = None
        self._pieces, self._committed = bytearray(), False
        self._last = b"\n"

    def admit(self, context: CommitContext) -> None:
        """Raise the error, such as Conflict, if changes are refused at the moment. Call this before the content arrives."""
        if not self._store.staging:
            admit(context, Change([PutFile(self._store, self.path)], author=self._author))

    async def append(self, data: bytes) -> None:
        """Add a piece. Raises WriteFailed."""
        self.size += len(data)
        self._pieces += data
        self._last = data[-1:] or self._last
        if len(self._pieces) >= PIECE:
            await self._flush()

    async def commit(self, context: CommitContext, reload: Reload = Reload.AUTO) -> Outcome:
        """Replace the file. Raises the errors of a commit; the former file is then unchanged."""
        put = await self.operation()
        if self._store.staging:
            await self._store.stage(self.path, put.draft, self.check)
            self._committed = True
            return Outcome(context.current.version)
        # The draft now belongs to the commit, which goes on even if the client closes its connection.
        self._committed = True
        return await commit(context, Change([put], reload=reload, validation=Validation.NEVER, author=self._author))

    async def put(self, context: CommitContext, data: bytes, reload: Reload = Reload.AUTO) -> Outcome:
        """Replace the file by content that has arrived as a whole. Raises what `admit`, `append` and `commit` raise."""
        try:
            self.admit(context)
            await self.append(data)
            return await self.commit(context, reload)
        finally:
            self.discard()

    async def operation(self) -> PutFile:
        """Return the operation that replaces the file. Raises BadRequest for content that the store does not accept."""
        if self._store.ends_lines and self._last != b"\n":
            self._pieces += b"\n"
        draft = await self._flush()
        await asyncio.to_thread(self._store.check_content, self.path, draft.path)
        if drafts_directory.get():
            # Close the draft: there may be thousands of drafts that never become files.
            draft.close()
        return PutFile(self._store, self.path, draft, self.check)

    def discard(self) -> None:
        if self._made and not self._committed:
            self._made.discard()

    async def _flush(self) -> Draft:
        pieces, self._pieces = bytes(self._pieces), bytearray()

        def write() -> Draft:
            if self._made is None:
                self._made = self._store.new_draft(self.path)
            self._made.append(pieces)
            return self._made

        return await asyncio.to_thread(write)


log = logging.getLogger(__name__)
# How many lines, besides the first, an error message names.
MOST_NAMED = 50
LONGEST_NAME = 255 - len(".") - len(".") - 36


class Store:
    """The files of a directory. `name`: the API's name of the store. `state`: the directory of the engine's own files, for journals."""

    # The kind in the object names of its files, as in map/hosts.map.
    kind = ""
    # The descriptions that the API returns for a file, and for a file that was just created.
    description = ""
    created = ""
    # The mode of new files. Their group is the directory's group.
    mode = 0o640
    # The directory of private keys. A store that shares this directory sends no file with a secret to clients.
    keys: Path | None = None
    # The kinds of its files whose contents HAProxy prints.
    printed_kinds: Sequence[PrintedKind] = ()
    # Whether an upload whose last line has no line feed gets one.
    ends_lines = False
    # Set in a transaction or a batch.
    staging: Staging | None = None

    def __init__(self, name: str, directory: Directory, state: Path) -> None:
        self.name, self.directory, self._configured, self.state = name, directory.path, directory, state / "journals" / name

    def touches(self, path: Path, before: bytes, after: bytes) -> Sequence[Touch]:
        """Return the touches of the objects in a file; empty if the change also affects anything else in the file. Blocks."""
        return ()

    async def loaded_digest(self, context: CommitContext, path: Path) -> str | None:
        """Return a digest of what the worker has loaded from a file. Raises RuntimeFailure.

        Return None if the worker has not loaded the file, or cannot print what it has loaded.
        """
        return None

    async def differing(self, context: CommitContext) -> list[tuple[str, str, str]]:
        """Return (object name, digest of the file, digest of what the worker has loaded) for each file whose digests differ.

        Raises RuntimeFailure.
        """
        found = list[tuple[str, str, str]]()
        for kind in self.printed_kinds:
            names: Sequence[str] = ()
            # HAProxy may be built without TLS, or may not have the command.
            with suppress(RuntimeRefused):
                names = await kind.loaded_names(context.runtime)
            for path, name in sorted(self.loaded_files(context, names).items()):
                # HAProxy may have dropped the file meanwhile, and the file may be missing or of another kind.
                with suppress(RuntimeRefused, OSError, BadRequest):
                    worker, on_disk = await kind.loaded_digest(context.runtime, name), await asyncio.to_thread(self._digest, kind, path)
                    if on_disk != worker:
                        found.append((spelled(self.kind, path.name), on_disk, worker))
        return found

    def _digest(self, kind: PrintedKind, path: Path) -> str:
        with self.open_file(path, buffering=-1) as file:
            return kind.file_digest(file)

    def within(self, transactions: Transactions, id_: str, author: Author) -> Self:
        """Return a copy of the store that shows and changes the staged files of a transaction. Raises NoTransaction.

        `author`: the author of the changes.
        """
        staged = transactions.staged(transactions.in_progress(id_).id)
        return self._within(Staging(staged, partial(transactions.staging, id_, author), author))

    def with_staged(self, staged: Staged, author: Author) -> Self:
        """Return a copy of the store that shows and changes these staged files, which the caller has locked."""
        return self._within(Staging(staged, lambda: nullcontext(staged), author))

    def _within(self, staging: Staging) -> Self:
        store = copy(self)
        store.staging = staging
        return store

    @property
    def setting(self) -> str:
        """The name of the setting that names the directory."""
        return self._configured.setting

    def recover(self) -> None:
        """Complete half-written files and remove drafts when the server starts. Raises Unusable."""
        journals: list[Path] = []
        # A directory that cannot be read is reported elsewhere.
        with suppress(OSError):
            journals = list(self.state.glob("*.journal"))
        for journal in journals:
            try:
                FileJournal(journal, os).replay()
            except OSError as error:
                log.error("%s may be incomplete, and completing it failed: %s", error.filename or journal, error.strerror)
        if self.directory.exists():
            with self._configured.used() as directory:
                remove_drafts(directory)

    # -- reading

    def files(self) -> list[Path]:
        """Return the files, sorted by name. Raises Unusable."""
        names = set(os.listdir(self._configured.readable()))
        if self.staging:
            names |= {path.name for path in self.staging.staged.files if path.parent == self.directory}
        return sorted(self.directory / name for name in names if self._is_ours(name))

    def find(self, name: str) -> Path:
        """Return the path of the file that a client names, as listed or as uploaded. Raises Missing."""
        self._configured.readable()
        own = self.stored_name(name)
        if is_file_name(own) and self._is_ours(own):
            return self.directory / own
        raise Missing(f"file {sanitized_name(name)} doesn't exist in dir: {self.directory}")

    def stored_name(self, name: str) -> str:
        """Return the stored name of the file that a client names. Rules, logs and the history use the stored name.

        This is the name of an existing file. If there is no such file, it is the name that an upload would get. A malformed name is
        returned unchanged.
        """
        if not is_file_name(name):
            return name
        normal = self.name_of(name)
        return next((each for each in dict.fromkeys((name, sanitized_name(name), normal)) if each and self._is_ours(each)), normal)

    def open_file(self, path: Path, buffering: int = 0) -> BinaryIO:
        """Open a file of the directory, or its staged content, for reading. Raises OSError, also for a link out of the directory."""
        if self.staging and path in self.staging.staged.files:
            if (content := self.staging.staged.content(path)) is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
            return content.open("rb", buffering=buffering)
        own = real_path(self.directory, path.name)
        return os.fdopen(os.open(own, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb", buffering=buffering)

    def content(self, path: Path) -> bytes:
        """Return the content of a file. Raises OSError."""
        with self.open_file(path) as file:
            return file.read()

    def text(self, path: Path) -> str:
        """Return the text of a file. Raises Missing and WriteFailed."""
        try:
            return self.content(path).decode("utf-8", "surrogateescape")
        except OSError as error:
            # A link that leads out of the directory counts as missing.
            if error.errno in (errno.ENOENT, errno.EXDEV):
                raise self.not_there(path) from None
            raise WriteFailed(f"cannot read {path}: {error.strerror}") from error

    def open_for_client(self, context: CommitContext, name: str) -> BinaryIO:
        """Open a file for a client. Blocks. Raises OSError, and Missing if the file is missing or clients may not read it."""
        path = self.find(name)
        if not self.may_send(context, path):
            raise self.not_there(path)
        try:
            return self.open_file(path)
        except FileNotFoundError:
            raise self.not_there(path) from None

    def may_send(self, context: CommitContext, path: Path) -> bool:
        """Return whether clients may read a file. Raises OSError."""
        if self.keys is None:
            return True
        own, keys = self.directory.resolve(), self.keys.resolve()
        is_shared = own.is_relative_to(keys) or keys.is_relative_to(own)
        return not is_shared or not secret_files.is_secret(self.content(path))

    def compared(self, context: CommitContext, path: Path, draft: Path | None) -> tuple[bytes, bytes] | None:
        """Return the contents of a file before and after a change, empty if it is missing; None if clients may not read them.

        Blocks. Raises OSError.
        """
        if path.exists() and not self.may_send(context, path):
            return None
        contents = self.content(path) if path.exists() else b"", draft.read_bytes() if draft else b""
        return None if any(map(secret_files.is_secret, contents)) else contents

    def not_there(self, path: Path) -> Missing:
        return Missing(f"file {path.name} doesn't exist in dir: {self.directory}")

    def name_of(self, upload: str) -> str:
        """Return the name under which an upload is stored; empty if it has none."""
        return uploaded_name(upload)

    def file_loaded_as(self, context: CommitContext, name: str) -> Path | None:
        """Return the file of this directory that HAProxy has loaded under a name; None for a file elsewhere.

        The name is the path of the file as the configuration spells it.
        """
        document = context.running.document or context.current.document
        return self.file_at(path_of_name(document, context.base(document), name))

    def loaded_files(self, context: CommitContext, names: Sequence[str]) -> dict[Path, str]:
        """Return the first of these names for each file of this directory that HAProxy has loaded under one of them."""
        return {path: name for name in reversed(names) if (path := self.file_loaded_as(context, name))}

    def file_at(self, path: str) -> Path | None:
        """Return the file of this directory at a path, which may contain links and `..`; None for a path into another directory."""
        directory, _, name = path.rpartition("/")
        if not directory or not is_file_name(name) or real_directory(directory) != real_directory(str(self.directory)):
            return None
        return self.directory / name

    def references(self, context: CommitContext, path: Path) -> list[FileReference]:
        """Return the lines of the current configuration that refer to a file."""
        return references(context.current.document, str(path), context.base(context.current.document))

    def running_references(self, context: CommitContext, path: Path) -> list[FileReference]:
        """Return the lines that refer to a file in the running configuration; if that is unknown, in the current configuration."""
        running = context.running.document
        return self.references(context, path) if running is None else references(running, str(path), context.base(running))

    # -- changing

    async def plan(self, context: CommitContext, path: Path, content: Path | None) -> FilePlan:
        """Plan the runtime commands or the reload that a change of the file at `path` needs. Never raises.

        `content`: the path of the draft with the new content; None for a deletion.
        """
        running_lines = self.running_references(context, path)
        way = await self.find_runtime_way(context, path, content, running_lines)
        return file_plan(way, running_lines, self.references(context, path))

    async def find_runtime_way(
        self, context: CommitContext, path: Path, content: Path | None, running_lines: Sequence[FileReference]
    ) -> "RuntimeWay":
        """Return how HAProxy can apply a file at runtime. Never raises.

        `content`: as in `plan`. `running_lines`: the lines of the running configuration that refer to the file.
        """
        return RuntimeWay(obstacle=f"HAProxy reads {path.name} only when it starts")

    def check_content(self, path: Path, draft: Path) -> None:
        """Raise BadRequest if this store does not accept the draft as the content of the file at `path`. Blocks."""

    def path_for(self, name: str) -> Path:
        """Return the path of the file that a client names, or the path that a new file of this name would get.

        Raises Exists, BadRequest, Unusable.
        """
        try:
            return self.find(name)
        except Missing:
            path = self.directory / self._name_of_new(name)
            self._check_free(path)
            return path

    def upload_new(self, upload: str, author: Author) -> Upload:
        """Return the upload of a new file. Raises Forbidden, Exists, BadRequest, Unusable."""
        path = self.directory / self._name_of_new(upload)
        permit_file(author, self.kind, path, CREATE)
        self._check_free(path)
        return self._upload(path, author, lambda: self._check_free(path))

    def _name_of_new(self, upload: str) -> str:
        name = self.name_of(upload)
        if not is_file_name(name):
            raise BadRequest("no file name: the part file_upload needs one")
        if len(os.fsencode(name)) > LONGEST_NAME:
            raise BadRequest(f"the file name is longer than {LONGEST_NAME} bytes")
        return name

    def upload_existing(self, name: str, author: Author) -> Upload:
        """Return the upload of new content for an existing file. Raises Forbidden, Missing, Unusable."""
        permit_file(author, self.kind, self.directory / self.stored_name(name), CHANGE)
        path = self.find(name)
        return self._upload(path, author, lambda: self.check_there(path))

    def upload(self, name: str, author: Author) -> Upload:
        """Return the upload of a new or existing file. Raises Forbidden, Exists, BadRequest, Unusable."""
        path = self.path_for(name)
        is_there = path.exists()
        permit_file(author, self.kind, path, CHANGE if is_there else CREATE)
        return self._upload(path, author, partial(self.check_there if is_there else self._check_free, path))

    async def replace_text(self, context: CommitContext, upload: Upload, former: str, text: str, reload: Reload = Reload.AUTO) -> Outcome:
        """Commit the new text of a file. Raises Conflict if the file no longer has the text `former`, which is empty for a missing file."""
        check = upload.check

        def check_unchanged() -> None:
            check()
            if (self.text(upload.path) if self._is_ours(upload.path.name) else "") != former:
                raise Conflict(f"{upload.path.name} was changed by another call at the same time; send the entry again")

        upload.check = check_unchanged
        return await upload.put(context, text.encode("utf-8", "surrogateescape"), reload)

    async def delete(self, context: CommitContext, name: str, author: Author, reload: Reload = Reload.LATER) -> Outcome:
        """Delete a file. Raises Forbidden, Missing, InUse, WriteFailed."""
        path = self.check_deletion(name, author)
        if self.staging:
            await self.stage(path, None, lambda: self.check_there(path))
            return Outcome(context.current.version)

        def check() -> None:
            self.check_there(path)
            self.check_unused(context, path)

        delete = PutFile(self, path, check=check)
        return await commit(context, Change([delete], reload=reload, validation=Validation.NEVER, author=author))

    def check_deletion(self, name: str, author: Author) -> Path:
        """Return the path of the file to delete. Raises Forbidden and Missing."""
        permit_file(author, self.kind, self.directory / self.stored_name(name), DELETE)
        return self.find(name)

    def _upload(self, path: Path, author: Author, check: Callable[[], None]) -> Upload:
        if not self.staging:
            self._make_ready(path)
        return Upload(self, path, author, check)

    async def stage(self, path: Path, draft: Draft | None, check: Callable[[], None]) -> None:
        """Stage a draft, or a deletion if `draft` is None.

        Raises the errors of `check`, NoTransaction, Forbidden, BadRequest and Unusable.
        """
        assert self.staging
        is_there = self._is_ours(path.name)
        async with self.staging.lock() as staged:
            check()
            if rights := self.staging.author.rights:
                current = (staged.content(path) if path in staged.files else path) if is_there else None

                def find_touches() -> Sequence[Touch]:
                    before, after = (file.read_bytes() if file else None for file in (current, draft.path if draft else None))
                    return touches_of(rights, self, path, before, after)

                rights.permit(await asyncio.to_thread(find_touches))
            await asyncio.to_thread(staged.put, path, self.name, spelled(self.kind, path.name), draft, path)

    def new_draft(self, path: Path) -> Draft:
        """Create an empty draft of a file where it is needed: next to the file, or in the directory of staged files."""
        return self.staging.staged.draft() if self.staging else self.draft(path)

    def draft(self, path: Path, data: bytes = b"") -> Draft:
        """Create the draft of a file, which may be outside the directory. Raises WriteFailed, and Unusable if the directory is unusable."""
        self._make_ready(path)
        label = "" if path.parent == self.directory else sha256(os.fsencode(path)).hexdigest()
        within = None if label else self.directory
        return ConfigFile(path, self.state, mode=self.mode, label=label, within=within).draft(data, str(uuid.uuid4()))

    def _make_ready(self, path: Path) -> None:
        """Check that the directory is writable. Create the directory, and the one for journals, if they are missing. Raises Unusable."""
        if drafts_directory.get():
            return
        if path.parent == self.directory:
            self._configured.writable()
        with suppress(OSError):
            self.state.mkdir(mode=0o750, parents=True, exist_ok=True)

    def _check_free(self, path: Path) -> None:
        staged = self._staged(path)
        if staged.is_there if staged else os.path.lexists(path):
            raise Exists(f"file {path} already exists")

    def _staged(self, path: Path) -> StagedFile | None:
        """Return the staged state of a file; None if the transaction has not changed the file."""
        return self.staging.staged.files.get(path) if self.staging else None

    def check_there(self, path: Path) -> None:
        if not self._is_ours(path.name):
            raise self.not_there(path)

    def check_unused(self, context: CommitContext, path: Path) -> None:
        """Raise InUse if the current configuration needs the file."""
        self.refuse_named(path, context.current.document, context.base(context.current.document))

    def refuse_named(self, path: Path, document: Document, directory: str) -> None:
        """Raise InUse, which quotes the lines, if a document needs a file. Relative paths in the document start at `directory`."""
        if lines := self.naming_lines(path, document, directory):
            first, *further = (f"at line {line.line}: {line.text}" for line in lines)
            text = f"rejecting attempt to delete file {path} referenced in haproxy conf {first}"
            raise InUse("\n".join([text, *(f"and {line}" for line in further[:MOST_NAMED])]))

    def naming_lines(self, path: Path, document: Document, directory: str) -> list[FileReference]:
        """Return the lines for which HAProxy needs the file to start."""
        return references(document, str(path), directory)

    def _is_ours(self, name: str) -> bool:
        """Return whether the directory has a regular file of this name, or a link to one in the directory. Drafts do not count."""
        path = self.directory / name
        if staged := self._staged(path):
            return staged.is_there
        try:
            status = real_path(self.directory, name).stat() if path.is_symlink() else path.lstat()
        except (OSError, ValueError):
            return False
        return stat.S_ISREG(status.st_mode) and not is_draft(name)


@dataclass(frozen=True)
class RuntimeWay:
    """How HAProxy can apply a file at runtime: by steps, or why it cannot."""

    steps: Sequence[Step] = ()
    # Why a reload is needed; empty if the steps apply the file.
    obstacle: str = ""
    # Whether the worker has loaded the file, even if no line refers to it.
    is_loaded: bool = False
    # As in FilePlan.
    seen: Sequence[Step] = ()
    # Lines of other loaded files that refer to the file.
    further_lines: Sequence[FileReference] = ()


def file_plan(way: RuntimeWay, running_lines: Sequence[FileReference], current_lines: Sequence[FileReference]) -> FilePlan:
    """Plan the steps or, if there is an obstacle, a reload. A file that the worker has not loaded needs neither.

    `running_lines`: the lines of the running configuration that refer to the file. `current_lines`: those of the current configuration.
    """
    if not way.obstacle:
        return FilePlan(way.steps, (), True, bool(current_lines), way.seen)
    lines = [*running_lines, *way.further_lines]
    reasons = [Reason(way.obstacle, line.section, line.line, line.keyword) for line in lines[:1]]
    if way.is_loaded and not lines:
        reasons = [Reason(way.obstacle)]
    return FilePlan((), reasons, bool(reasons), bool(current_lines))
