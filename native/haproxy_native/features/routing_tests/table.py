"""Store routing tests in the database. Commits change the tests, so the history has each change and can revert the change."""

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
    """The stored tests by name, in memory and in the database.

    If the database could not be read so far, each method reads it, which blocks. If that fails again, the method raises Unusable.
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
            self._stored_rows()

    def _stored_rows(self) -> dict[str, bytes]:
        """Return the data of all tests, by name. If reading the database has failed so far, read it again. Raises Unusable."""
        if self._rows is None:
            self._rows = self._database.read(lambda state: dict(state.execute("SELECT name, data FROM test").fetchall()))
        return self._rows

    def names(self) -> list[str]:
        """Return the names of the tests. Raises Unusable."""
        return sorted(self._stored_rows())

    def content(self, name: str) -> bytes | None:
        """Return the data of a test; None if the test does not exist. Raises Unusable."""
        return self._stored_rows().get(name)

    def get(self, name: str) -> dict[str, Any]:
        """Return a test as JSON. Raises NotFound and Unusable."""
        data = self.content(name)
        if data is None:
            known = ", ".join(self.names()[:20]) or "none"
            raise NotFound(f"there is no test {name}; there are: {known}")
        return {"name": name, **json.loads(data)}

    def cases(self, names: list[str] | None = None) -> list[Case]:
        """Return the cases of all tests, or of the tests with these names. Raises NotFound and Unusable."""
        cases: list[Case] = []
        for name in self.names() if names is None else names:
            test, data = self.get(name), self._stored_rows()[name]
            # Parse the cases of a test again only if the test has changed.
            if self._cases.get(name, (None,))[0] != data:
                self._cases[name] = data, cases_of(test["cases"], name)
            cases += self._cases[name][1]
        return cases

    async def put(self, name: str, body: Mapping[str, Any], author: Author) -> bool:
        """Store a test and return whether it is new. Raises BadRequest for invalid cases, Unusable, and what commits raise."""
        await run_in_thread(cases_of, body["cases"], name)
        count = await asyncio.to_thread(lambda: len(self.cases([other for other in self.names() if other != name])))
        if count + len(body["cases"]) > MOST:
            raise BadRequest(f"the other tests have {count} cases already, and all tests together may have {MOST}; remove some cases")
        test = {member: value for member, value in body.items() if member != "name"}
        text = await run_in_thread(partial(json.dumps, test, indent=1, ensure_ascii=False))
        data = text.encode("utf-8", "backslashreplace") + b"\n"
        is_new = self.content(name) is None
        await self.change(name, lambda _: data, author)
        return is_new

    async def delete(self, name: str, author: Author) -> None:
        """Delete a test. Raises NotFound, Unusable, and what commits raise."""
        self.get(name)
        await self.change(name, lambda _: None, author)

    async def change(self, name: str, wanted: Callable[[bytes | None], bytes | None], author: Author) -> Outcome:
        """Commit a change of a test. Raises Unusable, and what commits raise.

        `wanted` returns the new data of the test from the stored data. None stands for no test.
        """
        before = self.content(name)
        verb = CREATE if before is None else DELETE if wanted(before) is None else CHANGE
        object_ = spelled(KIND, name)
        touched = [Touch(object_, verb, frozenset((ANY,)))]

        def content() -> Content:
            stored = self.content(name)
            return Content(object_, object_, stored, wanted(stored))

        async def store(data: bytes | None) -> None:
            await self._database.store(partial(_write_row, name, data))
            rows = {other: row for other, row in self._stored_rows().items() if other != name}
            self._rows = rows if data is None else rows | {name: data}

        change = ChangeContent(content, store, self._lock, object_, touched)
        return await commit(self._context, Change([change], author=author))


def _write_row(name: str, data: bytes | None, state: State) -> None:
    """Write a row, or delete the row if `data` is None. The entry of the history, which is written next, syncs the disk."""
    with state.transaction(is_synced=False):
        state.execute("DELETE FROM test WHERE name = ?", (name,))
        if data is not None:
            state.execute("INSERT INTO test VALUES (?, ?)", (name, data))
