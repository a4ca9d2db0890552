"""What a configuration says of the members of servers that overrides are for. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from haproxy_native.commit.servers_in_process import STATE
from haproxy_native.editing import object_names
from haproxy_native.editing.editor import Editor
from haproxy_native.errors import Missing, NoParent
from haproxy_native.features.overrides.ledger import MAINTENANCE, READY, Override
from haproxy_native.text.document import Document

# Of a server that the configuration has not.
ABSENT = ""


def configured(editor: Editor, document: Document, overrides: Iterable[Override]) -> dict[tuple[str, str], str]:
    """Returns the configured values as texts, by object and member; ABSENT if the configuration lacks the server."""
    by_backend: dict[str, list[Override]] = defaultdict(list)
    for override in overrides:
        by_backend[object_names.parsed(override.object)[1]].append(override)
    values = {}
    for backend, rows in by_backend.items():
        servers = _servers(editor, document, backend)
        values.update({(row.object, row.member): _value(servers.get(object_names.parsed(row.object)[3]), row.member) for row in rows})
    return values


def _servers(editor: Editor, document: Document, backend: str) -> Mapping[str, Mapping[str, Any]]:
    table = editor.resources
    for kind in table["servers"].parents:
        with suppress(Missing, NoParent):
            if servers := editor.list_objects(document, table["servers"], (table[kind], backend)):
                return {server["name"]: server for server in servers}
    return {}


def _value(server: Mapping[str, Any] | None, member: str) -> str:
    if server is None:
        return ABSENT
    if member == STATE:
        return MAINTENANCE if server.get("maintenance") == "enabled" else READY
    return str(server.get(member))
