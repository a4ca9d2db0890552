"""What others write into the file is noticed, taken over, and never overwritten unseen."""

import asyncio
import os
from pathlib import Path

import pytest

from haproxy_native import engine as module
from haproxy_native.changes.expect import Version
from haproxy_native.check.check import CheckSettings
from haproxy_native.editing import header
from haproxy_native.errors import (
    Conflict,
    Unreadable,
)
from haproxy_native.request_context import NOBODY
from haproxy_native.text.document import Document
from tests.haproxy.process import HAProxy
from tests.native.engines import ByFunction, adding, backends, reload, run, running_engine, substituting


class TestOthersEdits:
    def test_an_edit_is_noticed_and_never_overwritten(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                await engine.write([ByFunction(substituting("weight 10", "weight 11"))], Version(1), author=NOBODY)
                with haproxy.file.open("a") as file:
                    file.write("\nbackend by-hand from base\n")
                edited = haproxy.file.read_bytes()
                with pytest.raises(Conflict, match="version in configuration file is 3, given version is 2"):
                    await engine.write([ByFunction(adding("b"))], Version(2), author=NOBODY)
                assert haproxy.file.read_bytes() == edited == engine.raw()
                assert engine.read().find("backend", "by-hand")
                outcome = await engine.write([ByFunction(substituting("weight 11", "weight 12"))], Version(3), author=NOBODY)
                assert outcome.reload_id, "the edit by hand is not in the process"
                assert header.version_of(Document.parse(engine.raw())) == 4
                assert (await reload(engine)).status == "succeeded"
                assert backends(haproxy) == ["app", "by-hand"]

        run(work())

    def test_an_edit_during_the_check(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            edit = CheckSettings(command=f"sh -c 'echo backend by-hand >> {tmp_path}/haproxy.cfg'")
            async with running_engine(tmp_path, check=edit) as engine:
                with pytest.raises(Conflict, match="version in configuration file is 2, given version is 1"):
                    await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
                assert (tmp_path / "haproxy.cfg").read_text() == "global\nbackend by-hand\n"
                assert engine.read().find("backend", "by-hand")

        run(work())

    @pytest.mark.parametrize(
        ("text", "version"),
        [
            ("global\n", 8),  # without a header
            ("# _version=3\nglobal\n", 8),  # an older one
            ("# _version=40\nglobal\n", 41),
        ],
    )
    def test_the_version_only_rises(self, tmp_path: Path, text: str, version: int) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("# _version=7\nglobal\n")
            async with running_engine(tmp_path) as engine:
                (tmp_path / "haproxy.cfg").write_text(text)
                assert await engine.notice()
                assert not await engine.notice()
                assert engine.version() == version
            async with running_engine(tmp_path) as engine:
                assert engine.version() == version, "it is remembered, though the file does not say it"
                assert (tmp_path / "haproxy.cfg").read_text() == text
                await engine.write([ByFunction(adding("b"))], Version(version), author=NOBODY)
                assert engine.version() == version + 1 == header.version_of(engine.document)

        run(work())

    def test_an_edit_while_stopped_does_not_count(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("# _version=7\nglobal\n")
            async with running_engine(tmp_path) as engine:
                assert engine.version() == 7
            (tmp_path / "haproxy.cfg").write_text("# _version=7\nglobal\nbackend by-hand\n")
            async with running_engine(tmp_path) as engine:
                assert engine.version() == 7
                assert engine.read().find("backend", "by-hand")
                (tmp_path / "haproxy.cfg").write_text("# _version=7\nglobal\n")
                await engine.reread()
                assert engine.version() == 7
                assert not await engine.notice()

        run(work())

    def test_the_file_is_not_reread_while_a_commit_is_at_work(self, tmp_path: Path) -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")

        async def work() -> None:
            async with running_engine(tmp_path) as engine:
                async with engine.context.lock:
                    reread = asyncio.create_task(engine.reread())
                    await asyncio.sleep(0)
                    assert not reread.done()
                await reread

        run(work())

    def test_an_edit_that_does_not_count_is_not_overwritten_either(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("# _version=7\nglobal\n")
            async with running_engine(tmp_path) as engine:
                kept, overtaken = engine.start_transaction(7, author=NOBODY).id, engine.start_transaction(7, author=NOBODY).id
                for id_ in (kept, overtaken):
                    await engine.write([ByFunction(adding("b"))], transaction_id=id_, author=NOBODY)
            async with running_engine(tmp_path) as engine:
                assert (await engine.commit_transaction(kept, author=NOBODY))[1].version == 8
                overtaken = engine.start_transaction(8, author=NOBODY).id
                await engine.write([ByFunction(adding("c"))], transaction_id=overtaken, author=NOBODY)
            text = (tmp_path / "haproxy.cfg").read_text() + "backend by-hand\n"
            (tmp_path / "haproxy.cfg").write_text(text)
            async with running_engine(tmp_path) as engine:
                assert engine.version() == 8
                with pytest.raises(Conflict, match="version 8 is not the one that the transaction started from"):
                    await engine.commit_transaction(overtaken, author=NOBODY)
                assert (tmp_path / "haproxy.cfg").read_text() == text
                assert engine.transaction(overtaken, author=NOBODY).status == "outdated"

        run(work())

    def test_a_touch_is_no_edit(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                os.utime(tmp_path / "haproxy.cfg", ns=(1, 1))
                (tmp_path / "haproxy.cfg").chmod(0o600)
                assert not await engine.notice()
                assert engine.version() == 1

        run(work())

    def test_the_watch(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "next_second", lambda: asyncio.sleep(0.01))
        monkeypatch.setattr(module, "SETTLING_SECONDS", 0.01)

        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path, watch=True) as engine:
                (tmp_path / "haproxy.cfg").unlink()
                await asyncio.sleep(0.05)
                (tmp_path / "haproxy.cfg").write_text("global\nbackend by-hand\n")
                async with asyncio.timeout(60):
                    while not engine.read().find("backend", "by-hand"):
                        await asyncio.sleep(0.01)
                assert engine.version() == 2

        run(work())

    def test_a_file_that_is_gone(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                (tmp_path / "haproxy.cfg").unlink()
                with pytest.raises(Unreadable):
                    await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
                assert not (tmp_path / "haproxy.cfg").exists()
                assert engine.read().sections

        run(work())
