"""Write overrides into the server-state file, so that a new worker has them from its first request on.

A worker reads states of servers from this file when it starts (HAProxy Management Guide, section 9.3 "show servers state"). Each line that
this module writes has the overridden administrative state and weight of a server, its configured port and, for a server with health checks,
its present health. HAProxy uses the first line of a server, so these lines come before those of others, which are not changed.
"""

import asyncio
import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from haproxy_native.commit.servers_in_process import STATE, WEIGHT
from haproxy_native.disk.atomic import write_atomically
from haproxy_native.editing import object_names
from haproxy_native.editing.editor import Editor
from haproxy_native.features.overrides.ledger import Override
from haproxy_native.planning.live import ADDRESS
from haproxy_native.planning.observed import Claim, ServerDifference, by_backend, server_differences
from haproxy_native.planning.servers import EffectiveServer, Servers, ancestors
from haproxy_native.runtime.server_state import (
    CONFIGURED,
    CONFIGURED_MAINT,
    ENABLED,
    FORCED_DRAIN,
    FORCED_MAINT,
    FORMAT,
    ServerState,
    server_states,
)
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section
from haproxy_native.threads import run_in_thread

log = logging.getLogger(__name__)
FILE, LOADED_FROM, GLOBAL = "server_state_file", "load_server_state_from_file", "global"
LOCAL, BACKEND_NAME = "local", "use-backend-name"
PROXIES = ("backend", "listen")
RESOURCES = {"backend": "backends", "listen": "listens", "defaults": "defaults"}
_BEGIN, _END = "# Overrides of dataplaneapi, which rewrites these lines:\n", "# End of the overrides of dataplaneapi.\n"
_OURS = re.compile(f"^{re.escape(_BEGIN)}.*?^{re.escape(_END)}", re.DOTALL | re.MULTILINE)
_ADMIN = {"ready": 0, "drain": FORCED_DRAIN, "maint": FORCED_MAINT}
_UP = 2
_USUAL_WEIGHT = 1
# An address without a port. In an address with another port than a number, such as an offset or a variable, there is none to write.
_HOST = re.compile(r"[\w.-]+")


class ServerStateFile:
    """The server-state file of one engine. `written` has the object names of the servers for which it has lines."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self.written: frozenset[str] = frozenset()

    async def write(self, document: Document, overrides: Sequence[Override], states: Iterable[ServerState] = ()) -> None:
        """Replace our lines in the file. If it cannot be written or has an unknown format, it stays as it is, and `written` is empty."""
        path, lines = state_file_path(self._editor, document), {}
        if path and overrides:
            lines = await run_in_thread(_lines, self._editor, document, overrides, list(states))
        is_written = path is not None and await asyncio.to_thread(_replace, path, list(lines.values()))
        self.written = frozenset(lines) if is_written else frozenset()

    def checked(self, document: Document, overrides: Sequence[Override]) -> list[str]:
        """Return the backends with overrides of checked servers. The lines of these servers need the present health."""
        return list(dict.fromkeys(name for name, _, state, _ in _writable_servers(self._editor, document, overrides) if _is_checked(state)))


def state_file_path(editor: Editor, document: Document) -> Path | None:
    """Return the path of the global `server-state-file`; None if none is configured, or the path is not absolute."""
    options = _options(editor, document)
    path = Path(options.get("server_state_base", "")) / options.get(FILE, "")
    return path if FILE in options and path.is_absolute() else None


def _options(editor: Editor, document: Document) -> dict[str, Any]:
    """Return the performance options of the global section."""
    sections = editor.list_objects(document, editor.resources[GLOBAL])
    return {member: value for section in sections for member, value in section.get("performance_options", {}).items()}


def reads_states(document: Document) -> bool:
    """Return whether any section contains the keyword that makes HAProxy read states of servers from a file."""
    keyword = LOADED_FROM.replace("_", "-")
    return any(keyword in section.text for section in document.sections)


def loaded_values(editor: Editor, document: Document, differing: Iterable[ServerDifference]) -> list[ServerDifference]:
    """Return those differences whose values are in the server-state files of the worker. Blocks."""
    found: list[ServerDifference] = []
    grouped: dict[str, list[ServerDifference]] = defaultdict(list)
    for each in differing:
        grouped[each.backend].append(each)
    for backend, rows in grouped.items():
        section = next((proxy for kind in PROXIES if (proxy := document.find(kind, backend))), None)
        path = _read_from(editor, document, section) if section else None
        if path is None:
            continue
        # HAProxy uses the first line of a server.
        states = by_backend(reversed([state for state in _states(path) if state.backend_name == backend]))
        stored = list(
            server_differences(document, Servers(editor.grammar), states, {}, frozenset(Claim(backend, each.server) for each in rows))
        )
        # HAProxy does not read the address of a server that is configured with one.
        found += [each for each in rows if each.member not in ("", ADDRESS) and each in stored]
    return found


def _states(path: Path) -> list[ServerState]:
    """Read the states in a server-state file; none if it cannot be read."""
    try:
        return server_states(path.read_bytes().decode("utf-8", "surrogateescape"))
    except OSError as error:
        log.info("reading the server-state file %s failed: %s", path, error.strerror)
        return []


def _read_from(editor: Editor, document: Document, section: Section) -> Path | None:
    """Return the file from which HAProxy reads the states of a section's servers; None if there is none or its path is not absolute."""
    members: dict[str, Any] = {}
    for section_ in (section, *ancestors(document, section)):
        members = {**editor.as_object(section_, editor.resources[RESOURCES[section_.kind]], section_.name, None), **members}
    if members.get(LOADED_FROM) == GLOBAL:
        return state_file_path(editor, document)
    if members.get(LOADED_FROM) != LOCAL:
        return None
    options = _options(editor, document)
    name = members.get("server_state_file_name", BACKEND_NAME)
    path = Path(options.get("server_state_base", "")) / (section.name if name == BACKEND_NAME else name)
    return path if path.is_absolute() else None


def reads_global_file(editor: Editor, document: Document, section: Section) -> bool:
    """Return whether HAProxy reads states of this section's servers from the file that `state_file_path` returns."""
    for section_ in (section, *ancestors(document, section)):
        shown = editor.as_object(section_, editor.resources[RESOURCES[section_.kind]], section_.name, None)
        if LOADED_FROM in shown:
            return bool(shown[LOADED_FROM] == GLOBAL)
    return False


def _lines(editor: Editor, document: Document, overrides: Sequence[Override], states: Sequence[ServerState]) -> dict[str, str]:
    """Return the lines to write, by object."""
    now = {(state.backend_name, state.name): state for state in states}
    writable = _writable_servers(editor, document, overrides)
    return {rows[0].object: _line(backend, name, server, rows, now.get((backend, name))) for backend, name, server, rows in writable}


def _writable_servers(
    editor: Editor, document: Document, overrides: Sequence[Override]
) -> Iterator[tuple[str, str, EffectiveServer, list[Override]]]:
    """Yield backend, name, server and overrides for each server whose overrides can be written into the file."""
    reader = Servers(editor.grammar)
    for backend, servers in _by_server(overrides).items():
        section = next((proxy for kind in PROXIES if (proxy := document.find(kind, backend))), None)
        there = reader.read_section(document, section) if section and reads_global_file(editor, document, section) else None
        if there is None:
            continue
        named = {server.name: server for server in there.servers}
        for name, rows in servers.items():
            template = next((template for template in there.templates if re.fullmatch(re.escape(template.name) + r"\d+", name)), None)
            if (server := named.get(name, template)) and _has_port(server) and WEIGHT not in server.opaque:
                yield backend, name, server, rows


def _by_server(overrides: Sequence[Override]) -> dict[str, dict[str, list[Override]]]:
    """Return the overrides of states and weights, by backend and server."""
    by_server: dict[str, dict[str, list[Override]]] = defaultdict(lambda: defaultdict(list))
    for override in overrides:
        if override.member in (STATE, WEIGHT):
            _, backend, _, name = object_names.parsed(override.object)
            by_server[backend][name].append(override)
    return by_server


def _has_port(server: EffectiveServer) -> bool:
    """Return whether the port of a server is a number, or none is configured."""
    host = server.values.get("address", server.values.get("fqdn"))
    return isinstance(server.values.get("port"), int) or _HOST.fullmatch(str(host)) is not None


def _is_checked(server: EffectiveServer) -> bool:
    return server.values.get("check") == "enabled"


def _line(backend: str, name: str, server: EffectiveServer, overrides: Sequence[Override], now: ServerState | None) -> str:
    """Return the line of a server. Its health comes from `now`; without it, the server starts as up."""
    values = {override.member: override.value for override in overrides}
    is_off = server.values.get("maintenance") == "enabled"
    admin = _ADMIN[values.get(STATE, "maint" if is_off else "ready")] | (CONFIGURED_MAINT if is_off else 0)
    weight = server.values.get("weight", _USUAL_WEIGHT)
    has_health = now is not None and _is_checked(server) and now.admin_state != "maint"
    operational, health = (now.operational, now.check_health) if now and has_health else (_UP, 0)
    # The other columns are 0 or `-`, because HAProxy ignores them, or reads this as an unknown value.
    counted = f"{operational} {admin} {values.get(WEIGHT, weight)} {weight} 0 1 0 {health} {CONFIGURED | ENABLED} 0"
    return f"0 {backend} 0 {name} - {counted} 0 0 - {server.values.get('port', 0)} - 0 0 - - 0\n"


def merged(text: str, lines: Sequence[str]) -> str | None:
    """Return the text of the file with our lines replaced by `lines`; None if its format is unknown."""
    head, end, rest = (text or f"{FORMAT}\n").partition("\n")
    if head.strip() != FORMAT:
        return None
    block = "".join([_BEGIN, *lines, _END]) if lines else ""
    return head + (end or "\n") + block + _OURS.sub("", rest)


def _replace(path: Path, lines: Sequence[str]) -> bool:
    """Write our lines, and return whether that succeeded. Blocks."""
    try:
        path = path.resolve()
        before = path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""
        after = merged(before, lines) if before or lines else ""
        if after is None:
            log.warning("the server-state file %s has an unknown format; overrides are not written into it", path)
        elif after != before:
            is_new = not before and not path.exists()
            data = after.encode("utf-8", "surrogateescape")
            write_atomically(path, data, like=None if is_new else path, mode=0o644 if is_new else None, durable=False)
        return after is not None
    except OSError as error:
        log.warning("writing the server-state file %s failed: %s; a new worker gets overrides after its start", path, error.strerror)
        return False
