"""What a commit would be refused for, with nothing changed."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.access.rights import Rights, Rule
from haproxy_native.changes.expect import Version
from haproxy_native.commit.change import Change, ObjectChange
from haproxy_native.commit.commit import commit
from haproxy_native.engine import Engine
from haproxy_native.errors import Conflict, Forbidden
from haproxy_native.rehearsal import Rehearsal, Rehearsed, wanted
from haproxy_native.request_context import Author
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section
from tests.native.engines import ByFunction, running_engine

MAPS = Rights(("maps",), (Rule("map/*", frozenset(("change",))),))
BACKENDS = Rights(("backends",), (Rule("backend/*", frozenset(("create",)), reloads=False),))


def adding(document: Document) -> Document:
    return document.insert(Section("backend", "more", "backend more\n"))


def rehearsed(directory: Path, work: Callable[[Engine], Coroutine[Any, Any, None]]) -> Rehearsal:
    (directory / "haproxy.cfg").write_text("global\n")

    async def run() -> Rehearsal:
        async with running_engine(directory) as engine:
            wanted.set(rehearsal := Rehearsal())
            await work(engine)
            assert (directory / "haproxy.cfg").read_text() == "global\n" and not engine.context.works
            return rehearsal

    return asyncio.run(run())


def test_a_change_that_would_be_made(tmp_path: Path) -> None:
    async def work(engine: Engine) -> None:
        with pytest.raises(Rehearsed):
            await commit(engine.context, Change([ByFunction(adding)]))

    assert rehearsed(tmp_path, work).reloads is True


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (Change([ByFunction(adding)], Version(7)), Conflict, "given version is 7"),
        (Change([ByFunction(adding)], author=Author(rights=MAPS)), Forbidden, "may not create backend/more"),
        (Change([ByFunction(adding)], author=Author(rights=BACKENDS)), Forbidden, "needs a reload"),
        (ObjectChange("spoe/a", lambda: asyncio.sleep(0), author=Author(rights=MAPS)), Forbidden, "may not change spoe/a"),
    ],
)
def test_what_is_refused(tmp_path: Path, change: Any, error: type[Exception], text: str) -> None:
    async def work(engine: Engine) -> None:
        with pytest.raises(error, match=text):
            await commit(engine.context, change)

    rehearsed(tmp_path, work)
