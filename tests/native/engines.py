"""An engine beside a real HAProxy, with reloads through the master that run when a test lets them."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from native.apply import aftermath
from native.apply.plan import Reason
from native.config.check import CheckSettings
from native.engine import Engine, EngineSettings
from native.errors import ReloadFailed
from native.runtime.client import Runtime
from native.text.document import Document
from native.text.section import Section
from tests.haproxy.process import HAProxy

CONFIG = """\
# the operators' own
global
  stats socket {stats} mode 600 level admin
  stats timeout 2m

defaults base
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s

frontend web from base
  bind 127.0.0.1:%d name main
  default_backend app   # the usual one

backend app from base
  server s1 127.0.0.1:1 weight 10
"""


class Reloads:
    """Reloads through the master; one that is scheduled runs at `now`."""

    def __init__(self, engine: Engine, master: Path | None) -> None:
        self.engine, self.master = engine, master
        self.reasons: list[list[Reason]] = []
        self.restored: list[int | None] = []
        self.scheduled: str | None = None

    def schedule(self, reasons: Sequence[Reason]) -> str:
        if self.scheduled is None:
            self.scheduled = f"2026-01-01-{len(self.reasons)}"
        self.reasons.append(list(reasons))
        return self.scheduled

    async def force(self, reasons: Sequence[Reason]) -> None:
        self.reasons.append(list(reasons))
        if not await self.now():
            raise ReloadFailed("Reload failed: ")

    async def now(self) -> bool:
        self.scheduled = None
        site = self.engine.site
        async with site.loading() as loaded:
            master = site.runtime.master
            assert master
            answer = await master.reload()
            if answer.success:
                await aftermath.succeeded(site, loaded)
            else:
                self.restored.append(await aftermath.failed(site, loaded))
            return bool(answer.success)


@asynccontextmanager
async def running_engine(directory: Path, haproxy: HAProxy | None = None, **changes):
    """`directory` has haproxy.cfg; everything else of the engine's is put beside it."""
    settings = {
        "file": directory / "haproxy.cfg",
        "storage": directory / "storage",
        "transactions": directory / "transactions",
        "check": CheckSettings(haproxy.binary if haproxy else "true"),
        "watch": False,
    } | changes
    runtime = Runtime(timeout=5)
    if haproxy:
        await runtime.connect(str(haproxy.master), [str(haproxy.stats)], 5, 0.02)
    engine = Engine(EngineSettings(**settings), runtime, lambda engine: Reloads(engine, haproxy and haproxy.master))
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()


def adding(name: str) -> Callable[[Document], Document]:
    return lambda document: document.insert(Section("backend", name, f"backend {name} from base\n"))


def substituting(old: str, new: str) -> Callable[[Document], Document]:
    """An edit of one section, as an editor makes it."""

    def edit(document: Document) -> Document:
        section = next(section for section in document.sections if old in section.text)
        changed = Section(section.kind, section.name, section.text.replace(old, new), lead=section.lead, file=section.file)
        return document.replace(section, changed)

    return edit


def run(work) -> None:
    asyncio.run(work)
