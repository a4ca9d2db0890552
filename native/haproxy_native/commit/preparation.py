"""What a commit does without the lock: it edits the configuration and the files that change with it, writes drafts, and has HAProxy check
them."""

import asyncio
import uuid
from dataclasses import dataclass, field, replace

from haproxy_native.beside import beside
from haproxy_native.changes.expect import Rebase
from haproxy_native.commit import file_set, process
from haproxy_native.commit.change import Candidate, Change, Same, Texts, Validation
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.file_set import FileSet
from haproxy_native.commit.permission import edited, pass_change, refuse_reload
from haproxy_native.commit.ports import Kept
from haproxy_native.disk.files import Drafts
from haproxy_native.editing import header
from haproxy_native.editing.header import Stamped
from haproxy_native.errors import Refused
from haproxy_native.planning.outcome import Plan
from haproxy_native.request_context import Author
from haproxy_native.text.document import Document


@dataclass(frozen=True)
class NewText:
    """A configuration as a draft beside its file. `name` is that of the check, and of the failed transaction if HAProxy refuses it."""

    stamped: Stamped
    banner: bool
    draft: Drafts
    name: str


@dataclass(frozen=True)
class Prepared:
    """A change that may be published. `base` is the version that it starts from, `publications` the number of changes of stored files
    before its check. `files` change with the text; where there is none they alone.

    `plan`: the commands by which HAProxy has yet to accept it, without a check, made while `kept` was to stay in the process.
    """

    texts: Texts
    base: int
    publications: int
    files: FileSet
    author: Author
    text: NewText | None = None
    may_reload: bool = True
    plan: Plan | None = None
    kept: Kept = field(default_factory=dict)

    @property
    def before(self) -> Document:
        return self.texts.before

    @property
    def new(self) -> Document:
        return self.texts.after

    @property
    def candidate(self) -> Candidate:
        return Candidate(self.before, self.new, self.files.written, author=self.author)

    def discard(self) -> None:
        if self.text:
            self.text.draft.discard()
        self.files.discard()


async def prepare(context: CommitContext, change: Change) -> Prepared:
    """Compares versions, edits, asks for rights, writes drafts, checks and tests them, without the lock.

    What HAProxy judges by taking its commands changes nothing that would be tested. Leaves no draft when it raises what `attempt` raises.
    """
    await context.current.notice_aside()
    change.expect.compare(context.current.version)
    before, base, publications = context.current.document, context.current.version, context.publications
    files = await file_set.prepared(context, change, is_judged=context.observers.judges(change.author))
    prepared = Prepared(Texts(before, before), base, publications, files, change.author)
    try:
        prepared = await _edited(context, change, prepared)
        if prepared.plan is None:
            await context.current.unless_overtaken(_check(context, change, prepared))
            await pass_change(context, prepared.candidate)
    except BaseException:
        prepared.discard()
        raise
    return prepared


async def _edited(context: CommitContext, change: Change, start: Prepared) -> Prepared:
    """Applies the operations, asks for rights, and writes the text, if that changes. Raises Same, Forbidden, and what they raise."""
    current, before, files = context.current, start.before, start.files
    touched = await files.touches(change.author.rights)
    texts, may_reload = await current.unless_overtaken(beside(edited, change, before, touched))
    prepared = replace(start, texts=texts, may_reload=may_reload)
    files.refuse_named(texts.after)
    unchanged = not change.edits or await beside(header.same_text, *texts)
    if change.files:
        if not unchanged or change.transaction_id:
            return await _drafted(context, change, prepared)
        if not files and files.made:
            raise Same
        return replace(prepared, texts=Texts(before, before))
    if change.skips_same and unchanged and await process.is_done(context, change, texts.after):
        raise Same
    kept = context.kept_members(change)
    plan = await current.unless_overtaken(process.plan_without_check(context, change, *texts))
    if not may_reload and plan is None:
        await current.unless_overtaken(refuse_reload(context, change, *texts))
    return await _drafted(context, change, replace(prepared, plan=plan, kept=kept))


async def _drafted(context: CommitContext, change: Change, prepared: Prepared) -> Prepared:
    current, new = context.current, prepared.new
    version = header.version_of(new) if change.text and change.text.keeps_version else prepared.base + 1
    banner = current.banner if change.banner is None else change.banner
    name = change.transaction_id or str(uuid.uuid4())
    stamped, draft = await asyncio.to_thread(current.prepare, new, version, banner, name)
    return replace(prepared, text=NewText(stamped, banner, draft, name))


def _lines(change: Change, before: Document) -> dict[str, int]:
    """Return how many lines a text had as it was sent, by its file; none where it was merged into another."""
    is_merged = isinstance(change.expect, Rebase) and change.expect.base is not before
    return {change.text.name: change.text.lines} if change.text and change.text.lines and not is_merged else {}


async def _check(context: CommitContext, change: Change, prepared: Prepared) -> None:
    """Have HAProxy check the drafts. Raises Refused after the text of a client was kept as a failed transaction."""
    text = prepared.text
    if change.validation is Validation.NEVER or not (text or any(operation.needs_check(prepared.new) for operation in change.files)):
        return
    try:
        if prepared.files:
            document, name = (text.stamped.document, text.name) if text else (prepared.new, str(uuid.uuid4()))
            await prepared.files.checked(document, change.author, name)
        elif text:
            files = text.draft.checked(text.stamped.document, _lines(change, prepared.before))
            await context.ask_haproxy(files, change.author, text.name)
    except Refused:
        # What the server changes by itself, perhaps again and again, leaves none.
        if text and (change.transaction_id or change.author.request_id):
            failed = await beside(context.current.stamp, text.stamped.document, prepared.base, banner=text.banner)
            context.transactions.fail(text.name, failed.data, change.author)
        raise
