"""A directory of files that clients store and HAProxy reads; the base of all stores.

Another store is a subclass with its words and its `plan`: `description`, `stem` where names differ, `plan` which asks what the
worker has loaded and answers with `plans`. It is entered in `stores`, and its changes then go through the one commit as those of
every store do: under its lock, into its ledger, undone when HAProxy refuses them.
"""

import asyncio
import errno
import logging
import os
import stat
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Self

from haproxy_native.changes.file_operations import FileStore, PutFile
from haproxy_native.commit.change import Change, Outcome, Reload, Validation
from haproxy_native.commit.commit import admit, commit
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.permission import permit_file, touches_of
from haproxy_native.disk import beneath
from haproxy_native.disk.atomic import is_draft, remove_drafts
from haproxy_native.disk.directories import Directory
from haproxy_native.disk.file import ConfigFile, Draft, drafts_directory
from haproxy_native.disk.journal import Journal
from haproxy_native.editing.file_references import Reference, path_of_name, real_directory, references
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import BadRequest, Exists, InUse, Missing
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.planning.touches import CHANGE, CREATE, DELETE, Touch
from haproxy_native.request_context import Author, Rights
from haproxy_native.storage import key_material, names
from haproxy_native.text.document import Document
from haproxy_native.transactions.staged import Staged
from haproxy_native.transactions.transactions import Transactions


@dataclass(frozen=True)
class Staging:
    """How a transaction or a batch sees a store: with the files that it has staged, and with changes that wait for its commit.

    `staged`: the files of the transaction; `opened` holds them while one of them changes, which `author` does.
    """

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


PIECE = 1 << 18


class Upload:
    """Written to a draft beside the file piece by piece, never held in memory as a whole.

    `admit`, `append` what arrives, then `commit`; `discard` at the end, whatever happened. `size` in bytes.

    `draft` makes the file that it is written to, when something of it has arrived: what is refused before is never on the disk. `check` is
    called under the lock of the commit and raises what speaks against it. `stage`, of a transaction, takes the place of the commit; it is
    given the draft and the check.
    """

    def __init__(
        self,
        store: FileStore,
        path: Path,
        author: Author,
        draft: Callable[[], Draft],
        check: Callable[[], None],
        check_content: Callable[[Path, Path], None],
        stage: Callable[[Draft | None, Callable[[], None]], Awaitable[None]] | None = None,
    ) -> None:
        self.path, self.size, self.check, self._author = path, 0, check, author
        self._store, self._make, self._check_content, self._stage = store, draft, check_content, stage
        self._made: Draft | None = None
        self._pieces, self._committed = bytearray(), False
        # Whether a last line gets an end where it has none; `size` does not count it.
        self.ends_lines, self._last = False, b"\n"

    def admit(self, context: CommitContext) -> None:
        """Raises what refuses any change now, before something of the content has arrived, as Conflict while another waits."""
        if not self._stage:
            admit(context, Change([PutFile(self._store, self.path)], author=self._author))

    async def append(self, data: bytes) -> None:
        """Raises WriteFailed."""
        self.size += len(data)
        self._pieces += data
        self._last = data[-1:] or self._last
        if len(self._pieces) >= PIECE:
            await self._flush()

    async def commit(self, context: CommitContext, reload: Reload = Reload.AUTO) -> Outcome:
        """Makes it the file. Raises what `commit` raises, with the former file in place."""
        put = await self.operation()
        if self._stage:
            await self._stage(put.draft, self.check)
            self._committed = True
            return Outcome(context.current.version)
        # From here on the draft is the commit's, which a client that goes away does not stop.
        self._committed = True
        return await commit(context, Change([put], reload=reload, validation=Validation.NEVER, author=self._author))

    async def operation(self) -> PutFile:
        """What makes it the file. Raises BadRequest for content that the store does not take."""
        if self.ends_lines and self._last != b"\n":
            self._pieces += b"\n"
        draft = await self._flush()
        await asyncio.to_thread(self._check_content, self.path, draft.path)
        if drafts_directory.get():
            # There may be thousands of drafts that never become files.
            draft.close()
        return PutFile(self._store, self.path, draft, self.check)

    def discard(self) -> None:
        if self._made and not self._committed:
            self._made.discard()

    async def _flush(self) -> Draft:
        pieces, self._pieces = bytes(self._pieces), bytearray()
        return await asyncio.to_thread(self._written, pieces)

    def _written(self, pieces: bytes) -> Draft:
        if self._made is None:
            self._made = self._make()
        self._made.append(pieces)
        return self._made


log = logging.getLogger(__name__)
# Further lines that one message names.
MOST_NAMED = 50
LONGEST_NAME = 255 - len(".") - len(".") - 36


class Store:
    """`name` is that of the API, `kind` that of its files as objects; `state` is where journals go."""

    kind = ""
    description = ""
    created = ""
    # That of a new file: its group is the directory's.
    mode = 0o640
    # The directory in which private keys stand. A store that shares it sends no file that holds one.
    keys: Path | None = None
    # Of a store as a transaction sees it.
    staging: Staging | None = None

    def __init__(self, name: str, directory: Directory, state: Path) -> None:
        self.name, self.directory, self._kept, self.state = name, directory.path, directory, state / "journals" / name

    def touches(self, path: Path, before: bytes, after: bytes) -> Sequence[Touch]:
        """What a change does to what stands in a file; nothing where it is more than that, or where nothing in it is an object. Blocks."""
        return ()

    async def in_process(self, context: CommitContext, path: Path) -> str | None:
        """A digest of what the worker has made of a file, None where it has not, or shows nothing of it. Raises RuntimeFailure."""
        return None

    async def differing(self, context: CommitContext) -> list[tuple[str, str, str]]:
        """Files of which the worker has something else: object, and a mark of what the file and of what the worker has.

        Raises RuntimeFailure.
        """
        return []

    def within(self, transactions: Transactions, id_: str, author: Author) -> Self:
        """The store as an author sees and changes it in a transaction in progress. Raises NoTransaction."""
        staged = transactions.staged(transactions.in_progress(id_).id)
        return self._within(Staging(staged, partial(transactions.staging, id_, author), author))

    def with_staged(self, staged: Staged, author: Author) -> Self:
        """The store with these files staged, which nobody but the author changes."""
        return self._within(Staging(staged, lambda: nullcontext(staged), author))

    def _within(self, staging: Staging) -> Self:
        store = copy(self)
        store.staging = staging
        return store

    @property
    def setting(self) -> str:
        """The name of the setting that names the directory."""
        return self._kept.setting

    def recover(self) -> None:
        """Recovers at the start: no file is half written, and the directory holds no leftovers. Raises Unusable."""
        for journal in self._journals():
            try:
                Journal(journal, os).replay()
            except OSError as error:
                log.error("%s may be half written, and cannot be completed: %s", error.filename or journal, error.strerror)
        if self.directory.exists():
            with self._kept.used() as directory:
                remove_drafts(directory)

    def _journals(self) -> list[Path]:
        """Returns the journals; none if the directory cannot be read, which is reported elsewhere."""
        with suppress(OSError):
            return list(self.state.glob("*.journal"))
        return []

    # -- reading

    def files(self) -> list[Path]:
        """The files, by name. Raises Unusable."""
        names = set(os.listdir(self._kept.readable()))
        if self.staging:
            names |= names_in(self.staging.staged.files, self.directory)
        return sorted(self.directory / name for name in names if self._is_ours(name))

    def find(self, name: str) -> Path:
        """The file that a client means, by the name it is listed or was uploaded under. Raises Missing."""
        self._kept.readable()
        own = self.resolved(name)
        if names.is_element(own) and self._is_ours(own):
            return self.directory / own
        raise Missing(f"file {names.sanitised(name)} doesn't exist in dir: {self.directory}")

    def resolved(self, name: str) -> str:
        """Return the one name that rules, logs, the history and this store have for the file that a client means by any of its names.

        A file that is there has its own; else it is the one that an upload would get. What is no name of a file stays as it is.
        """
        if not names.is_element(name):
            return name
        normal = self.name_of(name)
        return next((each for each in dict.fromkeys((name, names.sanitised(name), normal)) if each and self._is_ours(each)), normal)

    def opened(self, path: Path, buffering: int = 0) -> BinaryIO:
        """A file of the directory, for reading. Raises OSError, also for a link that leads out of the directory."""
        if self.staging and path in self.staging.staged.files:
            if (content := self.staging.staged.content(path)) is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
            return content.open("rb", buffering=buffering)
        return os.fdopen(beneath.opened(self.directory, path.name), "rb", buffering=buffering)

    def content(self, path: Path) -> bytes:
        """Raises OSError."""
        with self.opened(path) as file:
            return file.read()

    def sent(self, context: CommitContext, name: str) -> BinaryIO:
        """The file that a client asks for, opened. Blocks. Raises OSError, and Missing also for a file that no client may read."""
        path = self.find(name)
        if not self.may_send(context, path):
            raise self.not_there(path)
        try:
            return self.opened(path)
        except FileNotFoundError:
            raise self.not_there(path) from None

    def may_send(self, context: CommitContext, path: Path) -> bool:
        """Whether clients may read a file. Raises OSError."""
        return not self._beside_keys() or not key_material.is_secret(self.content(path))

    def compared(self, context: CommitContext, path: Path, draft: Path | None) -> tuple[bytes, bytes] | None:
        """What a file holds and will hold, empty for none; None for what no client may read. Blocks. Raises OSError."""
        if path.exists() and not self.may_send(context, path):
            return None
        contents = self.content(path) if path.exists() else b"", draft.read_bytes() if draft else b""
        return None if any(map(key_material.is_secret, contents)) else contents

    def _beside_keys(self) -> bool:
        if self.keys is None:
            return False
        mine, theirs = self.directory.resolve(), self.keys.resolve()
        return mine.is_relative_to(theirs) or theirs.is_relative_to(mine)

    def not_there(self, path: Path) -> Missing:
        return Missing(f"file {path.name} doesn't exist in dir: {self.directory}")

    def name_of(self, upload: str) -> str:
        """The name under which an upload is stored; empty where it has none."""
        return names.uploaded(upload)

    def own(self, context: CommitContext, name: str) -> Path | None:
        """Return the file of this directory that HAProxy has loaded under a name, however that spells its path; None for any other."""
        document = context.running.document or context.current.document
        return self.at(path_of_name(document, str(context.current.path.parent), name))

    def at(self, place: str) -> Path | None:
        """Return the file of this directory that a path leads to, also through links and `..`; None for any other."""
        directory, _, name = place.rpartition("/")
        if not directory or not names.is_element(name) or real_directory(directory) != real_directory(str(self.directory)):
            return None
        return self.directory / name

    def references(self, context: CommitContext, path: Path) -> list[Reference]:
        """The lines of the current configuration that refer to a file."""
        return references(context.current.document, str(path), str(context.current.path.parent))

    def used(self, context: CommitContext, path: Path) -> list[Reference]:
        """Returns the references in the configuration that the worker has loaded, or in the current one if that is unknown."""
        running = context.running.document
        return self.references(context, path) if running is None else references(running, str(path), str(context.current.path.parent))

    # -- changing

    async def plan(self, context: CommitContext, path: Path, content: Path | None) -> FilePlan:
        """How the worker gets to know of a file that will hold what now stands at `content`, or that will be gone. Never raises."""
        raise NotImplementedError

    def check_content(self, path: Path, draft: Path) -> None:
        """Raises BadRequest for a draft that this store does not take as the file at `path`. In a thread of its own."""

    def place(self, name: str) -> Path:
        """Returns where a file of that name is, or would be stored. Raises Exists, BadRequest, Unusable."""
        try:
            return self.find(name)
        except Missing:
            return self._free(name)

    def new(self, upload: str, author: Author) -> Upload:
        """A file under a new name. Raises Forbidden, Exists, BadRequest, Unusable."""
        path = self.directory / self._name_of_new(upload)
        permit_file(author, self.kind, path, CREATE)
        self._check_free(path)
        return self._upload(path, author, lambda: self._check_free(path))

    def _free(self, upload: str) -> Path:
        path = self.directory / self._name_of_new(upload)
        self._check_free(path)
        return path

    def _name_of_new(self, upload: str) -> str:
        name = self.name_of(upload)
        if not names.is_element(name):
            raise BadRequest("no file name: the part file_upload needs one")
        if len(os.fsencode(name)) > LONGEST_NAME:
            raise BadRequest(f"the file name is longer than {LONGEST_NAME} bytes")
        return name

    def other(self, name: str, author: Author) -> Upload:
        """Other content for a file that there is. Raises Forbidden, Missing, Unusable."""
        permit_file(author, self.kind, self.directory / self.resolved(name), CHANGE)
        path = self.find(name)
        return self._upload(path, author, lambda: self.check_there(path))

    def upload(self, name: str, author: Author) -> Upload:
        """Content for the file of a name, which may be new. Raises Forbidden, Exists, BadRequest, Unusable."""
        path = self.place(name)
        is_there = path.exists()
        permit_file(author, self.kind, path, CHANGE if is_there else CREATE)
        return self._upload(path, author, partial(self.check_there if is_there else self._check_free, path))

    async def delete(self, context: CommitContext, name: str, author: Author, reload: Reload = Reload.LATER) -> Outcome:
        """Raises Forbidden, Missing, InUse, WriteFailed."""
        path = self.check_deletion(name, author)
        if self.staging:
            await self.staging.put(self, path, None, lambda: self.check_there(path), is_there=True)
            return Outcome(context.current.version)

        def check() -> None:
            self.check_there(path)
            self._check_unused(context, path)

        delete = PutFile(self, path, check=check)
        return await commit(context, Change([delete], reload=reload, validation=Validation.NEVER, author=author))

    def check_deletion(self, name: str, author: Author) -> Path:
        """Return the file that is to be deleted. Raises Forbidden and Missing."""
        permit_file(author, self.kind, self.directory / self.resolved(name), DELETE)
        return self.find(name)

    def _upload(self, path: Path, author: Author, check: Callable[[], None]) -> Upload:
        if not self.staging:
            self._make_ready(path)
        draft = self.staging.staged.draft if self.staging else partial(self.draft, path)
        return Upload(self, path, author, draft, check, self.check_content, self._staged(path))

    def _staged(self, path: Path) -> Callable[[Draft | None, Callable[[], None]], Awaitable[None]] | None:
        """Instead of the commit of an upload."""
        if (staging := self.staging) is None:
            return None
        return lambda draft, check: staging.put(self, path, draft, check, is_there=self._is_ours(path.name))

    def draft(self, path: Path, data: bytes = b"") -> Draft:
        """What a file will hold, also one elsewhere. Raises WriteFailed, and Unusable for the directory."""
        self._make_ready(path)
        label = "" if path.parent == self.directory else sha256(os.fsencode(path)).hexdigest()
        within = None if label else self.directory
        return ConfigFile(path, self.state, mode=self.mode, label=label, within=within).draft(data, str(uuid.uuid4()))

    def _make_ready(self, path: Path) -> None:
        """Raises Unusable."""
        if drafts_directory.get():
            return
        if path.parent == self.directory:
            self._kept.writable()
        with suppress(OSError):
            self.state.mkdir(mode=0o750, parents=True, exist_ok=True)

    def _check_free(self, path: Path) -> None:
        staged = self.staging.is_there(path) if self.staging else None
        if os.path.lexists(path) if staged is None else staged:
            raise Exists(f"file {path} already exists")

    def check_there(self, path: Path) -> None:
        if not self._is_ours(path.name):
            raise self.not_there(path)

    def _check_unused(self, context: CommitContext, path: Path) -> None:
        self.refuse_named(path, context.current.document, str(context.current.path.parent))

    def refuse_named(self, path: Path, document: Document, directory: str) -> None:
        """Raises InUse for a file that the configuration in `directory` names, with all lines."""
        if lines := self.naming_lines(path, document, directory):
            first, *others = (f"at line {line.line}: {line.text}" for line in lines)
            text = f"rejecting attempt to delete file {path} referenced in haproxy conf {first}"
            raise InUse("\n".join([text, *(f"and {other}" for other in others[:MOST_NAMED])]))

    def naming_lines(self, path: Path, document: Document, directory: str) -> list[Reference]:
        """The lines with which HAProxy would not start without the file."""
        return references(document, str(path), directory)

    def _is_ours(self, name: str) -> bool:
        """A regular file in the directory; a link that leads out of it is not."""
        path = self.directory / name
        if self.staging and (is_there := self.staging.is_there(path)) is not None:
            return is_there
        try:
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                return _is_regular(beneath.opened(self.directory, name, os.O_PATH))
        except (OSError, ValueError):
            return False
        return stat.S_ISREG(status.st_mode) and not is_draft(name)


def _is_regular(descriptor: int) -> bool:
    try:
        return stat.S_ISREG(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)
