"""What a configuration would change, without changing it: a unified difference, the plan, and HAProxy's words."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import takewhile

from native.apply.plan import Reason
from native.apply.site import Site
from native.beside import beside
from native.config import patches
from native.config.header import under_header_of
from native.config.messages import Message
from native.errors import Refused
from native.text import parts
from native.text.document import Document
from native.text.section import split_lines

_CONTEXT = 3
_UNENDED = "\n\\ No newline at end of file\n"


@dataclass(frozen=True)
class Preview:
    """`valid`: HAProxy accepts it. `reasons` are empty where the `commands` would do."""

    diff: str
    commands: Sequence[str]
    reasons: Sequence[Reason]
    valid: bool
    messages: Sequence[Message]


async def preview(site: Site, document: Document, check: Callable[[Document], Awaitable[Sequence[Message]]], *, sent: bool) -> Preview:
    """Of a document; `sent`: by a client, who may be unaware of what is not yet live. Raises what `check` does, but Refused."""
    current, running = site.current.document, site.running
    new = await beside(patches.sharing, document, current)
    valid, messages = True, []
    try:
        messages = list(await check(new))
    except Refused as error:
        valid, messages = False, [alert for alert in error.alerts if isinstance(alert, Message)]
    await running.observe()
    reasons, commands = [*running.reasons(), *(running.drift() if sent else [])], []
    if running.document is not None and not reasons:
        plan = await beside(site.plan, running.document, new, site.runtime.capabilities)
        reasons, commands = list(plan.reasons), [command.text for command in plan.commands if not plan.reasons]
    diff = await asyncio.to_thread(difference, site.current.document, new, site.current.path.name)
    return Preview(diff, commands, reasons, valid, messages)


def difference(old: Document, new: Document, name: str) -> str:
    """Unified, of what people wrote: our checksum and version do not count. `name` is the main file's."""
    before, after = parts.parts(old), parts.parts(under_header_of(new, old))
    return "".join(difference_of_texts(before[each].text, after[each].text, each or name) for each in before if each in after)


def difference_of_texts(old: str, new: str, name: str) -> str:
    before, after = split_lines(old), split_lines(new)
    skipped = max(0, _same(before, after) - _CONTEXT)
    tail = max(0, _same(before[skipped:][::-1], after[skipped:][::-1]) - _CONTEXT)
    # Comparing all lines of a large file takes minutes.
    before, after = before[skipped : len(before) - tail], after[skipped : len(after) - tail]
    diff = unified_diff(before, after, f"{name} (now)", f"{name} (then)", n=_CONTEXT)
    return "".join(_moved(line, skipped) + ("" if line.endswith("\n") else _UNENDED) for line in diff)


def _moved(line: str, by: int) -> str:
    """A hunk's header with the lines of the whole file."""
    if not by or not line.startswith("@@ "):
        return line
    _, old, new, end = line.split(" ")
    return f"@@ {_place(old, by)} {_place(new, by)} {end}"


def _place(text: str, by: int) -> str:
    start, comma, count = text[1:].partition(",")
    return f"{text[0]}{int(start) + by}{comma}{count}"


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
