"""Rights at the commit, in a transaction, and for what needs a reload."""

from functools import partial
from pathlib import Path

import pytest

from haproxy_native.access.rights import AccessRule, Rights
from haproxy_native.changes.expect import Version
from haproxy_native.commit.change import Change, Content, Reload
from haproxy_native.commit.commit import change_process, commit
from haproxy_native.errors import Forbidden
from haproxy_native.planning.touches import changed
from haproxy_native.request_context import Author
from tests.native.engines import ByFunction, adding, beside, push, run, running_engine

EVERY = frozenset(("create", "change", "delete"))
OWN, QUIET = Rights(("own",), (AccessRule("backend/own_*", EVERY),)), Rights(("quiet",), (AccessRule("**", EVERY, reloads=False),))


def test_a_commit_and_a_transaction(tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_text("global\n")

    async def work() -> None:
        async with running_engine(tmp_path) as engine:
            ann = Author("ann", rights=OWN, group="users")
            await engine.write([ByFunction(adding("own_a"))], Version(1), author=ann)
            text = (tmp_path / "haproxy.cfg").read_bytes()
            with pytest.raises(Forbidden, match="role own may not create backend/b"):
                await engine.write([ByFunction(adding("b"))], Version(2), author=ann)
            started = engine.start_transaction(2, author=ann)
            await engine.write([ByFunction(adding("own_b"))], transaction_id=started.id, author=ann)
            with pytest.raises(Forbidden, match="may not create backend/b"):
                await engine.write([ByFunction(adding("b"))], transaction_id=started.id, author=ann)
            assert (tmp_path / "haproxy.cfg").read_bytes() == text
            bob = Author("bob", group="users", rights=Rights(("some",), (AccessRule("transaction/*", EVERY),)))
            with pytest.raises(Forbidden, match="role some may not create backend/own_b"):
                await engine.commit_transaction(started.id, author=bob)
            ann = Author("ann", rights=OWN, group="users")
            await engine.commit_transaction(started.id, author=ann)
            assert b"backend own_b" in (tmp_path / "haproxy.cfg").read_bytes()

    run(work())


def test_without_a_reload(tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_text("global\n")

    async def work() -> None:
        async with running_engine(tmp_path) as engine:
            ann = Author("ann", rights=QUIET)
            for more in ({}, {"reload": Reload.NOW}):
                with pytest.raises(Forbidden, match="needs a reload, for which a rule with reload: any is needed"):
                    await engine.write([ByFunction(adding("b"))], Version(1), **more, author=ann)
            with pytest.raises(Forbidden):
                await push(engine, b"global\nbackend b\n", version=1, reload=Reload.NONE, author=ann)
            assert engine.version() == 1 and engine.context.pending is None

    run(work())


def test_the_process_and_other_files(tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_text("global\n")
    done = list[str]()

    async def work() -> None:
        async with running_engine(tmp_path) as engine:

            async def apply() -> None:
                done.append("process")

            async def store(data: bytes | None) -> None:
                done.append("file")

            content = Content("spoe/a", str(tmp_path / "a"), None, b"x")
            ann = Author("ann", rights=Rights(("weights",), (AccessRule("backend/*/server/*", EVERY, frozenset(("weight",))),)))
            await change_process(engine.context, "backend/b/server/s", apply, [changed("backend/b/server/s", ["weight"])], author=ann)
            of_server = partial(changed, "backend/b/server/s")
            for touched in ([of_server(["weight", "admin_state"])], [of_server(["weight"]), changed("backend/c", ["x"])], []):
                with pytest.raises(Forbidden, match="may not change"):
                    await change_process(engine.context, "backend/b/server/s", apply, touched, author=ann)
            with pytest.raises(Forbidden, match="spoe/a"):
                await commit(engine.context, Change([beside(content, store, [changed("spoe/a", ["x"])])], author=ann))
            assert done == ["process"]

    run(work())
