"""Store routing tests in the database. They are changed by commits, so the history has each change and can revert it."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from haproxy_native.commit.change import Change, ChangeContent, Content, Outcome
from haproxy_native.commit.commit import commit
from haproxy_native.commit.context import CommitContext
from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import BadRequest, NotFound, Unusable
from haproxy_native.features.routing_tests.run import MOST, Case, cases_of
from haproxy_native.planning.touches import ANY, CHANGE, CREATE, DELETE, Touch
from haproxy_native.request_context import Author
from haproxy_native.threads import run_in_thread

KIND = "test"


class TestTable:
    """The stored tests by name, in memory and in the database. Methods raise Unusable while the database cannot be read.

    They block if reading it has failed so far.
    """

    # Keeps pytest from collecting this class as tests.
    __test__ = False

    def __init__(self, context: CommitContext, database: Database) -> None:
        database.declare(Tables("tests", "CREATE TABLE test (name TEXT PRIMARY KEY, data BLOB NOT NULL)"))
        self._context, self._database = context, database
        self._lock = asyncio.Lock()
        self._rows: dict[str, bytes] | None = None
        # A cache: the cases of each test, with the data from which they were parsed.
        self._cases: dict[str, tuple[bytes, Sequence[Case]]] = {}
        with suppress(Unusable):
            self._known()

    def _known(self) -> dict[str, bytes]:
        """Return the data of all tests, by name. Reads them from the database first if that has failed so far."""
        if self._rows is None:
            self._rows = self._database.read(_read)
        return self._rows

    def names(self) -> list[str]:
        """Return the names of the tests. Raises Unusable."""
        return sorted(self._known())

    def content(self, name: str) -> bytes | None:
        """Return the data of a test; None if there is none. Raises Unusable."""
        return self._known().get(name)

    def get(self, name: str) -> dict[str, Any]:
        """Return a test as JSON. Raises NotFound and Unusable."""
        data = self.content(name)
        if data is None:
            known = ", ".join(self.names()[:20]) or "none"
            raise NotFound(f"there is no test {name}; there are: {known}")
        return {"name": name, **json.loads(data)}

    def cases(self, names: list[str] | None = None) -> list[Case]:
        """Return the cases of all tests, or of the named ones. Raises NotFound and Unusable."""
        return [case for name in (self.names() if names is None else names) for case in self._cases_of(name)]

    def _cases_of(self, name: str) -> Sequence[Case]:
        """Return the cases of a test. Parses them again only if the test has changed."""
        test, data = self.get(name), self._known()[name]
        if self._cases.get(name, (None,))[0] != data:
            self._cases[name] = data, cases_of(test["cases"], name)
        return self._cases[name][1]

    async def put(self, name: str, body: Mapping[str, Any], author: Author) -> bool:
        """Store a test and return whether it is new. Raises BadRequest for invalid cases, Unusable, and what commits raise."""
        await run_in_thread(cases_of, body["cases"], name)
        count = await asyncio.to_thread(lambda: len(self.cases([other for other in self.names() if other != name])))
        if count + len(body["cases"]) > MOST:
            raise BadRequest(f"the other tests have {count} cases already, and all tests together may have {MOST}; remove some cases")
        data = await run_in_thread(_written, {member: value for member, value in body.items() if member != "name"})
        is_new = self.content(name) is None
        await self.change(name, lambda _: data, author)
        return is_new

    async def delete(self, name: str, author: Author) -> None:
        """Delete a test. Raises NotFound, Unusable, and what commits raise."""
        self.get(name)
        await self.change(name, lambda _: None, author)

    async def change(self, name: str, wanted: Callable[[bytes | None], bytes | None], author: Author) -> Outcome:
        """Commit a change of a test. Raises Unusable, and what commits raise.

        `wanted` returns the new data of the test from the present data. None stands for no test.
        """
        before = self.content(name)
        verb = CREATE if before is None else DELETE if wanted(before) is None else CHANGE
        object_ = spelled(KIND, name)
        touched = [Touch(object_, verb, frozenset((ANY,)))]

        def content() -> Content:
            now = self.content(name)
            return Content(object_, object_, now, wanted(now))

        change = ChangeContent(content, partial(self._store, name), self._lock, object_, touched)
        return await commit(self._context, Change([change], author=author))

    async def _store(self, name: str, data: bytes | None) -> None:
        await self._database.store(partial(_store, name, data))
        rows = {other: kept for other, kept in self._known().items() if other != name}
        self._rows = rows if data is None else rows | {name: data}


def _read(state: State) -> dict[str, bytes]:
    return dict(state.execute("SELECT name, data FROM test").fetchall())


def _store(name: str, data: bytes | None, state: State) -> None:
    """Write a row, or delete it if `data` is None. The entry of the history, which is written next, syncs the disk."""
    with state.transaction(is_synced=False):
        state.execute("DELETE FROM test WHERE name = ?", (name,))
        if data is not None:
            state.execute("INSERT INTO test VALUES (?, ?)", (name, data))


def _written(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
