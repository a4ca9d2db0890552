"""Write an entry for every change into the journal, and query the journal (`History`).

An entry is written in one of two ways:

    begin, then ended or abandon    for changes of files by this server. The entry is on disk before the first file is written.
    one step (`_add`)               for changes that have already happened: changes of the process alone, and edits by others, which may
                                    have been made before the start of the server.

If the server is killed during a change of files, the next start finds the entry and its author. It compares the files with the contents in
the entry, and ends or removes the entry (`_finish_interrupted`). If the server is killed between a change of the process alone and its
entry, that entry is lost.

If the entry of a client's change of files cannot be written, the change is refused. Other entries then wait in memory (the queue of
disk/database.py): those of changes that the server makes on its own, and of changes of the process alone.

One background task (`_work_in_background`) computes effects and summaries, in the order of the entries, after the requests are answered.
Readers wait for it in `settled`.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from haproxy_native.background import Background
from haproxy_native.commit.after_reload import RELOAD
from haproxy_native.commit.change import Change, Content, Outcome, Published
from haproxy_native.commit.context import MOST_UNLOADED, CommitContext
from haproxy_native.commit.events import CHANGE, GRANTED, Committed, Edited, Event, Forced, Reloaded, RequestAnswered
from haproxy_native.commit.ports import Begun, Recorder
from haproxy_native.disk.database import Database, State
from haproxy_native.disk.path_errors import owner_of
from haproxy_native.editing import header, patches
from haproxy_native.editing.secrets import masked_object
from haproxy_native.errors import Missing, Unreadable, Unrecorded, Unusable
from haproxy_native.history import entries, summaries
from haproxy_native.history.contents import read_file
from haproxy_native.history.entries import CONFIGURATION, FILE, Entry, Record, Refusal
from haproxy_native.history.journal import FIRST, PART, PIECE, TABLES, Journal, Limits
from haproxy_native.planning.effects import Effect, effects
from haproxy_native.request_context import OUTSIDE, Author
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread, run_in_thread_if, run_in_thread_if_large

log = logging.getLogger(__name__)
LONGEST_REASON = 1_000
# The longest wait for effects that are being computed.
SETTLE_SECONDS = 2.0
# Errors of reading the journal: the disk fails, or contents are no longer stored.
UNREADABLE = (Unusable, Missing)
Result = TypeVar("Result")
Key = TypeVar("Key")


class History(Recorder):
    """Records every change of a context while it is open (`async with`)."""

    def __init__(
        self,
        context: CommitContext,
        database: Database,
        limits: Limits | None = None,
    ) -> None:
        self.context, self._database = context, database
        # For each kind of objects that are no files: returns the stored content of the object with a name.
        self.content_readers: dict[str, Callable[[str], bytes | None]] = {}
        self._limits = limits or Limits()
        database.declare(*TABLES)
        # Whether the history is within `async with`, and whether the state at the start (below) was read.
        self._is_open, self._was_read = False, False
        self._starting, self._is_started = asyncio.Lock(), False
        # Background work, in order.
        self._queue: asyncio.Queue[Callable[[], Awaitable[None]]] = asyncio.Queue()
        self._works = Background("the history")
        # State at the start: the configuration on disk and its version, entries that had begun and not ended, the journal's configuration.
        self._first, self._first_version, self._interrupted = b"", 0, list[int]()
        self._known: Content | None = None
        context.events.listen(self._on_event)

    async def __aenter__(self) -> Self:
        self._is_open = True
        self.context.recorder = self
        self._first, self._first_version = self.context.current.document.data, self.context.current.version
        self._works.begin(self._work_in_background())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        while self.context.works:
            await asyncio.wait(self.context.works)
        self.context.recorder = Recorder()
        await self._works.stop()
        self._is_open = False

    # -- writing

    async def begin(self, change: Change, intended: Outcome) -> Begun:
        """Begin an entry and sync it. Raises Unrecorded if the entry of a client's change cannot be written."""
        begun, is_client = Begun(change, intended), bool(change.author.request_id)

        def add(state: State) -> None:
            made = self._record(change, intended)
            begun.id = self._journal(state).add(replace(made, entry=replace(made.entry, outcome="")))

        try:
            await (self.catch_up() if is_client else self._ensure_started())
            for content in intended.contents:
                await self._add_unseen_edit(content.path, content.before)
            await self._database.write(add, PART, waits=not is_client)
        except UNREADABLE as error:
            if is_client:
                raise Unrecorded(error.detail) from error
            await self._database.write(add, PART)
        return begun

    def end(self, begun: Begun, outcome: Outcome) -> Outcome:
        """End the entry of a change that was made. Return the outcome with the id of the entry."""
        self._close(begun, (outcome.kind, outcome.reload_id), outcome)
        return replace(outcome, entry=begun.id)

    async def abandon(self, begun: Begun) -> None:
        """Remove the entry of a failed change, or end it if files were written nevertheless."""
        intended, current = begun.intended, self.context.current
        if texts := intended.texts:
            is_made = current.document is texts.after or await self._has_content(str(current.path), texts.after.data)
        else:
            changed = [each for each in intended.contents if each.is_kept and each.before != each.after]
            is_made = any([await self._has_content(each.path, each.after) for each in changed])
        self._close(begun, self._current_outcome() if is_made else None, intended)

    def _close(self, begun: Begun, became: tuple[str, str | None] | None, outcome: Outcome) -> None:
        """End or remove an entry. `became`: (outcome, id of the reload that the change needs), or None to remove the entry."""
        loop = asyncio.get_running_loop()

        def close(state: State) -> None:
            journal, id_ = self._journal(state), begun.id
            if id_ is None:
                return
            if became is None:
                return journal.remove(id_)
            journal.end(id_, *became, outcome.members)
            self._queue_effects(loop, id_, CONFIGURATION if outcome.texts else FILE, outcome)

        self._database.post(close, PART)

    async def _has_content(self, path: str, data: bytes | None) -> bool:
        """Return whether a file, or an object that is no file, has this content; False if the content cannot be read."""
        with suppress(Unreadable, Unusable):
            return await self.current(path) == data
        return False

    def _current_outcome(self) -> tuple[str, str | None]:
        """Return (outcome, id of the reload) for a change of files whose outcome was lost, from the current state."""
        context = self.context
        if context.pending:
            return "scheduled", context.pending
        return ("live" if context.running.is_current and not context.ledger.waits else "written"), None

    async def add(self, change: Change, outcome: Outcome) -> int | None:
        """Add an entry for a change of the process alone. Return the id of the entry; None if the entry waits in memory."""
        return await self._add(partial(self._record, change, outcome), outcome)

    def _record(self, change: Change, outcome: Outcome) -> Record:
        current = self.context.current
        return entries.record(change, outcome, str(current.path), current.version, time.time())

    async def entry_of(self, version: int) -> int | None:
        return await self._ask_if_readable(Journal.of_version, version)

    async def text_of(self, version: int) -> bytes | None:
        return await self._ask_if_readable(Journal.text_of_version, version)

    async def _add(self, record: Callable[[], Record], change: Outcome | Edited | None = None) -> int | None:
        """Add an ended entry. Return its id; None if the entry waits in memory. `record` is called in the database's thread."""
        loop = asyncio.get_running_loop()

        def add(state: State) -> int:
            made = record()
            entry = self._journal(state).add(made)
            self._queue_effects(loop, entry, made.entry.kind, change)
            return entry

        return await self._database.write(add, PART)

    def _queue_effects(self, loop: asyncio.AbstractEventLoop, id_: int, kind: str, change: Outcome | Edited | None) -> None:
        """Queue the computation of an entry's effects, and after PIECE entries the deletion of old ones. Runs in the database's thread."""

        async def work() -> None:
            if kind in (CONFIGURATION, FILE):
                await self._add_effects(id_, kind, change)
            if id_ % PIECE == 0:
                await self._write(Journal.prune, time.time())

        # After the loop has closed, the next start computes them.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._queue.put_nowait, work)

    async def catch_up(self) -> None:
        """Write the entries that wait in memory, and those of changes before the start. Raises Unusable if they cannot be written."""
        await self._ensure_started()
        await self._database.catch_up(PART)

    def _on_event(self, event: Event) -> None:
        if not self._is_open:
            return
        match event:
            case Edited():
                self._works.begin(self._add_reported_edit(event))
            case Forced(entry, reload_id):
                self._works.begin(self._write(Journal.add_forced, entry, reload_id))
            case Reloaded():
                self._works.begin(self._add_reload_outcomes())
            case Committed(outcome="failed", change=change, error=error) if change and error:
                self._refuse(change.author, change.object, str(error))
            case RequestAnswered(author, outcome, reason, kind) if kind == CHANGE and author.request and outcome != GRANTED:
                self._refuse(author, author.request.object, reason)

    def _refuse(self, author: Author, object_: str, reason: str) -> None:
        self._works.begin(self._write(Journal.add_refusal, Refusal(time.time(), author, object_, reason[:LONGEST_REASON])))

    async def _add_reported_edit(self, event: Edited) -> None:
        before, after = event.texts
        is_main = event.path == self.context.current.path
        object_ = "" if is_main else f"spoe/{event.path.name}"
        entry = Entry(time.time(), event.versions[1], CONFIGURATION if is_main else FILE, OUTSIDE, event.author, event.owner)

        def record() -> Record:
            content = Content(object_, str(event.path), before.data, after.data)
            return Record(entry, [content], (), entries.sections(before, after) if is_main else [object_])

        await self._add(record, event)

    async def _work_in_background(self) -> None:
        """Add entries for changes made while the server did not run, then do the queued background work until cancelled."""
        try:
            await self._ensure_started()
        except UNREADABLE as error:
            log.error("reading the changes made while the server did not run failed: %s", error)
        while True:
            work = await self._queue.get()
            try:
                await work()
            except Exception:
                log.exception("computing the effects of an entry failed")

    async def _ensure_started(self) -> None:
        """Add entries for changes made while the server did not run, unless this was done before. Raises UNREADABLE."""
        async with self._starting:
            if not self._is_started:
                await self.ask(lambda journal: journal.last)
                with suppress(Missing):
                    await self._add_missed_changes()
                self._is_started = True

    async def _finish_interrupted(self, id_: int) -> None:
        """End an entry that the former process has begun, or remove the entry if its change was not made.

        The files show whether the change was made. If the configuration is among them, only the configuration is compared: it is replaced
        last, and the start makes the other files match it. If others have edited the configuration since, its version shows whether the
        change was made.
        """
        try:
            entry, contents = await self.ask(Journal.get_begun, id_), await self.ask(Journal.contents, id_)
        except Missing as error:
            log.warning("ending the entry of an interrupted change failed: %s", error)
            return await self.ask(Journal.remove, id_)
        if main := next((content for content in contents if not content.object), None):
            is_made = self._first == main.after or (self._first != main.before and self._first_version > entry.version)
            self._known = main if is_made else self._known
        else:
            is_made = not all([each.is_kept and await self._has_content(each.path, each.before) for each in contents])
        await (self.ask(Journal.end, id_, *self._current_outcome()) if is_made else self.ask(Journal.remove, id_))

    async def _add_missed_changes(self) -> None:
        """Finish the entries of interrupted changes, and add entries for edits since the journal was last written. Raises UNREADABLE."""
        while self._interrupted:
            await self._finish_interrupted(self._interrupted[0])
            del self._interrupted[0]
        main = str(self.context.current.path)
        await self._add_edit(self._known, main, self._first)
        await self.ask(Journal.add_first, Content("", main, self._first, self._first))
        for path in await self.ask(Journal.paths):
            if path != main:
                try:
                    await self._add_unseen_edit(path, await self.current(path))
                except Unreadable as error:
                    log.error("checking a file for edits by others failed: %s", error)
        await self._restore_unloaded()
        await self._add_reload_outcomes()
        for id_, kind in await self.ask(Journal.without_effects):
            self._queue.put_nowait(partial(self._add_effects, id_, kind))

    async def _add_reload_outcomes(self) -> None:
        """Add the outcomes of reloads that have ended. Skips reloads whose records were deleted."""
        try:
            for reload_id in await self.ask(Journal.without_outcome):
                with suppress(Missing):
                    if outcome := entries.outcome_of(self.context.reloads.records.get(reload_id)):
                        await self.ask(Journal.add_outcome, outcome)
        except UNREADABLE as error:
            log.error("writing the history failed: %s", error)

    async def _add_unseen_edit(self, path: str, current: bytes | None) -> None:
        """Add an entry for an edit by others, if the current content of a file differs from its content in the journal."""
        try:
            known = await self.ask(lambda journal: journal.at(journal.last or FIRST, path))
        except UNREADABLE as error:
            log.warning("checking %s for edits by others failed: %s", path, error)
            return
        await self._add_edit(known, path, current)

    async def _add_edit(self, known: Content | None, path: str, current: bytes | None) -> None:
        """Add an entry for an edit by others, if the current content differs from the content in the journal (`known`)."""
        if known is None or not known.is_kept or known.after == current:
            return
        entry = Entry(time.time(), self.context.current.version, FILE, OUTSIDE, Author(OUTSIDE), owner_of(Path(path)))
        content, objects = replace(known, before=known.after, after=current), [known.object]
        if path == str(self.context.current.path):
            before, after = await run_in_thread(Document.parse, known.after or b""), await run_in_thread(Document.parse, current or b"")
            entry, objects = replace(entry, kind=CONFIGURATION), entries.sections(before, after)
        await self._add(lambda: Record(entry, [content], (), objects))

    async def _ask_if_readable(self, work: Callable[[Journal, Key], Result | None], key: Key) -> Result | None:
        """Return the result of a method of Journal; None if the journal cannot be read."""
        with suppress(*UNREADABLE):
            return await self.ask(work, key)
        return None

    async def _restore_unloaded(self) -> None:
        """Restore the list of changes that the former process has published, and that HAProxy has not loaded."""
        context = self.context
        good = context.running.last_good
        if good is None or good is context.current.document:
            return
        listed = {change.version for change in context.unloaded}
        listed = listed.union(*(record.taken_back for record in context.reloads.records.all()))
        for entry in await self.ask(Journal.after_version, header.version_of(good), MOST_UNLOADED):
            (texts, with_files), is_live = await self._documents(entry.id), entry.outcome == "live"
            if header.same_text(texts[1], good):
                return
            if entry.version not in listed and not entry.author.cause.startswith(f"{RELOAD}/"):
                context.unloaded.appendleft(Published(entry.version, entry.author, *texts, is_live, with_files and not is_live, entry.id))

    async def _add_effects(self, id_: int, kind: str, change: Outcome | Edited | None = None) -> None:
        """Compute the effects and the summary of an entry, and add them to the journal. `change`: the change of the entry, if known."""
        try:
            touched: Sequence[Effect] = ()
            if kind == CONFIGURATION and change:
                touched = await run_in_thread_if_large(change.texts or (), lambda: change.effects)
            elif kind == CONFIGURATION:
                touched = await run_in_thread(effects, *(await self._documents(id_))[0])
            stored = await self.ask(Journal.stored, id_)
            files = await run_in_thread_if(bool(stored), summaries.file_summaries, stored)
            effects_ = [touch.as_dict() for touch in touched]
            # Entries of a map may be changed in the process while its file stays the same.
            process = await self.ask(Journal.objects, id_) if kind == FILE and not files else ()
            summary = await run_in_thread(lambda: summaries.summary(masked_object(effects_, "effect"), files, process))
            await self.ask(Journal.add_effects, id_, effects_, [touch.object for touch in touched], files, summary)
        except UNREADABLE as error:
            log.warning("computing the effects of entry %d failed: %s", id_, error)

    async def _documents(self, id_: int) -> tuple[tuple[Document, Document], bool]:
        """Return the configuration before and after an entry, and whether it changed stored files as well."""
        content = await self.ask(Journal.configuration, id_)
        before = await run_in_thread(Document.parse, content.before or b"")
        after = await run_in_thread(lambda: patches.with_shared_sections(Document.parse(content.after or b""), before))
        return (before, after), await self.ask(Journal.has_files, id_)

    async def _write(self, work: Callable[..., None], *given: Any) -> None:
        try:
            await self.ask(work, *given)
        except UNREADABLE as error:
            log.error("writing the history failed: %s", error)

    # -- reading

    async def current(self, path: str) -> bytes | None:
        """Return the content of a file, or of an object that is no file; None if there is no such file or object. Raises Unreadable."""
        kind, _, name = path.partition("/")
        reader = self.content_readers.get(kind)
        read = partial(reader, name) if reader else partial(read_file, Path(path))
        return await asyncio.to_thread(read)

    async def settled(self) -> None:
        """Wait until the effects of all entries so far are known, at most SETTLE_SECONDS."""
        if not self._is_open:
            return
        are_known = asyncio.Event()

        async def announce() -> None:
            are_known.set()

        with suppress(TimeoutError, *UNREADABLE):
            async with asyncio.timeout(SETTLE_SECONDS):
                await self._ensure_started()
                await self.catch_up()
                self._queue.put_nowait(announce)
                await are_known.wait()

    async def ask(self, work: Callable[..., Result], *given: Any, **named: Any) -> Result:
        """Call a method of Journal in the database's thread, and return its result. Raises Unusable, and the errors of the method."""
        return await self._database.run(lambda state: work(self._journal(state), *given, **named))

    def _journal(self, state: State) -> Journal:
        journal = Journal(state, self._limits)
        if not self._was_read:
            with suppress(Missing):
                self._known = journal.at(journal.last or FIRST, str(self.context.current.path))
            self._interrupted, self._was_read = journal.open(), True
        return journal
