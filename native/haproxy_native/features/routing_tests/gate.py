"""`RoutingGate`: refuses changes that break tests of routing."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from haproxy_native.beside import beside
from haproxy_native.commit.change import Candidate
from haproxy_native.commit.ports import Observer
from haproxy_native.editing.file_references import references
from haproxy_native.errors import BreaksTests, NativeError, Untested
from haproxy_native.features.routing_tests.case import Case
from haproxy_native.features.routing_tests.routing_tests import RoutingTests
from haproxy_native.features.routing_tests.run import Result
from haproxy_native.request_context import Author
from haproxy_native.shadow.named_files import naming, stamps
from haproxy_native.shadow.rewrite import Listener, Place, rewritten
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)
# Of those that a refusal names in its text.
MOST_NAMED = 3
# The text of a shadow, and its listeners.
Decisive = tuple[str, list[Listener]]


class RoutingGate(Observer):
    """`is_required` says whether the settings require tests of all changes that clients ask for.

    What the server does by itself is not tested: service discovery, ACME, the way back of a change.
    """

    def __init__(self, tests: RoutingTests, home: Path, is_required: Callable[[], bool]) -> None:
        self._tests, self._home, self._is_required = tests, home, is_required
        self._passed: tuple[str, Sequence[Case], Sequence[str]] = ("", (), ())
        self._known: list[tuple[Document, Decisive]] = []

    def judges(self, by: Author) -> bool:
        return by.request is not None and (by.request.requires_tests or self._is_required())

    async def judge(self, candidate: Candidate) -> Sequence[str]:
        """The names of those that failed before. Raises BreaksTests, and Untested where they cannot be run."""
        if not await asyncio.to_thread(self._has_tests) or not (key := await beside(self._key, candidate)):
            return ()
        cases = await self._cases()
        if (key, cases) == self._passed[:2]:
            return self._passed[2]
        still: Sequence[str] = ()
        if failed := await self._failed(candidate, cases):
            before = await self._failed_before(candidate, [result.case for result in failed])
            still = tuple(result.case.full_name for result in failed if id(result.case) in before)
            if broken := [result for result in failed if id(result.case) not in before]:
                raise BreaksTests(_text(broken), failed=[result.as_dict() for result in broken], failed_before=still)
            log.warning("tests of routing that failed before fail still: %s", ", ".join(still))
        self._passed = key, cases, still
        return still

    def _has_tests(self) -> bool:
        """True also where that cannot be known."""
        with suppress(NativeError):
            return bool(self._tests.kept.names())
        return True

    def _key(self, candidate: Candidate) -> str:
        """The same for changes that come to the same; empty for one that changes nothing of its shadow."""
        before, after = self._decisive_of(candidate.before), self._decisive_of(candidate.after)
        if before == after and not _is_named(candidate, self._home):
            return ""
        return sha256(repr((before, after, stamps(candidate.after, self._home, candidate.files))).encode()).hexdigest()

    def _decisive_of(self, document: Document) -> Decisive:
        """What a change leaves is what the next one begins with."""
        known = next((shadow for of, shadow in self._known if of is document), None)
        decisive = known or _decisive(document, self._home)
        self._known = [(document, decisive), *(shadow for shadow in self._known if shadow[0] is not document)][:2]
        return decisive

    async def _cases(self) -> Sequence[Case]:
        """Raises Untested."""
        try:
            return await asyncio.to_thread(self._tests.kept.cases)
        except (NativeError, OSError) as error:
            raise _untested(error) from error

    async def _failed(self, candidate: Candidate, cases: Sequence[Case]) -> Sequence[Result]:
        """Raises Untested."""
        try:
            return (await self._tests.run(candidate, cases)).failed if cases else ()
        except (NativeError, OSError) as error:
            raise _untested(error) from error

    async def _failed_before(self, candidate: Candidate, cases: Sequence[Case]) -> set[int]:
        """The ids of those that fail without the change. Of a text that cannot be tested none is known to."""
        try:
            before = Candidate(candidate.before, candidate.before, author=candidate.author)
            return {id(result.case) for result in (await self._tests.run(before, cases)).failed}
        except (NativeError, OSError):
            return set()


def _untested(error: Exception) -> Untested:
    return Untested(f"tests of routing are required, and cannot be run: {error}; nothing was changed")


def _is_named(candidate: Candidate, home: Path) -> bool:
    """Whether the configuration names one of its files, or a file that does."""
    if any(references(candidate.after, str(path), str(home)) for path in candidate.files):
        return True
    return bool(naming(candidate.after, home, candidate.files))


def _decisive(document: Document, home: Path) -> Decisive:
    """What decides where requests go."""
    shadow = rewritten(document, Path("/"), home)
    nowhere = Place(None, 0, "", "")
    return shadow.text, [replace(listener, place=nowhere) for listener in shadow.listeners]


def _text(broken: Sequence[Result]) -> str:
    named = [f"{result.case.full_name}: {result.reason}" for result in broken[:MOST_NAMED]]
    more = [f"and {len(broken) - MOST_NAMED} more"] if len(broken) > MOST_NAMED else []
    return "\n".join([f"this breaks {len(broken)} test{'s' if len(broken) > 1 else ''} of routing, and nothing was changed", *named, *more])
