"""Run an engine with a real HAProxy. Scheduled reloads run only when the test calls `reload`."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path
from typing import Any, ClassVar

from haproxy_native.changes.expect import ANY, Version
from haproxy_native.changes.operations import PutDocument
from haproxy_native.check.check import CheckSettings
from haproxy_native.commit.change import ChangeContent, Content
from haproxy_native.commit.change import Outcome as Changed
from haproxy_native.editing import header
from haproxy_native.engine import Engine, EngineSettings
from haproxy_native.errors import ReloadFailed
from haproxy_native.planning.observed import Claimed
from haproxy_native.planning.touches import Touch
from haproxy_native.reload.agent import ReloadAgent
from haproxy_native.reload.records import Records, ReloadRecord
from haproxy_native.reload.strategies import MasterSocket, ReloadClaim
from haproxy_native.request_context import NOBODY, Author
from haproxy_native.runtime.client import Runtime
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

UNKNOWN = "00000000-0000-4000-8000-000000000000"
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


def beside(content: Content, store: Callable[[bytes | None], Awaitable[None]], touches: Sequence[Touch] = ()) -> ChangeContent:
    """Return a change of a content that is neither the configuration nor a stored file. `store` writes the content."""
    return ChangeContent(lambda: content, store, asyncio.Lock(), content.object, touches)


class Unasked:
    """The reload strategy of an engine without HAProxy. Each reload succeeds."""

    async def run(self) -> ReloadClaim:
        return ReloadClaim(True)


@asynccontextmanager
async def running_engine(directory: Path, haproxy: HAProxy | None = None, **changes: Any) -> AsyncIterator[Engine]:
    """Run an engine for the haproxy.cfg of a directory, with all other files of the engine in the same directory."""
    settings: dict[str, Any] = {
        "file": directory / "haproxy.cfg",
        "storage": directory / "storage",
        "transactions": directory / "transactions",
        "check": CheckSettings(haproxy.binary if haproxy else "true"),
        "watch": False,
    } | changes
    runtime = Runtime(timeout=60)
    if haproxy:
        # A running HAProxy has answered before, and answers within 60 seconds.
        await runtime.connect(str(haproxy.master), [str(haproxy.stats)], 60 if haproxy.runs else 0, 0.02)
    strategy = MasterSocket(runtime.master) if runtime.master else Unasked()

    def reloads(engine: Engine) -> ReloadAgent:
        return ReloadAgent(strategy, runtime, 3600, Records(engine.database), engine)

    engine = Engine(EngineSettings(**settings), runtime, reloads)
    await engine.start()
    try:
        yield engine
    finally:
        if engine.reloads.pending is None:
            await engine.close()
        else:
            # The pending reload stays pending, as after a crash. A thread that stays in SQLite would hold its mutex in each forked process.
            await asyncio.to_thread(engine.database.close)


def run_beside(directory: Path, work: Callable[[Engine, HAProxy], Awaitable[None]]) -> None:
    """Run the work with an engine and a HAProxy. The engine does not watch the process of HAProxy."""

    async def within() -> None:
        with HAProxy(directory, CONFIG.replace("%d", str(free_port())), binary=binaries.exactly("3.2")) as haproxy:
            async with running_engine(directory, haproxy) as engine:
                await engine._watching.stop()
                await work(engine, haproxy)

    run(within())


async def reload(engine: Engine) -> ReloadRecord:
    """Run the pending reload at once, and return its record even if the reload failed."""
    identity = engine.reloads.schedule(())
    with suppress(ReloadFailed):
        await engine.reloads.force(())
    return engine.reloads.records.get(identity)


@dataclass(frozen=True)
class Stating(PutDocument):
    """The operation of a PUT that sends servers without a change of their lines."""

    claimed: Claimed = frozenset()


@dataclass(frozen=True)
class ByFunction:
    """An operation that edits the configuration with the function of a test."""

    function: Callable[[Document], Document]
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        return self.function(document)


async def push(
    engine: Engine,
    body: bytes,
    version: int | None = None,
    *,
    keeps_version: bool = False,
    actions: str = "",
    author: Author = NOBODY,
    **given: Any,
) -> Changed:
    """Replace the text of the main file."""
    expect = ANY if keeps_version else Version(version) if version else None
    return await engine.write([await engine.text(body, keeps_version=keeps_version, actions=actions)], expect, author=author, **given)


def adding(name: str) -> Callable[[Document], Document]:
    return lambda document: document.insert(Section("backend", name, f"backend {name} from base\n"))


def substituting(old: str, new: str) -> Callable[[Document], Document]:
    """Return an edit that replaces a text in the first section that contains the text, as an edit by hand does."""

    def edit(document: Document) -> Document:
        section = next(section for section in document.sections if old in section.text)
        changed = Section(section.kind, section.name, section.text.replace(old, new), lead=section.lead, file=section.file)
        return document.replace(section, changed)

    return edit


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def body(path: Path) -> str:
    """Return the text of a configuration file without the header that the engine writes."""
    return header.with_header_of(Document.parse(path.read_bytes()), Document("", ())).text.removeprefix("".join(header.BANNER))


def checksum_fits(data: bytes) -> bool:
    """Return whether the checksum in the first line of a file matches the rest of the file."""
    return header.checksum_of(data) == md5(data.partition(b"\n")[2], usedforsecurity=False).hexdigest()


def weight(haproxy: HAProxy) -> str:
    # A worker that failed to start may have deleted the stats socket, so the master relays the command.
    return haproxy.ask_master("@1 get weight app/s1").split()[0]


def backends(haproxy: HAProxy) -> list[str]:
    return haproxy.ask("show backend").split()[2:]
