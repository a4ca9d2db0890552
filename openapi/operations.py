"""Expand the table of resources into the operations of the document.

A resource is reached below its section (`{base}/backends/{parent_name}/servers`), or directly where it has no parent or
names it in the query. Its kind decides the verbs; what departs from that stands in the table.
"""

from collections.abc import Iterator
from typing import Any

BASE = "/services/haproxy/configuration"
VERBS = {
    "section": ("list", "create", "get", "replace", "delete"),
    "view": ("list", "create", "get", "replace", "delete"),
    "named": ("list", "create", "get", "replace", "delete"),
    "indexed": ("list", "replace_all", "create", "get", "replace", "delete"),
    "singleton": ("get", "replace"),
}
METHODS = {
    "list": "get",
    "append": "post",
    "create": "post",
    "get": "get",
    "replace": "put",
    "patch": "patch",
    "delete": "delete",
    "replace_all": "put",
}
ON_COLLECTION = {"list", "replace_all", "append"}
WRITES = {"create", "append", "replace", "patch", "replace_all", "delete"}
# What a PATCH takes; the first is what clients are generated from that know one type of a body.
MERGE_PATCH = ("application/json", "application/merge-patch+json")

Resource = dict[str, Any]
Table = dict[str, Resource]


def expand(table: Table, *, everything: bool = False) -> dict[str, dict[str, Any]]:
    """Paths of all declared resources; of those not declared, too, with `everything`."""
    paths: dict[str, dict[str, Any]] = {}
    for name, resource in table.items():
        if not (everything or resource.get("declared", True)):
            continue
        for parent in resource.get("parents", [None]):
            for path, method, operation in _operations(table, name, parent):
                paths.setdefault(path, {})[method] = operation
    return paths


def _operations(table: Table, name: str, parent: str | None) -> Iterator[tuple[str, str, dict[str, Any]]]:
    resource = table[name]
    for action in _actions(resource):
        yield _path(table, name, parent, action), METHODS[action], _operation(table, name, parent, action)
    if by_put := resource.get("operation_ids", {}).get("create_by_put"):
        operation = _operation(table, name, parent, "create") | {"operationId": by_put, "deprecated": True}
        yield _path(table, name, parent, "create"), "put", operation


def _actions(resource: Resource) -> Iterator[str]:
    """What can be replaced in the configuration can be changed in part, too."""
    for action in resource.get("verbs", VERBS[resource["kind"]]):
        yield action
        if action == "replace" and "file" not in resource:
            yield "patch"


def on_collection(resource: Resource, action: str) -> bool:
    return action in ON_COLLECTION or (action == "create" and resource["kind"] != "indexed")


def _path(table: Table, name: str, parent: str | None, action: str) -> str:
    resource = table[name]
    path: str = resource.get("path", name)
    if parent_in_path(resource):
        above = "" if table[parent or ""]["kind"] == "singleton" else _placeholder(resource.get("parent_parameter", "parent_name"))
        path = f"{parent}{above}/{path}"
    if not path.startswith("/"):
        path = f"{BASE}/{path}"
    if resource["kind"] == "singleton" or on_collection(resource, action):
        return path
    return path + _placeholder(resource["key"])


def _placeholder(name: str) -> str:
    return "/{" + name + "}"


def parent_in_path(resource: Resource) -> bool:
    return bool(resource.get("parents")) and ("parent_parameter" not in resource or resource.get("parent_in") == "path")


def _operation(table: Table, name: str, parent: str | None, action: str) -> dict[str, Any]:
    resource = table[name]
    operation = {
        "operationId": _operation_id(table, name, parent, action),
        "tags": [tag(resource)],
        **_texts(table, name, parent, action),
        "x-operation": {"resource": name} | ({"parent": parent} if parent else {}) | {"action": action},
        "parameters": _parameters(table, name, parent, action),
        "responses": _responses(resource, action),
    }
    if action in WRITES - {"delete"}:
        operation["requestBody"] = {"required": True, "content": _body(resource, action)}
    if resource.get("parent_in") == "path" and not on_collection(resource, action):
        operation["x-swagger"] = {"parameters": [resource["key"], resource["parent_parameter"]]}
    return operation


def _operation_id(table: Table, name: str, parent: str | None, action: str) -> str:
    resource = table[name]
    if fixed := resource.get("operation_ids", {}).get(action):
        return str(fixed)
    word = resource["operation"]
    several = len([parent_ for parent_ in resource.get("parents", ()) if parent_ == parent or not table[parent_].get("addition")]) > 1
    suffix = table[parent].get("suffix", table[parent]["operation"]) if several and parent else ""
    many = f"All{word}" if several else resource.get("operations", word + "s")
    verb = {"list": "get", "replace_all": "replace", "append": "create"}.get(action, action)
    return f"{verb}{many if action in ('list', 'replace_all') else word}{suffix}"


def _parameters(table: Table, name: str, parent: str | None, action: str) -> list[dict[str, Any]]:
    resource = table[name]
    names = ["transaction_id"]
    if action in WRITES:
        names += ["version"] if "file" in resource else ["version", "force_reload"]
    if resource.get("full_section") and action != "delete" and (resource["kind"], action) != ("singleton", "create"):
        names.append("full_section")
    before = resource.get("parameters", {}).get(action, []) if action == "list" else []
    after = resource.get("parameters", {}).get(action, []) if action != "list" else []
    return _address(table, name, parent, action) + [_shared(word) for word in (*before, *names, *after)]


def _address(table: Table, name: str, parent: str | None, action: str) -> list[dict[str, Any]]:
    """The parameters that say which element: its key stands before its parent, since positional arguments of clients do."""
    resource, key, above = table[name], [], []
    owner = resource.get("parent_parameter", "parent_name")
    if resource["kind"] != "singleton" and not on_collection(resource, action):
        key = [_shared("index") if resource["key"] == "index" else _named(resource["key"], "path", resource)]
    if "file" in resource:
        above = [_shared("parent_name"), _shared("scope_name")]
    elif parent_in_path(resource):
        if table[parent or ""]["kind"] != "singleton":
            above = [_shared("parent_name") if owner == "parent_name" else _named(owner, "path", table[parent or ""])]
    elif resource.get("parents"):
        above = [_named(owner, "query", table[parent or ""])]
    return above + key if _parent_first(resource) else key + above


def _parent_first(resource: Resource) -> bool:
    return "file" in resource or resource.get("parent_in") == "path"


def _shared(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/parameters/{name}"}


def _named(name: str, place: str, resource: Resource) -> dict[str, Any]:
    return {"name": name, "in": place, "required": True, "description": f"Name of the {resource['noun']}.", "schema": {"type": "string"}}


def _body(resource: Resource, action: str) -> dict[str, Any]:
    if action == "patch":
        about = f"Members of the {resource['noun']} and their new values; null removes a member, lists are replaced whole."
        return {kind: {"schema": {"type": "object", "description": about}} for kind in MERGE_PATCH}
    many = action in ("list", "replace_all")
    schema = resource["list"] if many else resource.get("body", resource["schema"])
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


def _responses(resource: Resource, action: str) -> dict[str, Any]:
    def answer(name: str) -> dict[str, Any]:
        return {"$ref": f"#/components/responses/{name}"}

    if action == "delete":
        scheduled = {} if "file" in resource else {"202": answer("deleted_and_scheduled")}
        return scheduled | {"204": answer("deleted"), "404": answer("not_found")}
    body = {"content": _body(resource, "get" if action == "patch" else action)}
    missing = {} if action in ("list", "replace_all") or not _may_be_missing(resource) else {"404": answer("not_found")}
    if action in ("list", "get"):
        version = {"Configuration-Version": {"$ref": "#/components/headers/Configuration-Version"}}
        return {"200": {"description": "The answer.", "headers": version} | body} | missing
    creates = action in ("create", "append")
    word = "Created" if creates else "Changed" if action == "patch" else "Replaced"
    done = {"201" if creates else "200": {"description": f"{word}."} | body}
    reload_id = {"Reload-ID": {"$ref": "#/components/headers/Reload-ID"}}
    scheduled = {"202": {"description": f"{word}; a reload is scheduled or a transaction holds it.", "headers": reload_id} | body}
    failures = {"400": answer("bad_request")} | ({"409": answer("conflict")} if creates else missing)
    return done | ({} if "file" in resource else scheduled) | failures


def _may_be_missing(resource: Resource) -> bool:
    """A section that every configuration has is never missing: such a singleton cannot be created either."""
    return resource["kind"] != "singleton" or "create" in resource.get("verbs", ())


def tag(resource: Resource) -> str:
    """The group that the operations of a resource stand in: a class or module of its own in generated clients."""
    return str(resource.get("tag", resource["operation"]))


def plural(noun: str) -> str:
    if noun.endswith("y"):
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("ch", "s")) else "s")


def article(noun: str) -> str:
    vowel = noun[0].lower() in "aeio" or noun.startswith(("HTTP ", "HTTP-"))
    return f"{'an' if vowel else 'a'} {noun}"


def _texts(table: Table, name: str, parent: str | None, action: str) -> dict[str, str]:
    resource = table[name]
    noun, single = resource["noun"], resource["kind"] == "singleton"
    owner = table[parent] if parent else None
    above = "" if owner is None else "the " + owner["noun"] if owner["kind"] == "singleton" else article(owner["noun"])
    of, to = (f" of {above}", f" to {above}") if owner else ("", "")
    one, many = (f"the {noun}" if single else f"one {noun}"), plural(noun)
    inside = f"Add {article(noun)}{to}"
    summary = {
        "list": f"List the {many}{of}",
        "get": f"Show {one}{of}",
        "create": inside if owner else f"Create {'the ' + noun if single else article(noun)}",
        "append": inside,
        "replace": f"Replace {one}{of}",
        "patch": f"Change members of {one}{of}",
        "replace_all": f"Replace all {many}{of}",
        "delete": f"Delete {one}{of}",
    }[action]
    return {"summary": summary, "description": f"{summary}{_detail(resource, action)}."}


def _detail(resource: Resource, action: str) -> str:
    details = {
        "list": ", in the order of the file",
        "replace": "; members that are left out are removed",
        "patch": " (RFC 7396); those that are left out stay" + ("" if resource["kind"] == "indexed" else "; needs no version"),
        "replace_all": " by the given ones, in their order",
        "append": ", behind those that are there",
        "create": ", before the one at that place" if resource["kind"] == "indexed" else "",
    }
    return details.get(action, "")
