"""Generate app/dataplaneapi/ctl/kinds.py: the places of configuration objects in the API, for the command-line client."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from haproxy_native.editing.object_names import kind_of
from haproxy_native.editing.resources import Resource, resources

BASE = "/services/haproxy/configuration/"
HEAD = '''\
"""Kinds of objects of a configuration, as object names contain them. Made by `make generate`; never edit it.

`COLLECTIONS` has the path of each kind's collection below /v3/services/haproxy/configuration. `{}` in a path is the name of the section
that contains the objects. A kind in `SINGLE` has only one object. A section of a kind in `FULL` is shown with its children if the call has
`full_section=true`. Objects of a kind in `INDEXED` are addressed by their index. `KEYS` has the member that contains an object's name, if
it is not `name`. `KEYWORDS` has the first word of a section in the file. `LINES` has the first word of the lines of other objects, if it is
not their kind.

`OTHERS` has the paths of objects that are not in the text of the configuration. `AT_RUNTIME` has the paths of objects in the running
process, and `ENTRIES` has those kinds of them that have entries. `COLUMNS` has the members that a table shows.
"""

'''
OTHERS = {
    "acl_file": "/sidecar/acls",
    "certificate": "/services/haproxy/storage/ssl_certificates",
    "confirmation": "/sidecar/confirmations",
    "crt_list": "/services/haproxy/storage/ssl_crt_lists",
    "general": "/services/haproxy/storage/general",
    "map": "/services/haproxy/storage/maps",
    "operation": "/sidecar/operations",
    "owner": "/sidecar/owners",
    "reload": "/services/haproxy/reloads",
    "split": "/sidecar/splits",
    "test": "/sidecar/tests",
    "token": "/sidecar/tokens",
    "transaction": "/services/haproxy/transactions",
}
RUNTIME = "/services/haproxy/runtime/"
AT_RUNTIME = {
    "acl": "acls",
    "backend/server": "backends/{}/servers",
    "certificate": "ssl_certs",
    "crt_list": "ssl_crt_lists",
    "info": "info",
    "map": "maps",
    "stick_table": "stick_tables",
}
LINES = {
    "log_target": "log",
    "crt_load": "load",
    "peer_entry": "peer",
    "mailer_entry": "mailer",
    "backend_switching_rule": "use_backend",
    "server_switching_rule": "use-server",
    "force_be_switch": "force-be-switch",
    "ssl_front_use": "ssl-f-use",
    "dgram_bind": "dgram-bind",
}
COLUMNS = {
    "backend": "name from mode balance description",
    "frontend": "name from mode default_backend maxconn",
    "server": "name address port weight check backup maintenance",
    "bind": "name address port ssl ssl_certificate",
    "acl": "acl_name criterion value",
    "runtime server": "name address port operational_state admin_state weight",
    "history": "id time author outcome version summary",
    "worker": "pid current started version connections sessions memory",
    "override": "object member value former source since author",
}


def module(document: Mapping[str, Any]) -> str:
    """The text of the module, from the bundled document."""
    places = dict(_places(document))
    configured = [resource for resource in resources().by_name.values() if not resource.file and resource.kind != "view"]
    sections = [resource for resource in configured if resource.section and not resource.parents]
    parts = [
        _dictionary("COLLECTIONS", places),
        _names("SINGLE", (section for section in sections if section.kind == "singleton")),
        _names("FULL", (section for section in sections if section.full_section)),
        _names("INDEXED", (resource for resource in configured if resource.kind == "indexed")),
        _dictionary(
            "KEYS", {kind_of(resource): resource.key for resource in configured if resource.kind == "named" and resource.key != "name"}
        ),
        _dictionary("KEYWORDS", {kind_of(section): section.section for section in sections}),
        _dictionary("LINES", LINES),
        _dictionary("OTHERS", {kind: f"/v3{path}" for kind, path in OTHERS.items()}),
        _dictionary("AT_RUNTIME", {kind: f"/v3{RUNTIME}{path}" for kind, path in AT_RUNTIME.items()}),
        _tuple("ENTRIES", [kind for kind, path in AT_RUNTIME.items() if f"{RUNTIME}{path}/{{parent_name}}/entries" in document["paths"]]),
        _dictionary("COLUMNS", COLUMNS),
    ]
    return HEAD + "\n".join(parts)


def _places(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    table = resources()
    for path, operations in document["paths"].items():
        about = operations.get("get", {}).get("x-operation", {})
        if "resource" not in about or not path.startswith(BASE):
            continue
        resource, parent = table[about["resource"]], about.get("parent")
        if about["action"] == "list" or resource.kind == "singleton":
            yield "/".join([*([kind_of(table[parent])] if parent else []), kind_of(resource)]), _place(path, resource, parent)


def _place(path: str, resource: Resource, parent: str | None) -> str:
    place = re.sub(r"\{\w+\}", "{}", path.removeprefix(BASE))
    is_asked = parent and resource.parent_parameter and "{}" not in place and resources()[parent].kind != "singleton"
    return f"{place}?{resource.parent_parameter}={{}}" if is_asked else place


def _dictionary(name: str, values: Mapping[str, str]) -> str:
    return f"{name} = {{\n" + "".join(f'    "{key}": "{value}",\n' for key, value in values.items()) + "}\n"


def _names(name: str, found: Iterable[Resource]) -> str:
    return _tuple(name, [kind_of(resource) for resource in found])


def _tuple(name: str, values: Iterable[str]) -> str:
    return f"{name} = (\n" + "".join(f'    "{value}",\n' for value in values) + ")\n"
