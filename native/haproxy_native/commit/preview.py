"""Preview a change: its diff, its effects, its commands or reasons to reload, HAProxy's messages, and routing tests.

The change is prepared as in its commit, but with drafts in a temporary directory, and its author needs the same permission.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from haproxy_native.changes.file_operations import FileStore
from haproxy_native.check.messages import Message
from haproxy_native.commit import process, publication
from haproxy_native.commit.change import Candidate, Change, Reload, Texts, Validation
from haproxy_native.commit.commit import admit
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.permission import GateVerdict, apply_and_authorize, permit_evaluation, refuse_reload, verdict
from haproxy_native.commit.process import decide, reasons_to_reload
from haproxy_native.commit.publication import FileSet, reasons_of
from haproxy_native.disk.file import drafts_aside
from haproxy_native.editing.header import same_text, with_header_and_banner_of
from haproxy_native.errors import Conflict, Refused
from haproxy_native.planning.effects import Effect
from haproxy_native.planning.outcome import FilePlan, Plan, Reason
from haproxy_native.request_context import Author
from haproxy_native.runtime.commands import Command
from haproxy_native.runtime.verification import Gone, Limit, Shows
from haproxy_native.text import line_diff, parts
from haproxy_native.text.document import Document
from haproxy_native.text.pieces import joined, split_lines
from haproxy_native.threads import run_in_thread

FUTURE, PAST = ("now", "then"), ("before", "after")
# In bytes. The difference of larger files is not computed.
LARGEST_DIFFERENCE = 1 << 18


@dataclass(frozen=True)
class FilePreview:
    """How a stored file would be applied."""

    store: FileStore
    path: Path
    # None for certificates, for what looks like a key, and for large files.
    diff: str | None
    plan: FilePlan


@dataclass(frozen=True)
class Preview:
    """What a change would do. `preview` returns it."""

    diff: str
    # The effects on the objects of the configuration.
    effects: Sequence[Effect]
    commands: Sequence[str]
    # Why the configuration needs a reload; empty if the commands are enough.
    reasons: Sequence[Reason]
    # Whether HAProxy accepts the new configuration.
    valid: bool
    messages: Sequence[Message]
    # Why the change cannot be made on the current configuration. Everything else then refers to the configuration that it started from.
    conflict: Conflict | None = None
    # Backend and name of the servers that the commands change.
    servers: Sequence[tuple[str, str]] = ()
    # None if no tests are required.
    tests: GateVerdict | None = None
    # The stored files that the change affects, with their own reasons and commands.
    files: Sequence[FilePreview] = ()

    @property
    def reloads(self) -> bool:
        """Whether the configuration or one of the files needs a reload."""
        return bool(self.reasons or reasons_of(file.plan for file in self.files))


@asynccontextmanager
async def _draft_change(context: CommitContext, change: Change) -> AsyncIterator[tuple[Texts, FileSet, bool]]:
    """Apply a change to drafts. Yield (texts before and after, stored files, whether the author may reload HAProxy).

    Raises Forbidden if the author may not commit the change, and what its expectation, its operations and its files raise.
    """
    await context.current.notice_in_thread()
    change.expect.compare(context.current.version)
    before = context.current.document
    async with drafts_aside(wanted=context.read_only or bool(change.files)):
        files = await publication.draft_files(context, change, is_judged=True)
        try:
            texts, may_reload = await run_in_thread(apply_and_authorize, change, before, await files.touches(change.author.rights))
            files.refuse_named(texts.after)
            yield texts, files, may_reload
        finally:
            files.discard()


async def would_reload(context: CommitContext, change: Change) -> bool:
    """Return whether the commit of a change would reload HAProxy. HAProxy checks nothing. Raises what `preview` raises."""
    admit(context, change)
    async with _draft_change(context, change) as ((before, new), files, may_reload):
        if files:
            async with context.publishing_files():
                plans = await files.plan()
            return bool(reasons_of(plans.values())) or await _needs_reload(context, change, before, new)
        is_live = await process.plan_without_check(context, change, before, new) is not None
        if not may_reload and not is_live:
            await refuse_reload(context, change, before, new)
        return not (change.reload is Reload.NONE or is_live) and await _needs_reload(context, change, before, new)


async def _needs_reload(context: CommitContext, change: Change, before: Document, new: Document) -> bool:
    return change.reload is Reload.NOW or bool(await reasons_to_reload(context, before, new, change.claimed))


async def permit_preview(context: CommitContext, change: Change) -> None:
    """Raise the errors that `preview` can raise before it evaluates anything, such as Forbidden."""
    async with _draft_change(context, change):
        pass


async def preview(context: CommitContext, change: Change) -> Preview:
    """Return what the commit of a change would do.

    Raises Forbidden, before anything is evaluated, if the author may not commit the change. Also raises CheckImpossible, and what the
    expectation, the operations and the files of the change raise.
    """
    async with _draft_change(context, change) as (texts, files, _):
        is_judged = change.validation is not Validation.NEVER
        valid, messages = await _judged(context, change.author, texts.after, files) if is_judged else (True, ())
        # Without the locks, a file that a commit has replaced but not applied yet would look like one that the worker has not read.
        async with context.publishing_files() if files else context.publishing():
            await (context.notice() if files else context.observe())
            plans = await files.plan()
            if bool(files) and await run_in_thread(same_text, *texts):
                plan = Plan()
            else:
                plan = await decide(context, *texts, whole=change.is_whole, may_wait=not change.is_whole, claimed=change.claimed)
        commands = [] if plan.reasons else plan.commands
        diff = await run_in_thread(difference, texts.before, texts.after, context.current.path.name)
        shown = [await asyncio.to_thread(_preview_file, context, files, *row) for row in plans.items()]
        tests = await verdict(context, Candidate(texts.before, texts.after, files.written, author=change.author)) if valid else None
        effects = await run_in_thread(lambda: texts.effects)
    sent = [command.text for command in commands]
    return Preview(diff, effects, sent, plan.reasons, valid, messages, servers=_changed_servers(commands), tests=tests, files=shown)


async def _judged(context: CommitContext, author: Author, new: Document, files: FileSet) -> tuple[bool, Sequence[Message]]:
    """Return (whether HAProxy accepts a configuration with these files, its messages)."""
    try:
        return True, await (files.checked(new, author) if files else context.check_text(new, author))
    except Refused as error:
        return False, [alert for alert in error.alerts if isinstance(alert, Message)]


def _preview_file(context: CommitContext, files: FileSet, path: Path, plan: FilePlan) -> FilePreview:
    """Return how a file would be applied, with its diff. Blocks."""
    store, draft = files.stores[path], files.written[path]
    diff = None
    with suppress(OSError):
        sizes = [file.stat().st_size for file in (path, draft) if file and file.exists()]
        if all(size <= LARGEST_DIFFERENCE for size in sizes) and (contents := store.compared(context, path, draft)):
            before, after = (content.decode("utf-8", "replace") for content in contents)
            diff = difference_of_texts(before, after, path.name)
    return FilePreview(store, path, diff, plan)


def _changed_servers(commands: Sequence[Command]) -> list[tuple[str, str]]:
    servers: dict[tuple[str, str], None] = {}
    for command in commands:
        match command.check:
            case Shows() | Gone() as check:
                servers[check.backend, check.server] = None
            case Limit(proxy=backend, server=server) if server:
                servers[backend, server] = None
    return list(servers)


async def preview_of_former(context: CommitContext, author: Author, texts: Texts, conflict: Conflict) -> Preview:
    """Preview a change on the former configuration that it was made on, because it conflicts with the current one.

    Raises what `preview` raises.
    """
    await permit_evaluation(context, Candidate(texts.before, texts.after, author=author))
    valid, messages = await _judged(context, author, texts.after, FileSet(context))
    diff = await run_in_thread(difference, texts.before, texts.after, context.current.path.name, PAST)
    return Preview(diff, await run_in_thread(lambda: texts.effects), (), (), valid, messages, conflict)


def difference(old: Document, new: Document, name: str, moments: tuple[str, str] = FUTURE) -> str:
    """Return the unified diff of two configurations, which ignores the header that the server writes. `name`: the name of the main file."""
    before, after = parts.parts(old), parts.parts(with_header_and_banner_of(new, old))
    return "".join(
        difference_of_texts(before[file_name].text, after[file_name].text, file_name or name, moments)
        for file_name in before
        if file_name in after
    )


def difference_of_texts(old: str, new: str, name: str, moments: tuple[str, str] = FUTURE) -> str:
    """Return the unified diff of two texts of a file. `moments`: labels of the old and the new text, such as "before" and "after"."""
    return joined(line_diff.unified(split_lines(old), split_lines(new), *(f"{name} ({moment})" for moment in moments)))
