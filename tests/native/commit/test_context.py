"""Nobody waits for a reload at work, and it is known what HAProxy was made to read."""

import asyncio
from pathlib import Path

from tests.native.engines import adding, run, running_engine


def test_others_commit_while_a_reload_is_at_work(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path) as engine:
            await engine.write(adding("b"), version=1)
            assert engine.site.pending == engine.reloads.pending
            async with engine.loading() as loaded:
                data = (tmp_path / "haproxy.cfg").read_bytes()
                async with asyncio.timeout(20):
                    outcome = await engine.write(adding("c"), version=2)
                assert outcome.version == 3
                assert outcome.reload_id
                assert (loaded.version, loaded.document.data) == (2, data)
            assert engine.site.load is None

    run(work())
