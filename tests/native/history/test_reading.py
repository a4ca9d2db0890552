from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.commit.change import Content
from haproxy_native.editing.editor import Editor
from haproxy_native.errors import BadRequest, NotFound
from haproxy_native.history import reading
from haproxy_native.request_context import NOBODY
from tests.native.engines import ByFunction, adding, run, substituting
from tests.native.history.test_history import recorded

EDITOR = Editor()


def test_texts_and_differences_of_moments(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("userlist u\n  user a insecure-password first\n")
        async with recorded(tmp_path) as (engine, history):
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            await engine.write([ByFunction(substituting("password first", "password second"))], Version(2), author=NOBODY)
            await engine.write([ByFunction(adding("c"))], Version(3), author=NOBODY)
            assert "backend c" not in await reading.text_at(history, 2) and "backend c" in await reading.text_at(history, 3)
            assert "first" not in await reading.text_at(history, 1) and "<masked>" in await reading.text_at(history, 1)
            whole = await reading.difference_between(history, 1, 3, None)
            assert "+backend c" in whole and "+backend b" not in whole and whole.count("<masked>") == 2 and "second" not in whole
            assert "+backend b" in await reading.difference_between(history, None, 1, None)
            own = await reading.difference_between(history, 1, 3, "userlist/u/user/a")
            assert "backend" not in own and own.count("<masked>") == 2 and own.startswith("--- haproxy.cfg, userlist u (before)")
            assert await reading.difference_between(history, 3, 3, None) == ""
            with pytest.raises(NotFound, match="no entry 9"):
                await reading.text_at(history, 9)
            with pytest.raises(BadRequest):
                await reading.difference_between(history, 1, 3, "Backend/*")

    run(work())


def test_blame(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("backend b # the first\n  server a 127.0.0.1:1\nlog-forward l\n")
        async with recorded(tmp_path) as (engine, history):
            await engine.write([ByFunction(substituting("127.0.0.1:1", "127.0.0.1:2"))], Version(1), author=NOBODY)
            lines = await reading.blamed(history, "backend/b/server/a")
            assert [(each.text, each.entry and each.entry.id) for each in lines] == [
                ("backend b # the first", None),
                ("  server a 127.0.0.1:2", 1),
            ]
            assert (await reading.blamed(history, "log_forward/l"))[0].text == "log-forward l"
            with pytest.raises(NotFound, match="no backend/none"):
                await reading.blamed(history, "backend/none")

    run(work())


def test_files_of_their_own(tmp_path: Path) -> None:
    async def work() -> None:
        key = b"-----BEGIN PRIVATE KEY-----\nMIG\n-----END PRIVATE KEY-----\n"
        async with recorded(tmp_path):
            shown = await reading.differences(
                [Content("certificate/a.pem", "/certs/a.pem", None, key), Content("map/m", "/m", b"a b\n", b"a c\n")]
            )
            assert "MIG" not in shown and shown.splitlines()[0] == "--- certificate/a.pem (before)"
            assert shown.splitlines()[1] == "+++ certificate/a.pem (after)" and shown.endswith("-a b\n+a c\n")
            assert await reading.differences([Content("general/big", "/big", None, None, is_kept=False)])

    run(work())
