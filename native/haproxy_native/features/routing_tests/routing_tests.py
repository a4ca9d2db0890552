"""Run routing tests against a shadow HAProxy, and refuse changes that break stored tests.

`RoutingTests` runs tests. `RoutingGate` observes commits, and runs the stored tests before a change is made:

* only if the change alters the text of the shadow, or a file that the text names;
* only once for the same text, files and cases;
* not for changes that the server makes by itself, such as service discovery, ACME and rollbacks of confirmations.

A test that also fails without the change does not refuse it.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from haproxy_native.commit.change import Candidate
from haproxy_native.commit.ports import Observer
from haproxy_native.editing.file_references import references
from haproxy_native.errors import BreaksTests, NativeError, Untested
from haproxy_native.features.explain.explain import Explain
from haproxy_native.features.routing_tests.run import Case, Result, Run, run
from haproxy_native.features.routing_tests.table import TestTable
from haproxy_native.request_context import Author
from haproxy_native.shadow.files import files_naming, stamps
from haproxy_native.shadow.rewrite import FrontendListener, SourceLine, rewrite_document
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread

log = logging.getLogger(__name__)
# The most failed tests that the text of a refusal names.
MOST_NAMED = 3
# The parts of a configuration that decide where requests go: the text of its shadow, and the listeners.
Decisive = tuple[str, list[FrontendListener]]


class RoutingTests:
    """Runs tests with the shadows of `explain`. `stored` has the stored tests."""

    def __init__(self, stored: TestTable, explain: Explain) -> None:
        self.stored, self._explain = stored, explain

    async def run(self, candidate: Candidate, cases: Sequence[Case], *, is_asked: bool = False) -> Run:
        """Run cases on a candidate. Raises Forbidden, NoShadow, Refused and CheckImpossible.

        With `is_asked`, authorize the candidate and let HAProxy check it first.
        """
        async with self._explain.shadow_of(candidate, is_asked=is_asked) as shadow_client:
            return await run(candidate.after, shadow_client, cases)


class RoutingGate(Observer):
    """Refuses changes that break stored tests. `is_required` returns whether the settings require tests for all changes by clients.

    `home` is the directory of the main file. `base` returns the directory in which relative paths of a document begin, by default `home`.
    """

    def __init__(
        self, tests: RoutingTests, home: Path, is_required: Callable[[], bool], base: Callable[[Document], str] | None = None
    ) -> None:
        self._tests, self._home, self._is_required = tests, home, is_required
        self._base = base or (lambda document: str(home))
        # The last change that was not refused: its cache key, the cases, and the names of the tests that failed before as well.
        self._passed: tuple[str, Sequence[Case], Sequence[str]] = ("", (), ())
        # The decisive parts of the last documents.
        self._known: list[tuple[Document, Decisive]] = []

    def judges(self, by: Author) -> bool:
        """Return whether the changes of an author are tested: those of requests that require tests, or of all if the settings do."""
        return by.request is not None and (by.request.requires_tests or self._is_required())

    async def judge(self, candidate: Candidate) -> Sequence[str]:
        """Test a change. Return the names of the tests that fail, and failed before as well.

        Raises BreaksTests, and Untested if the tests cannot be run.
        """
        if not await asyncio.to_thread(self._has_tests) or not (key := await run_in_thread(self._key, candidate)):
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
            log.warning("routing tests fail that failed before the change as well: %s", ", ".join(still))
        self._passed = key, cases, still
        return still

    def _has_tests(self) -> bool:
        """Return whether there are stored tests; True if they cannot be read."""
        with suppress(NativeError):
            return bool(self._tests.stored.names())
        return True

    def _key(self, candidate: Candidate) -> str:
        """Return a cache key that is equal for changes with the same results of tests; empty if the change cannot alter any result."""
        before, after = self._decisive_of(candidate.before), self._decisive_of(candidate.after)
        base = Path(self._base(candidate.after))
        if before == after and not _is_named(candidate, base):
            return ""
        return sha256(repr((before, after, stamps(candidate.after, base, candidate.files))).encode()).hexdigest()

    def _decisive_of(self, document: Document) -> Decisive:
        """Return the decisive parts of a document. Caches those of two documents, since the next change begins with the present one."""
        known = next((shadow for of, shadow in self._known if of is document), None)
        decisive = known or _decisive(document, self._home)
        self._known = [(document, decisive), *(shadow for shadow in self._known if shadow[0] is not document)][:2]
        return decisive

    async def _cases(self) -> Sequence[Case]:
        """Return the stored cases. Raises Untested."""
        try:
            return await asyncio.to_thread(self._tests.stored.cases)
        except (NativeError, OSError) as error:
            raise _untested(error) from error

    async def _failed(self, candidate: Candidate, cases: Sequence[Case]) -> Sequence[Result]:
        """Run cases on the changed configuration and return those that fail. Raises Untested."""
        try:
            return (await self._tests.run(candidate, cases)).failed if cases else ()
        except (NativeError, OSError) as error:
            raise _untested(error) from error

    async def _failed_before(self, candidate: Candidate, cases: Sequence[Case]) -> set[int]:
        """Run cases without the change, and return the Python ids of those that fail; none if they cannot be run."""
        try:
            before = Candidate(candidate.before, candidate.before, author=candidate.author)
            return {id(result.case) for result in (await self._tests.run(before, cases)).failed}
        except (NativeError, OSError):
            return set()


def _untested(error: Exception) -> Untested:
    return Untested(f"the required routing tests cannot be run: {error}; nothing was changed")


def _is_named(candidate: Candidate, home: Path) -> bool:
    """Return whether the configuration names one of the changed files, or a file that names one."""
    if any(references(candidate.after, str(path), str(home)) for path in candidate.files):
        return True
    return bool(files_naming(candidate.after, home, candidate.files))


def _decisive(document: Document, home: Path) -> Decisive:
    """Return the decisive parts of a document, without line numbers."""
    shadow = rewrite_document(document, Path("/"), home)
    nowhere = SourceLine(None, 0, "", "")
    return shadow.text, [replace(listener, place=nowhere) for listener in shadow.listeners]


def _text(broken: Sequence[Result]) -> str:
    """Return the text of a refusal, with the first broken tests on lines of their own."""
    named = [f"{result.case.full_name}: {result.reason}" for result in broken[:MOST_NAMED]]
    more = [f"and {len(broken) - MOST_NAMED} more"] if len(broken) > MOST_NAMED else []
    return "\n".join([f"this breaks {len(broken)} test{'s' if len(broken) > 1 else ''} of routing, and nothing was changed", *named, *more])
