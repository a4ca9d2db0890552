"""What a configuration would change, without changing it: a unified difference, the plan, and HAProxy's words."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from haproxy_native.beside import beside
from haproxy_native.check.messages import Message
from haproxy_native.commit import file_set, process
from haproxy_native.commit.change import Candidate, Change, Reload
from haproxy_native.commit.commit import admit
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.decision import decide, reasons_to_reload
from haproxy_native.commit.gate import GateVerdict, verdict
from haproxy_native.commit.permission import edited, permit_evaluation, refuse_reload
from haproxy_native.disk.aside import drafts_aside
from haproxy_native.editing import patches
from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.header import under_header_of
from haproxy_native.errors import Conflict, Refused
from haproxy_native.planning.effects import Effect, effects
from haproxy_native.planning.plan import Reason
from haproxy_native.runtime.commands import Command
from haproxy_native.runtime.verification import Check as VerifiedBy
from haproxy_native.runtime.verification import Gone, Limit, Shows
from haproxy_native.text import line_diff, parts
from haproxy_native.text.document import Document
from haproxy_native.text.pieces import joined, split_lines

Check = Callable[[Document], Awaitable[Sequence[Message]]]
FUTURE, PAST = ("now", "then"), ("before", "after")


@dataclass(frozen=True)
class Preview:
    """`valid`: HAProxy accepts it. `reasons` are empty where the `commands` would do. `effects` are on the current configuration.

    `servers`: backend and name of those that the commands change. `conflict`: why it cannot be made on the current configuration; the rest
    is then of the one that it started from. `tests`: None where none are required.
    """

    diff: str
    effects: Sequence[Effect]
    commands: Sequence[str]
    reasons: Sequence[Reason]
    valid: bool
    messages: Sequence[Message]
    conflict: Conflict | None = None
    servers: Sequence[tuple[str, str]] = ()
    tests: GateVerdict | None = None


async def would_reload(context: CommitContext, change: Change) -> bool:
    """Return whether the commit of a change would reload HAProxy, which is not asked about the text.

    Raises Forbidden for a change that the author may not commit, and what its expectation, its operations and its files are refused for.
    """
    admit(context, change)
    await context.current.notice_aside()
    change.expect.compare(context.current.version)
    before = context.current.document
    async with drafts_aside():
        files = await file_set.prepared(context, change)
        touched = await files.touches(change.author.rights)
        (_, new), may_reload = await beside(edited, change, before, touched)
        files.refuse_named(new)
        if files:
            async with context.publishing_files():
                plans = await files.planned()
            return any(plan.reasons and not plan.steps for plan in plans.values()) or await _needs_reload(context, change, before, new)
    is_live = await process.plan_without_check(context, change, before, new) is not None
    if not may_reload and not is_live:
        await refuse_reload(context, change, before, new)
    return not (change.reload is Reload.NONE or is_live) and await _needs_reload(context, change, before, new)


async def _needs_reload(context: CommitContext, change: Change, before: Document, new: Document) -> bool:
    return change.reload is Reload.NOW or bool(await reasons_to_reload(context, before, new, change.claimed))


async def preview(
    context: CommitContext, change: Change, check: Check, *, files: Mapping[Path, Path | None] = MappingProxyType({})
) -> Preview:
    """Return what the commit of a change would do to the current configuration.

    `files` as in `Candidate`; what the change itself does to stored files is left out. Raises Forbidden for a change that the author may
    not commit, what its operations raise, and what `check` does, except Refused.
    """
    current = context.current.document
    new = await beside(_made, change, current)
    await permit_evaluation(context, Candidate(current, new, files))
    valid, messages = await _judged(new, check)
    # Between the replacement of a file and its publication it would be taken for what a new worker has not read.
    async with context.publishing():
        await context.observe()
        plan = (await decide(context, current, new, whole=change.is_whole, may_wait=not change.is_whole, claimed=change.claimed)).plan
    reasons, commands = list(plan.reasons), [] if plan.reasons else plan.commands
    diff = await beside(difference, context.current.document, new, context.current.path.name)
    touched = await beside(effects, standard_editor(), current, new)
    tests = await verdict(context, Candidate(current, new, files)) if valid else None
    return Preview(diff, touched, [command.text for command in commands], reasons, valid, messages, servers=_servers(commands), tests=tests)


def _made(change: Change, current: Document) -> Document:
    return patches.sharing(change.apply(current), current)


def _servers(commands: Sequence[Command]) -> list[tuple[str, str]]:
    servers = [_server(command.check) for command in commands]
    return [reason for reason in dict.fromkeys(servers) if reason]


def _server(check: VerifiedBy | None) -> tuple[str, str] | None:
    match check:
        case Shows() | Gone():
            return check.backend, check.server
        case Limit(server=server) if server:
            return check.proxy, server
    return None


async def preview_of_former(context: CommitContext, before: Document, document: Document, check: Check, conflict: Conflict) -> Preview:
    """What differs between a former configuration and a document that cannot be made on the current one. Raises as `preview` does."""
    await permit_evaluation(context, Candidate(before, document))
    valid, messages = await _judged(document, check)
    diff = await beside(difference, before, document, context.current.path.name, PAST)
    return Preview(diff, await beside(effects, standard_editor(), before, document), (), (), valid, messages, conflict)


async def _judged(document: Document, check: Check) -> tuple[bool, Sequence[Message]]:
    try:
        return True, list(await check(document))
    except Refused as error:
        return False, [alert for alert in error.alerts if isinstance(alert, Message)]


def difference(old: Document, new: Document, name: str, moments: tuple[str, str] = FUTURE) -> str:
    """Unified, of what people wrote: our checksum and version do not count. `name` is the main file's."""
    before, after = parts.parts(old), parts.parts(under_header_of(new, old))
    return "".join(
        difference_of_texts(before[file_name].text, after[file_name].text, file_name or name, moments)
        for file_name in before
        if file_name in after
    )


def difference_of_texts(old: str, new: str, name: str, moments: tuple[str, str] = FUTURE) -> str:
    """`moments` are words for when the file is like the one and like the other."""
    return joined(line_diff.unified(split_lines(old), split_lines(new), *(f"{name} ({moment})" for moment in moments)))
