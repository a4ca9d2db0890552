"""Write overrides into the server-state file, so that a new worker has them from its first request on.

A worker reads states of servers from this file when it starts (HAProxy Management Guide, section 9.3 "show servers state"). This module
writes a line for each server whose state or weight is overridden. The line has the overridden values, the configured port and, for a server
with health checks, its present health. HAProxy uses the first line of a server. The lines of this module therefore come first. All other
lines stay as they are.
"""

import asyncio
import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
# An address without a port. The file has no form for a port that is an offset or a variable.
_HOST = re.compile(r"[\w.-]+")


async def write_overrides(
    editor: Editor, document: Document, overrides: Sequence[Override], states: Iterable[ServerState] = ()
) -> frozenset[str]:
    """Write the lines of these overrides into the file, and return the object names of the servers that have lines in it.

    `states` have the present health of servers. If the file has an unknown format or cannot be written, it stays as it is, and the result
    is empty.
    """
    path, lines = state_file_path(editor, document), {}
    if path and overrides:
        lines = await run_in_thread(_override_lines, editor, document, overrides, list(states))
    is_written = path is not None and await asyncio.to_thread(_write_lines, path, list(lines.values()))
    return frozenset(lines) if is_written else frozenset()


def backends_with_health(editor: Editor, document: Document, overrides: Sequence[Override]) -> list[str]:
    """Return the backends of overridden servers with health checks, whose lines need their present health."""
    writable = _writable_servers(editor, document, overrides)
    return list(dict.fromkeys(backend for backend, _, server, _ in writable if _is_checked(server)))


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
    """Return the differences whose values HAProxy has read from a server-state file. Blocks."""
    loaded: list[ServerDifference] = []
    grouped: dict[str, list[ServerDifference]] = defaultdict(list)
    for difference in differing:
        grouped[difference.backend].append(difference)
    for backend, rows in grouped.items():
        section = next((proxy for kind in PROXIES if (proxy := document.find(kind, backend))), None)
        path = _section_state_file(editor, document, section) if section else None
        if path is None:
            continue
        try:
            states = server_states(path.read_bytes().decode("utf-8", "surrogateescape"))
        except OSError as error:
            log.info("reading the server-state file %s failed: %s", path, error.strerror)
            continue
        # HAProxy uses the first line of a server.
        used = by_backend(reversed([state for state in states if state.backend_name == backend]))
        claims = frozenset(Claim(backend, difference.server) for difference in rows)
        stored = list(server_differences(document, Servers(editor.grammar), used, {}, claims))
        # HAProxy does not read the address of a server that is configured with one.
        loaded += [difference for difference in rows if difference.member not in ("", ADDRESS) and difference in stored]
    return loaded


def _section_state_file(editor: Editor, document: Document, section: Section) -> Path | None:
    """Return the file from which HAProxy reads the states of a section's servers; None without a file that has an absolute path."""
    members = _inherited_members(editor, document, section)
    if members.get(LOADED_FROM) == GLOBAL:
        return state_file_path(editor, document)
    if members.get(LOADED_FROM) != LOCAL:
        return None
    name = members.get("server_state_file_name", BACKEND_NAME)
    path = Path(_options(editor, document).get("server_state_base", "")) / (section.name if name == BACKEND_NAME else name)
    return path if path.is_absolute() else None


def _inherited_members(editor: Editor, document: Document, section: Section) -> Mapping[str, Any]:
    """Return the members of a section, including those that it inherits from defaults sections."""
    members: dict[str, Any] = {}
    for section_ in (section, *ancestors(document, section)):
        members = {**editor.as_object(section_, editor.resources[RESOURCES[section_.kind]], section_.name, None), **members}
    return members


def reads_global_file(editor: Editor, document: Document, section: Section) -> bool:
    """Return whether HAProxy reads the states of this section's servers from the file that `state_file_path` returns."""
    return bool(_inherited_members(editor, document, section).get(LOADED_FROM) == GLOBAL)


def _override_lines(editor: Editor, document: Document, overrides: Sequence[Override], states: Sequence[ServerState]) -> dict[str, str]:
    """Return the lines to write, by object name of the server."""
    lines, present = {}, {(state.backend_name, state.name): state for state in states}
    for backend, name, server, rows in _writable_servers(editor, document, overrides):
        values = {override.member: override.value for override in rows}
        is_off = server.values.get("maintenance") == "enabled"
        admin = _ADMIN[values.get(STATE, "maint" if is_off else "ready")] | (CONFIGURED_MAINT if is_off else 0)
        weight = server.values.get("weight", _USUAL_WEIGHT)
        state = present.get((backend, name))
        if state and state.admin_state != "maint" and _is_checked(server):
            operational, health = state.operational, state.check_health
        else:
            operational, health = _UP, 0
        # The other columns are 0 or `-`, because HAProxy ignores them or reads these as unknown values.
        counted = f"{operational} {admin} {values.get(WEIGHT, weight)} {weight} 0 1 0 {health} {CONFIGURED | ENABLED} 0"
        lines[rows[0].object] = f"0 {backend} 0 {name} - {counted} 0 0 - {server.values.get('port', 0)} - 0 0 - - 0\n"
    return lines


def _writable_servers(
    editor: Editor, document: Document, overrides: Sequence[Override]
) -> Iterator[tuple[str, str, EffectiveServer, list[Override]]]:
    """Yield backend, name, server and overrides for each server whose overrides can be written into the file."""
    by_server: dict[str, dict[str, list[Override]]] = defaultdict(lambda: defaultdict(list))
    for override in overrides:
        if override.member in (STATE, WEIGHT):
            _, backend, _, name = object_names.parsed(override.object)
            by_server[backend][name].append(override)
    reader = Servers(editor.grammar)
    for backend, rows_by_name in by_server.items():
        section = next((proxy for kind in PROXIES if (proxy := document.find(kind, backend))), None)
        if section is None or not reads_global_file(editor, document, section):
            continue
        if (proxy_servers := reader.read_section(document, section)) is None:
            continue
        named = {server.name: server for server in proxy_servers.servers}
        for name, rows in rows_by_name.items():
            templates = (template for template in proxy_servers.templates if re.fullmatch(re.escape(template.name) + r"\d+", name))
            server = named.get(name) or next(templates, None)
            if server is None or WEIGHT in server.opaque:
                continue
            host = server.values.get("address", server.values.get("fqdn"))
            if isinstance(server.values.get("port"), int) or _HOST.fullmatch(str(host)):
                yield backend, name, server, rows


def _is_checked(server: EffectiveServer) -> bool:
    return server.values.get("check") == "enabled"


def with_lines(text: str, lines: Sequence[str]) -> str | None:
    """Return the text of a server-state file with our lines replaced by `lines`; None if the file has an unknown format."""
    head, end, rest = (text or f"{FORMAT}\n").partition("\n")
    if head.strip() != FORMAT:
        return None
    block = "".join([_BEGIN, *lines, _END]) if lines else ""
    return head + (end or "\n") + block + _OURS.sub("", rest)


def _write_lines(path: Path, lines: Sequence[str]) -> bool:
    """Write `lines` into a server-state file. Return False, after a warning, if it has an unknown format or cannot be written. Blocks."""
    try:
        path = path.resolve()
        before = path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""
        after = with_lines(before, lines) if before or lines else ""
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
