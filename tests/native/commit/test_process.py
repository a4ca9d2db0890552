"""What the process is brought to while it loads another text."""

from haproxy_native.commit import process
from haproxy_native.commit.change import Change, Edit
from haproxy_native.engine import Engine
from tests.haproxy.process import HAProxy
from tests.native.engines import adding, run, running_engine, substituting, weight

LIGHT = substituting("weight 10", "weight 77")


async def is_live(engine: Engine, edit: Edit, **more: bool) -> bool:
    context, before = engine.context, engine.document
    assert context.load
    return await process.is_live(context, context.load, Change(edit, **more), before, edit(before))


def test_only_live_changes_are_made_while_haproxy_loads(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine, engine.loading():
            assert await is_live(engine, LIGHT)
            assert not await is_live(engine, adding("more"))
            assert not await is_live(engine, lambda document: document)
            assert not await is_live(engine, LIGHT, force_reload=True)
            assert not await is_live(engine, LIGHT, whole=True)
            engine.context.running.is_in_doubt("a test")
            assert not await is_live(engine, LIGHT)

    run(work())


def test_a_worker_gets_what_its_predecessor_did(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            wanted = LIGHT(engine.document)
            assert await process.apply_missing(engine.context, wanted) == []
            assert (weight(haproxy), engine.running) == ("77", wanted)
            (reason,) = await process.apply_missing(engine.context, adding("more")(wanted))
            assert reason.why
            assert engine.running is wanted

    run(work())
