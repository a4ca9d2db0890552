"""An engine with a directory of SPOE files; its configuration reads one of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from haproxy_native.disk.directories import Directory
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.spoe.directory import SpoeFiles
from haproxy_native.spoe.editor import ScopeEditor, outline
from haproxy_native.spoe.store import SpoeFilters, SpoeStore
from haproxy_native.text.document import Document
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, running_engine

EDITOR = ScopeEditor()
AGENTS, GROUPS, MESSAGES = (EDITOR.resources[f"spoe_{name}"] for name in ("agents", "groups", "messages"))
TEXT = """\
# _version=3
[one]
spoe-agent a1
  messages m1
  option var-prefix iprep
  timeout processing 10ms
  use-backend agents

spoe-message m1
  args ip=src
  event on-client-session
"""
READ = "used.cfg"


def configuration(directory: Path) -> str:
    """One whose filter reads `spoe/used.cfg`."""
    reading = f"  filter spoe engine one config {directory}/spoe/{READ}\n"
    agents = "\nbackend agents\n  mode spop\n  timeout connect 1s\n  timeout server 1s\n  server one 127.0.0.1:1\n"
    return (CONFIG % free_port()).replace("  default_backend", reading + "  default_backend") + agents


def furnish(directory: Path) -> Path:
    """The directory of the SPOE files, with one that is read and one that is not."""
    home = directory / "spoe"
    home.mkdir(exist_ok=True)
    for name in (READ, "free.cfg"):
        (home / name).write_text(TEXT)
    return home


def store(engine: Engine, directory: Path) -> SpoeStore:
    return SpoeStore(
        engine.context,
        Directory(directory / "spoe", "spoe_dir"),
        directory / "storage" / "spoe",
        directory / "spoe-transactions",
        SpoeFilters(Editor(), [directory]),
        outline(),
    )


@asynccontextmanager
async def spoe_files(directory: Path, haproxy: HAProxy | None = None) -> AsyncIterator[tuple[SpoeFiles, Engine]]:
    """Started anew on what is there."""
    if not (directory / "haproxy.cfg").exists():
        (directory / "haproxy.cfg").write_text(configuration(directory).replace("{stats}", "/run/none.sock"))
    async with running_engine(directory, haproxy) as engine:
        files = SpoeFiles(store(engine, directory))
        files.recover()
        yield files, engine


def adding(name: str):
    """An edit that every HAProxy takes."""

    def edit(document: Document) -> Document:
        return EDITOR.create(document, "[one]", MESSAGES, {"name": name, "args": "dst"})

    return edit


def naming(messages: str):
    """An edit that HAProxy takes when these messages are there."""

    def edit(document: Document) -> Document:
        return EDITOR.replace(document, "[one]", AGENTS, "a1", {"name": "a1", "messages": messages, "use-backend": "agents"})

    return edit
