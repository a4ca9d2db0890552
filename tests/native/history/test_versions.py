from pathlib import Path

from haproxy_native.changes.expect import Version
from haproxy_native.editing.header import without_versions
from haproxy_native.history.journal import Journal
from haproxy_native.request_context import NOBODY
from tests.native.engines import ByFunction, adding, run
from tests.native.history.test_history import TEXT, recorded


def test_the_text_of_a_version(tmp_path: Path) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (engine, history):
            for version in (1, 2, 3):
                await engine.write([ByFunction(adding(f"b{version}"))], Version(version), author=NOBODY)
            texts = [await history.ask(Journal.text_of_version, version) for version in range(1, 6)]
            assert [text and text.count(b"backend ") for text in texts] == [0, 1, 2, 3, None]
            assert without_versions(texts[0] or b"") == TEXT.encode()
            assert await history.ask(Journal.of_version, 3) == 2
            assert [entry.version for entry in await history.ask(Journal.after_version, 2, 100)] == [4, 3]

    run(work())


def test_a_version_that_has_not_been_has_no_text(tmp_path: Path) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (engine, _):
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            assert [await engine.context.recorder.text_of(version) is None for version in (1, 2, 7)] == [False, False, True]

    run(work())
