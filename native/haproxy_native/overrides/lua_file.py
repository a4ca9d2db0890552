"""The Lua file that a starting worker runs before its first request: it sets states and weights of servers as overrides say.

Where the configuration loads it (`lua-load /etc/haproxy/dataplaneapi-overrides.lua`), which is the operator's to add. HAProxy does not
start without the file, so that it stays without overrides, too (HAProxy Lua documentation, `core.register_init`, class Server).
"""

import asyncio
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from haproxy_native.disk.atomic import write_atomically
from haproxy_native.editing import object_names
from haproxy_native.editing.editor import Editor
from haproxy_native.overrides.ledger import STATE, WEIGHT, Override
from haproxy_native.overrides.server_state_file import GLOBAL
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)
NAME = "dataplaneapi-overrides.lua"
MODE = 0o644
_HEAD = """\
-- Overrides of dataplaneapi, which rewrites this file. HAProxy does not start without it: remove its `lua-load` line first.
local function server(backend, name, change)
    local found = core.backends[backend]
    found = found and found.servers[name]
    if found then pcall(change, found) end
end
"""
_PLAIN = re.compile(rb"[A-Za-z0-9_.:-]")


class LuaFile:
    """`carried`: the objects that the file names."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self.carried: frozenset[str] = frozenset()

    async def write(self, document: Document, overrides: Sequence[Override]) -> None:
        """Replaces the file where the configuration loads it; one that cannot be written carries none."""
        path, kept = place(self._editor, document), [each for each in overrides if each.member in (STATE, WEIGHT)]
        written = path is not None and await asyncio.to_thread(_replace, path, source(kept))
        self.carried = frozenset(each.object for each in kept) if written else frozenset()


def place(editor: Editor, document: Document) -> Path | None:
    """The file of that name which the configuration loads by an absolute path; None where it loads none."""
    for section in editor.list_objects(document, editor.resources[GLOBAL]):
        for load in section.get("lua_options", {}).get("loads", []):
            path = Path(load["file"])
            if path.name == NAME and path.is_absolute():
                return path
    return None


def source(overrides: Iterable[Override]) -> str:
    lines = "".join(f"    {line}\n" for override in overrides for line in _lines(override))
    return f"{_HEAD}core.register_init(function()\n{lines}end)\n"


def _lines(override: Override) -> Iterator[str]:
    _, backend, _, name = object_names.parsed(override.object)
    call = f"set_{override.value}()" if override.member == STATE else f"set_weight({_quoted(str(override.value))})"
    yield f"server({_quoted(backend)}, {_quoted(name)}, function(s) s:{call} end)"


def _quoted(text: str) -> str:
    data = text.encode("utf-8", "surrogateescape")
    return '"' + "".join(chr(byte) if _PLAIN.match(bytes((byte,))) else f"\\{byte:03d}" for byte in data) + '"'


def _replace(path: Path, text: str) -> bool:
    """Blocks. False where it could not be written."""
    try:
        path = path.resolve()
        there = path.exists()
        if not there or path.read_bytes() != text.encode():
            write_atomically(path, text.encode(), like=path if there else None, mode=None if there else MODE, durable=False)
        return True
    except OSError as error:
        log.warning("cannot write %s: %s; a new worker gets overrides a moment after its start", path, error.strerror)
        return False
