"""What a commit does without the lock: it edits the configuration and the files that change with it, writes drafts, and has HAProxy check
them."""

import asyncio
import uuid
from dataclasses import dataclass, field, replace

from haproxy_native.beside import beside
from haproxy_native.changes.expect import Rebase
from haproxy_native.commit import file_set, process
from haproxy_native.commit.change import Candidate, Change, Same, Texts
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.file_set import FileSet
from haproxy_native.commit.gate import pass_change
from haproxy_native.commit.permission import edited, refuse_reload
from haproxy_native.commit.ports import Kept
from haproxy_native.disk.files import Drafts
from haproxy_native.editing import header
from haproxy_native.editing.header import Stamped
from haproxy_native.errors import Refused
from haproxy_native.planning.outcome import Plan
from haproxy_native.text.document import Document


@dataclass(frozen=True)
class Prepared:
    """A change that HAProxy accepts, as a draft beside the file. `base` is the version that it starts from, `publications` the number of
    changes of stored files before its check. `files` change with it; without `has_text` they alone. `plan`: the commands by which HAProxy
    has yet to accept it, without a check, made while `kept` was to stay in the process."""

    texts: Texts
    new: Document
    base: int
    stamped: Stamped
    banner: bool
    draft: Drafts
    name: str
    publications: int
    files: FileSet
    has_text: bool = True
    may_reload: bool = True
    plan: Plan | None = None
    kept: Kept = field(default_factory=dict)

    @property
    def before(self) -> Document:
        return self.texts.before

    @property
    def candidate(self) -> Candidate:
        return Candidate(self.before, self.new, self.files.written)

    def discard(self) -> None:
        self.draft.discard()
        self.files.discard()


async def prepare(context: CommitContext, change: Change) -> Prepared:
    """Compares versions, edits, writes a draft, checks and tests it, without the lock.

    What HAProxy judges by taking its commands changes nothing that would be tested. Leaves no draft when it raises what `attempt` raises.
    """
    prepared = await _prepared(context, change)
    if change.tested and prepared.plan is None:
        try:
            await pass_change(context, change.author, prepared.candidate)
        except BaseException:
            prepared.discard()
            raise
    return prepared


async def _prepared(context: CommitContext, change: Change) -> Prepared:
    current = context.current
    await current.notice_aside()
    change.expect.compare(current.version)
    before, base, publications = current.document, current.version, context.publications
    async with file_set.edited(context, change) as files:
        texts, may_reload = await current.unless_overtaken(beside(edited, change, before, files.touches))
        new = texts.after
        start = Start(texts, base, publications, files, may_reload=may_reload)
        if change.files:
            return await _with_files(context, change, start, new)
        if change.skips_same and await beside(header.same_text, before, new) and await process.is_done(context, change, new):
            raise Same
        kept = context.kept_members(change)
        plan = await current.unless_overtaken(process.plan_without_check(context, change, before, new))
        if not may_reload and plan is None:
            await current.unless_overtaken(refuse_reload(context, change, before, new))
        return replace(await _drafted(context, change, start, new, plan), kept=kept)


async def _with_files(context: CommitContext, change: Change, start: "Start", new: Document) -> "Prepared":
    """Whether it needs a reload is known when it is published."""
    start.files.refuse_named(new)
    has_text = bool(change.transaction_id) or not await beside(header.same_text, start.texts.before, new)
    if not has_text and not start.files:
        raise Same
    return await _drafted(context, change, replace(start, has_text=has_text), new if has_text else start.texts.before)


@dataclass(frozen=True)
class Start:
    """What a change starts from, as in `Prepared`."""

    texts: Texts
    base: int
    publications: int
    files: FileSet
    has_text: bool = True
    may_reload: bool = True


async def _drafted(context: CommitContext, change: Change, start: Start, new: Document, plan: Plan | None = None) -> Prepared:
    """Write a draft and check it, unless there is a plan by which HAProxy judges."""
    current = context.current
    version = header.version_of(new) if change.text and change.text.keeps_version else start.base + 1
    banner = current.banner if change.banner is None else change.banner
    name = change.transaction_id or str(uuid.uuid4())
    stamped, draft = await asyncio.to_thread(current.prepare, new, version, banner, name)
    files = start.files
    prepared = Prepared(
        start.texts, new, start.base, stamped, banner, draft, name, start.publications, files, start.has_text, start.may_reload, plan
    )
    try:
        if change.checked and plan is None:
            await current.unless_overtaken(_check(context, change, prepared))
    except BaseException:
        draft.discard()
        raise
    return prepared


def _lines(change: Change, before: Document) -> dict[str, int]:
    """Return how many lines a text had as it was sent, by its file; none where it was merged into another."""
    is_merged = isinstance(change.expect, Rebase) and change.expect.base is not before
    return {change.text.name: change.text.lines} if change.text and change.text.lines and not is_merged else {}


async def _check(context: CommitContext, change: Change, prepared: Prepared) -> None:
    """Have HAProxy check the draft. Raises Refused after the text was kept as a failed transaction."""
    try:
        if prepared.files:
            await prepared.files.checked(prepared.stamped.document, prepared.name)
        else:
            await context.ask_haproxy(prepared.draft.checked(prepared.stamped.document, _lines(change, prepared.before)), prepared.name)
    except Refused:
        if change.kept:
            failed = await beside(context.current.stamp, prepared.stamped.document, prepared.base, banner=prepared.banner)
            context.transactions.fail(prepared.name, failed.data)
        raise
