"""The whole text read and replaced: byte for byte, with its four switches."""

from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.commit.change import Reload
from haproxy_native.errors import (
    BadRequest,
    Conflict,
    Missing,
    NoTransaction,
    Refused,
    RuntimeFailure,
    Unreadable,
)
from haproxy_native.request_context import NOBODY, Author
from tests.haproxy.process import HAProxy
from tests.native.engines import UNKNOWN, ByFunction, adding, body, push, reload, run, running_engine, substituting, weight


class TestRaw:
    def test_a_push_is_kept_byte_for_byte(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            text = "# mine\n# _version=77\n\n" + body(haproxy.file).replace("weight 10", "weight   33  # odd")
            async with running_engine(haproxy.directory, haproxy, backups_number=3) as engine:
                outcome = await push(engine, text.encode(), version=1)
                assert (outcome.version, outcome.live) == (2, True)
                assert weight(haproxy) == "33"
                pushed = engine.raw()
                assert pushed.decode().split("\n", 2)[1:] == ["# _version=2", text.replace("# _version=77\n", "")]
                await engine.write([ByFunction(substituting("weight   33", "weight   34"))], Version(2), author=NOBODY)
                assert "Dataplaneapi managed" not in engine.raw().decode()
                restored = await push(engine, engine.raw(version=2), version=3)
                assert restored.live
                assert weight(haproxy) == "33"
                assert engine.raw().split(b"\n", 2)[2] == pushed.split(b"\n", 2)[2]

        run(work())

    def test_a_short_header_from_one_write_to_the_next(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            text = body(haproxy.file)
            async with running_engine(haproxy.directory, haproxy) as engine:
                await engine.write([ByFunction(substituting("weight 10", "weight 11"))], Version(1), author=NOBODY)
                assert "Dataplaneapi managed" in engine.raw().decode()
            async with running_engine(haproxy.directory, haproxy, short_header=True) as engine:
                assert engine.version() == 2
                outcome = await engine.write([ByFunction(substituting("weight 11", "weight 12"))], Version(2), author=NOBODY)
                assert (outcome.live, weight(haproxy)) == (True, "12")
                assert engine.raw().decode() == "# _version=3\n" + text.replace("weight 10", "weight 12")
                haproxy.file.write_text(haproxy.file.read_text().replace("weight 12", "weight 13"))
                assert (await engine.write([ByFunction(substituting("weight 13", "weight 14"))], Version(4), author=NOBODY)).version == 5
                assert engine.raw().decode() == "# _version=5\n" + text.replace("weight 10", "weight 14")

        run(work())

    @pytest.mark.parametrize(("line", "version"), [("", 1), ("# _version=500\n", 500), ("# _version=lots\n", 1)])
    def test_skip_version_takes_the_text_s_own(self, tmp_path: Path, line: str, version: int) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("# _version=41\nglobal\n")
            async with running_engine(tmp_path) as engine:
                assert engine.version() == 41
                outcome = await push(engine, f"{line}global\nbackend x\n".encode(), keeps_version=True, reload=Reload.NONE)
                assert outcome.version == version == engine.version()
                assert (outcome.live, outcome.reload_id) == (False, None)
                assert engine.raw().decode().split("\n", 1)[1] == f"# _version={version}\nglobal\nbackend x\n"

        run(work())

    def test_a_text_that_is_none(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                with pytest.raises(BadRequest, match=r"^invalid configuration: no newline character found$"):
                    await push(engine, b"global", version=1)
                with pytest.raises(BadRequest, match="version or transaction not specified"):
                    await push(engine, b"global\n")
                with pytest.raises(Conflict):
                    await push(engine, b"global\n", version=7)

        run(work())

    def test_validation_alone(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            text = haproxy.file.read_bytes()
            wrong = 1 + text.partition(b"weight")[0].count(b"\n")
            ann = Author("ann", request_id="1")
            async with running_engine(haproxy.directory, haproxy) as engine:
                await engine.validate(text, author=ann)
                with pytest.raises(Refused, match=rf'^validation error: line {wrong} of .*\nexit status 1: msg="config'):
                    await engine.validate(text.replace(b"weight", b"weihgt"), author=ann)
                for line in (b"", b"# _version=1\n", b"# _md5hash=0\n# _version=1\n"):
                    version, above = engine.version(), line.count(b"\n")
                    with pytest.raises(Refused, match=f"^validation error: line {wrong + above} of haproxy.cfg, in 'backend app"):
                        await push(engine, line + text.replace(b"weight", b"weihgt"), version=version, author=ann)
                assert (engine.version(), {each.status for each in engine.transactions(author=ann)}) == (1, {"failed"})
                assert haproxy.file.read_bytes() == text

        run(work())

    def test_what_there_is_to_read(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path, backups_number=1) as engine:
                with pytest.raises(Missing, match="backup file for version 1 does not exist"):
                    engine.raw(version=1)
                with pytest.raises(BadRequest):
                    engine.raw(version=1, transaction_id=UNKNOWN)
                with pytest.raises(NoTransaction):
                    engine.raw(transaction_id=UNKNOWN)
                await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
                assert engine.raw(version=1).decode().split("\n", 4)[4] == "global\n"
                (tmp_path / "haproxy.cfg").unlink()
                with pytest.raises(Unreadable):
                    engine.raw()

        run(work())

    def test_runtime_actions(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            text = haproxy.file.read_text()
            async with running_engine(haproxy.directory, haproxy) as engine:
                changed = text.replace("weight 10", "weight 77")
                done = await push(
                    engine, changed.encode(), version=1, reload=Reload.NONE, actions="SetServerWeight app s1 77", author=NOBODY
                )
                assert (done.version, weight(haproxy)) == (2, "77")
                assert (await engine.write([ByFunction(substituting("weight 77", "weight 10"))], Version(2), author=NOBODY)).live
                assert weight(haproxy) == "10"
                structural = text + "\nbackend b from base\n"
                await push(engine, structural.encode(), version=3, reload=Reload.NONE, actions="SetServerWeight app s1 5")
                assert weight(haproxy) == "5"
                back = await push(engine, text.encode(), version=4)
                assert back.reload_id, "what the process does is not known any more"
                assert (await reload(engine)).status == "succeeded"
                assert weight(haproxy) == "10"
                with pytest.raises(RuntimeFailure, match="cannot execute SetServerWeight"):
                    await push(engine, text.encode(), version=5, reload=Reload.NONE, actions="SetServerWeight app ghost 5")
                assert engine.version() == 6

        run(work())

    def test_skip_reload_does_nothing_to_the_process(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                text = haproxy.file.read_text()
                await push(engine, text.replace("weight 10", "weight 20").encode(), version=1, reload=Reload.NONE)
                assert weight(haproxy) == "10"
                assert (await push(engine, text.replace("weight 10", "weight 30").encode(), version=2)).live
                assert weight(haproxy) == "30"

        run(work())
