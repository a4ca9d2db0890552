"""While HAProxy reads the file, what needs a reload waits."""

import asyncio
from pathlib import Path

from tests.native.engines import adding, run, running_engine


def test_a_change_that_needs_a_reload_waits_for_the_one_at_work(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path) as engine:
            await engine.write(adding("b"), version=1)
            assert engine.context.pending == engine.reloads.pending
            async with engine.loading() as loaded:
                writing = asyncio.create_task(engine.write(adding("c"), version=2))
                await asyncio.sleep(0.05)
                assert (loaded.version, engine.version()) == (2, 2)
                assert loaded.document is engine.document
                assert loaded.document.data == (tmp_path / "haproxy.cfg").read_bytes()
            assert (await writing).version == 3

    run(work())
