"""Prepare a change without the locks: apply its operations, authorize its author, write drafts, and have HAProxy check them.

Other changes are committed meanwhile. What is prepared is therefore valid only for the document that it was prepared for
(`Prepared.before`), which the publication compares under the locks.
"""

import asyncio
import uuid
from contextlib import suppress
from dataclasses import dataclass, field, replace

from haproxy_native.changes.expect import Rebase, Version
from haproxy_native.commit import process, publication
from haproxy_native.commit.change import Candidate, Change, Same, Texts, Validation
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.permission import apply_and_authorize, judge, refuse_reload
from haproxy_native.commit.ports import OverriddenMembers
from haproxy_native.commit.publication import FileSet
from haproxy_native.disk.files import Drafts
from haproxy_native.editing import header, patches
from haproxy_native.editing.header import Stamped
from haproxy_native.errors import Missing, Refused, TextNotStored, Unreadable
from haproxy_native.planning.outcome import Plan
from haproxy_native.request_context import Author
from haproxy_native.text import parts
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread, run_in_thread_if_large


async def with_base(context: CommitContext, change: Change) -> Change:
    """Return a change that is to be rebased with the text of its base version. Return any other change unchanged.

    Raises Conflict if the version does not exist yet, and TextNotStored if its text is no longer stored.
    """
    if not isinstance(change.expect, Rebase) or change.expect.base is not None:
        return change
    return replace(change, expect=replace(change.expect, base=await text_of(context, change.expect.number)))


async def text_of(context: CommitContext, version: int) -> Document:
    """Return the text of a version of the configuration: the current text, or a former text from memory, the history or a backup.

    Raises Stale for a version that does not exist yet, and TextNotStored.
    """
    current = context.current
    with suppress(Unreadable):
        await current.notice_in_thread()
    if version == current.version:
        return current.document
    if version > current.version:
        Version(version).compare(current.version)
    for published in reversed(context.unloaded):
        if published.version == version:
            return published.after
    if (data := await context.recorder.text_of(version)) is not None:
        return await run_in_thread(lambda: patches.sharing(Document.parse(data), current.document))

    def read_backup() -> Document:
        texts = {name: context.backups.for_file(name).read(version) for name in parts.parts(current.document)}
        return parts.with_parts(current.document, {name: Document.parse(data) for name, data in texts.items()})

    try:
        return await run_in_thread(read_backup)
    except (Missing, Unreadable):
        raise TextNotStored(
            f"version in configuration file is {current.version}, given version is {version}; neither the history "
            "nor a backup still has its text, so the change cannot be merged"
        ) from None


@dataclass(frozen=True)
class NewText:
    """A new text of the configuration, as a draft next to its file."""

    stamped: Stamped
    banner: bool
    draft: Drafts
    # The id of the check, and of the failed transaction if HAProxy refuses the text.
    name: str


@dataclass(frozen=True)
class Prepared:
    """A change that can be published. `discard` removes its drafts."""

    texts: Texts
    # The version of `texts.before`.
    base: int
    # `CommitContext.publications` before the check.
    publications: int
    files: FileSet
    author: Author
    # None if only stored files change.
    text: NewText | None = None
    # Whether the author may reload HAProxy for this.
    may_reload: bool = True
    # The commands by which the running HAProxy judges the change; None if `haproxy -c` has checked it instead.
    plan: Plan | None = None
    # The overridden members that the plan leaves in place.
    overridden: OverriddenMembers = field(default_factory=dict)

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
    """Write the drafts of a change, and have HAProxy and the observers judge them. If that fails, remove the drafts.

    Raises what `attempt` raises. A change that the running HAProxy judges by its commands affects nothing that routing tests depend on, so
    no tests are run for it.
    """
    await context.current.notice_in_thread()
    change.expect.compare(context.current.version)
    before, base, publications = context.current.document, context.current.version, context.publications
    files = await publication.draft_files(context, change, is_judged=context.judges(change.author))
    prepared = Prepared(Texts(before, before), base, publications, files, change.author)
    try:
        prepared = await _apply_operations(context, change, prepared)
        if prepared.plan is None:
            await context.current.unless_overtaken(_check(context, change, prepared))
            await judge(context, prepared.candidate)
    except BaseException:
        prepared.discard()
        raise
    return prepared


async def _apply_operations(context: CommitContext, change: Change, start: Prepared) -> Prepared:
    """Apply the operations, authorize the author, and draft the text if it changes. Raises Same, Forbidden and what operations raise."""
    current, before, files = context.current, start.before, start.files
    touched = await files.touches(change.author.rights)
    texts, may_reload = await current.unless_overtaken(run_in_thread(apply_and_authorize, change, before, touched))
    prepared = replace(start, texts=texts, may_reload=may_reload)
    files.refuse_named(texts.after)
    unchanged = not change.edits or await run_in_thread_if_large(texts, header.same_text, *texts)
    if change.files:
        if not unchanged or change.transaction_id:
            return await _write_draft(context, change, prepared)
        if not files and files.made:
            raise Same
        return replace(prepared, texts=Texts(before, before))
    if change.skips_same and unchanged and await process.is_done(context, change, texts.after):
        raise Same
    overridden = context.overridden_members(change.claimed)
    plan = await current.unless_overtaken(process.plan_without_check(context, change, *texts))
    if not may_reload and plan is None:
        await current.unless_overtaken(refuse_reload(context, change, *texts))
    return await _write_draft(context, change, replace(prepared, plan=plan, overridden=overridden))


async def _write_draft(context: CommitContext, change: Change, prepared: Prepared) -> Prepared:
    current, new = context.current, prepared.new
    version = header.version_of(new) if change.text and change.text.keeps_version else prepared.base + 1
    banner = current.banner if change.banner is None else change.banner
    name = change.transaction_id or str(uuid.uuid4())
    stamped, draft = await asyncio.to_thread(current.prepare, new, version, banner, name)
    return replace(prepared, text=NewText(stamped, banner, draft, name))


async def _check(context: CommitContext, change: Change, prepared: Prepared) -> None:
    """Have HAProxy check the drafts. Raises Refused. If a client has sent the refused text, store it as a failed transaction."""
    text = prepared.text
    if change.validation is Validation.NEVER or not (text or any(operation.needs_check(prepared.new) for operation in change.files)):
        return
    try:
        if prepared.files:
            document, name = (text.stamped.document, text.name) if text else (prepared.new, str(uuid.uuid4()))
            await prepared.files.checked(document, change.author, name)
        elif text:
            # The number of lines of the text that the client sent, by file name. They are unknown if the text was merged.
            is_merged = isinstance(change.expect, Rebase) and change.expect.base is not prepared.before
            lines = {change.text.name: change.text.lines} if change.text and change.text.lines and not is_merged else {}
            files = text.draft.checked(text.stamped.document, lines)
            await context.check_drafts(files, change.author, text.name)
    except Refused:
        # The server may repeat its own changes again and again, so those are not stored.
        if text and (change.transaction_id or change.author.request_id):
            failed = await run_in_thread(context.current.stamp, text.stamped.document, prepared.base, banner=text.banner)
            context.transactions.fail(text.name, failed.data, change.author)
        raise
