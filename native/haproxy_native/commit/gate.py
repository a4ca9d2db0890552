"""What a change has to pass beside HAProxy's own check: whatever observers ask of it, without the locks."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from haproxy_native.commit.change import Candidate
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import Overtaken
from haproxy_native.commit.file_change import FileChange, composed, discard, drafts_of, permitted_to_reload
from haproxy_native.errors import BreaksTests, Untested
from haproxy_native.request_context import Author, author
from haproxy_native.text.document import Document


@dataclass(frozen=True)
class Passed:
    """A change of stored files that has passed: on this configuration, with these contents."""

    document: Document
    contents: Mapping[Path, bytes | None]

    async def compare(self, context: CommitContext, change: FileChange) -> None:
        """Raises Overtaken for a change that is another one by now. The caller holds the locks."""
        if context.current.document is not self.document or await asyncio.to_thread(_contents, change) != self.contents:
            raise Overtaken


@dataclass(frozen=True)
class GateVerdict:
    """What the gate says of a plan: `failed` and `failed_before` as in BreaksTests; `untested`: why that is not known."""

    failed: Sequence[Any] = ()
    failed_before: Sequence[str] = ()
    untested: str = ""


async def verdict(context: CommitContext, candidate: Candidate) -> GateVerdict | None:
    """Returns the gate's verdict; None if it does not judge changes of the present author."""
    if not context.observers.judges(author.get()):
        return None
    try:
        return GateVerdict(failed_before=await context.observers.judge(candidate))
    except BreaksTests as error:
        return GateVerdict(error.failed, error.failed_before)
    except Untested as error:
        return GateVerdict(untested=str(error))


async def pass_change(context: CommitContext, by: Author, candidate: Candidate) -> None:
    """Raises what the gate does.

    It is asked to the end even where another change comes first: of what it has let pass it remembers what matters, so that changes which
    change nothing of that do not hold this one up.
    """
    if context.observers.judges(by):
        _note(by, await context.observers.judge(candidate))


def _note(by: Author, wrong: Sequence[str]) -> None:
    if by.request:
        by.request.failing_tests = tuple(wrong)


async def pass_files(context: CommitContext, change: FileChange) -> Passed | None:
    """Asks the gate; None if it does not judge. Leaves no draft if the gate or the check of the change raises."""
    if not context.observers.judges(change.author):
        return None
    made = change
    try:
        async with context.settled(), context.process_lock:
            made, document = await composed(context, change), context.current.document
        await permitted_to_reload(made)
        files = {path: draft.path if draft else None for path, draft in drafts_of(made).items()}
        _note(change.author, await context.observers.judge(Candidate(document, document, files)))
        return Passed(document, await asyncio.to_thread(_contents, made))
    except BaseException:
        discard(change)
        raise
    finally:
        if made is not change:
            discard(made)


def _contents(change: FileChange) -> dict[Path, bytes | None]:
    return {path: draft.path.read_bytes() if draft else None for path, draft in drafts_of(change).items()}
