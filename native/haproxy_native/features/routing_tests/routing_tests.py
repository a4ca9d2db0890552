"""Run routing tests against a shadow HAProxy, and refuse changes that break stored tests.

`RoutingTests` runs tests. `RoutingGate` observes commits, and runs the stored tests before a change is made:

* only if the change alters the text of the shadow, or a file that the text names;
* only once for the same text, files and cases;
* not for changes that the server makes by itself, such as service discovery, ACME and rollbacks of confirmations.

A test that also fails without the change does not lead to a refusal.
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

        With `is_asked`, first authorize the candidate, and let HAProxy check the text.
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
        """Return whether the changes of an author are tested: if a request makes them, and the request or the settings require tests."""
        return by.request is not None and (by.request.requires_tests or self._is_required())

    async def judge(self, candidate: Candidate) -> Sequence[str]:
        """Test a change. Return the names of the tests that fail both with and without the change.

        Raises BreaksTests, and Untested if the tests cannot be run.
        """
        try:
            has_tests = bool(await asyncio.to_thread(self._tests.stored.names))
        except NativeError:
            # Reading the cases fails as well, and raises Untested, unless the change cannot alter any result.
            has_tests = True
        if not has_tests or not (key := await run_in_thread(self._cache_key, candidate)):
            return ()
        try:
            cases = await asyncio.to_thread(self._tests.stored.cases)
            if (key, cases) == self._passed[:2]:
                return self._passed[2]
            failed = (await self._tests.run(candidate, cases)).failed if cases else ()
        except (NativeError, OSError) as error:
            raise Untested(f"the required routing tests cannot be run: {error}; nothing was changed") from error
        failed_before: Sequence[str] = ()
        if failed:
            # The Python ids of the cases that fail without the change; none if the cases cannot be run.
            ids = set[int]()
            with suppress(NativeError, OSError):
                unchanged = Candidate(candidate.before, candidate.before, author=candidate.author)
                run_before = await self._tests.run(unchanged, [result.case for result in failed])
                ids = {id(result.case) for result in run_before.failed}
            failed_before = tuple(result.case.full_name for result in failed if id(result.case) in ids)
            if broken := [result for result in failed if id(result.case) not in ids]:
                raise BreaksTests(_refusal_text(broken), failed=[result.as_dict() for result in broken], failed_before=failed_before)
            log.warning("routing tests fail that failed before the change as well: %s", ", ".join(failed_before))
        self._passed = key, cases, failed_before
        return failed_before

    def _cache_key(self, candidate: Candidate) -> str:
        """Return a key that is equal for changes with the same results of tests; empty if the change cannot alter any result. Blocks."""
        before, after = self._decisive_parts(candidate.before), self._decisive_parts(candidate.after)
        document, base = candidate.after, Path(self._base(candidate.after))
        if before == after:
            # The text is the same, so only a changed file can alter a result: one that the text, or a file in the text, names.
            is_named = any(references(document, str(path), str(base)) for path in candidate.files)
            if not is_named and not files_naming(document, base, candidate.files):
                return ""
        return sha256(repr((before, after, stamps(document, base, candidate.files))).encode()).hexdigest()

    def _decisive_parts(self, document: Document) -> Decisive:
        """Return the decisive parts of a document, without line numbers.

        The parts of two documents are cached, because the next change begins with the current document.
        """
        decisive = next((parts for known, parts in self._known if known is document), None)
        if decisive is None:
            shadow = rewrite_document(document, Path("/"), self._home)
            nowhere = SourceLine(None, 0, "", "")
            decisive = shadow.text, [replace(listener, place=nowhere) for listener in shadow.listeners]
        self._known = [(document, decisive), *(row for row in self._known if row[0] is not document)][:2]
        return decisive


def _refusal_text(broken: Sequence[Result]) -> str:
    """Return the text of a refusal. Each of the first broken tests has a separate line."""
    named = [f"{result.case.full_name}: {result.reason}" for result in broken[:MOST_NAMED]]
    more = [f"and {len(broken) - MOST_NAMED} more"] if len(broken) > MOST_NAMED else []
    return "\n".join([f"this breaks {len(broken)} test{'s' if len(broken) > 1 else ''} of routing, and nothing was changed", *named, *more])
