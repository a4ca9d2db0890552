"""Create the context of commits from settings."""

import asyncio
from dataclasses import replace
from pathlib import Path

from haproxy_native.engine import context_of
from tests.native.engines import running_engine


def test_what_is_only_read_makes_no_transaction_directory_and_ends_none(tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_text("global\n")

    async def work() -> None:
        async with running_engine(tmp_path) as engine:
            for read_only, ttl in ((True, 0.0), (False, 5.0)):
                settings = replace(engine.settings, transactions=tmp_path / f"of {read_only}", transaction_ttl=5.0, read_only=read_only)
                context = context_of(settings, engine.runtime, engine.reloads, engine.stores, engine.database)
                context.transactions.load()
                assert (context.read_only, context.transactions.ttl, settings.transactions.exists()) == (read_only, ttl, not read_only)

    asyncio.run(work())
