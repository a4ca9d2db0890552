"""Tests of routing, one file each, changed by commits as all else is."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from haproxy_native.beside import beside
from haproxy_native.commit.change import Change, ChangeBeside, Content, Outcome
from haproxy_native.commit.commit import commit
from haproxy_native.commit.context import CommitContext
from haproxy_native.disk.atomic import write_atomically
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import BadRequest, NotFound, Unusable, WriteFailed
from haproxy_native.planning.touches import ANY, CHANGE, CREATE, DELETE, Touch
from haproxy_native.routing.case import MOST, Case, cases_of

KIND, SUFFIX = "test", ".json"


class TestFiles:
    """The test files of one directory, by name. Files that others put there count at once."""

    # What pytest would take for a class of tests.
    __test__ = False

    def __init__(self, context: CommitContext, directory: Path) -> None:
        self._context, self._directory = context, directory
        self._lock = asyncio.Lock()
        self._known: dict[str, tuple[tuple[int, int, int] | None, Sequence[Case]]] = {}

    def names(self) -> list[str]:
        """Raises Unusable."""
        try:
            return sorted(path.stem for path in self._directory.glob(f"*{SUFFIX}") if not path.name.startswith("."))
        except OSError as error:
            raise self._unreadable(self._directory, error) from error

    def get(self, name: str) -> dict[str, Any]:
        """Raises NotFound and Unusable."""
        data = self._read(name)
        if data is None:
            known = ", ".join(self.names()[:20]) or "none"
            raise NotFound(f"there is no test {name}; there are: {known}")
        try:
            return {"name": name, **json.loads(data)}
        except (ValueError, TypeError) as error:
            raise self._unreadable(self._path(name), error) from error

    def cases(self, names: list[str] | None = None) -> list[Case]:
        """Returns the cases of all tests, or of these. Raises NotFound and Unusable."""
        return [case for name in (self.names() if names is None else names) for case in self._cases(name)]

    def _cases(self, name: str) -> Sequence[Case]:
        """Returns the cases of a file, which is read again only if it has changed."""
        stamp = self._stamp(name)
        if stamp is None or self._known.get(name, (None,))[0] != stamp:
            self._known[name] = stamp, self._read_cases(name)
        return self._known[name][1]

    def _stamp(self, name: str) -> tuple[int, int, int] | None:
        with suppress(OSError):
            there = self._path(name).stat()
            return there.st_mtime_ns, there.st_size, there.st_ino
        return None

    def _read_cases(self, name: str) -> Sequence[Case]:
        try:
            return cases_of(self.get(name)["cases"], name)
        except (KeyError, TypeError, AttributeError, BadRequest) as error:
            raise self._unreadable(self._path(name), error) from error

    async def put(self, name: str, body: Mapping[str, Any]) -> bool:
        """Whether it is new. Raises BadRequest for cases that cannot be asked, Unusable, WriteFailed, and what commits raise."""
        await beside(cases_of, body["cases"], name)
        count = await asyncio.to_thread(lambda: len(self.cases([other for other in self.names() if other != name])))
        if count + len(body["cases"]) > MOST:
            raise BadRequest(f"the other tests have {count} cases, and all together have {MOST} at most")
        data = await beside(_written, {member: value for member, value in body.items() if member != "name"})
        is_new = await asyncio.to_thread(self._read, name) is None
        await self._change(name, lambda _: data)
        return is_new

    async def delete(self, name: str) -> None:
        """Raises NotFound, Unusable, WriteFailed, and what commits raise."""
        await asyncio.to_thread(self.get, name)
        await self._change(name, lambda _: None)

    async def change(self, name: str, wanted: Callable[[bytes | None], bytes | None]) -> Outcome:
        """Makes of what the file of that name holds what `wanted` returns for it; None is no file."""
        return await self._change(name.removesuffix(SUFFIX), wanted)

    async def _change(self, name: str, wanted: Callable[[bytes | None], bytes | None]) -> Outcome:
        before = await asyncio.to_thread(self._read, name)
        verb = CREATE if before is None else DELETE if wanted(before) is None else CHANGE
        object_ = spelled(KIND, name)
        touched = [Touch(object_, verb, frozenset((ANY,)))]
        return await commit(self._context, Change([ChangeBeside(object_, partial(self._attempt, name, wanted), touched)]))

    async def _attempt(self, name: str, wanted: Callable[[bytes | None], bytes | None]) -> Outcome:
        async with self._lock:
            before = await asyncio.to_thread(self._read, name)
            after, path = wanted(before), self._path(name)
            contents = await self._context.foreseen([Content(spelled(KIND, name), str(path), before, after)])
            await asyncio.to_thread(self._write, path, after)
            return Outcome(self._context.current.version, live=True, contents=contents)

    def _write(self, path: Path, data: bytes | None) -> None:
        """Raises WriteFailed."""
        try:
            if data is None:
                path.unlink(missing_ok=True)
            else:
                path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
                write_atomically(path, data)
        except OSError as error:
            raise WriteFailed(f"cannot write {path}: {error.strerror}") from error

    def is_there(self, name: str) -> bool:
        """Whether there is a test of that name. Blocks."""
        return self._read(name) is not None

    def _read(self, name: str) -> bytes | None:
        """Reads a file; None if it does not exist."""
        try:
            return self._path(name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(self._path(name), error) from error

    def _path(self, name: str) -> Path:
        return self._directory / f"{name}{SUFFIX}"

    def _unreadable(self, path: Path, error: Exception) -> Unusable:
        return Unusable(f"cannot read {path}: {error}; PUT /v3/sidecar/tests/{path.stem} replaces it")


def _written(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
