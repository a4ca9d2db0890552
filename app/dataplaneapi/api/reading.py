"""What of an answer a caller may read: one object, the rows of a list that are objects, or what names its objects.

An operation of `/services` shows one object, or a list of which each row is one: `rows` in its x-operation is the name of a row, from its
members and the parameters. One of `/sidecar` names objects in members `object` and `objects` (OBJECTS). The counters of HAProxy (COUNTERS)
are of proxies and servers. All else shows of everything.
"""

from collections.abc import Mapping
from typing import Any

from dataplaneapi.api.asked import object_in
from dataplaneapi.api.call import Call
from dataplaneapi.api.operations import COUNTERS, EFFECTS, OBJECTS, READING, SECTION, Operation
from dataplaneapi.api.place import place_of
from haproxy_native.access.rights import ALL, READ, Rights
from haproxy_native.editing.object_names import encoded, spelled
from haproxy_native.editing.places import Place, name_of, object_section, section_object
from haproxy_native.errors import Forbidden

# Members of answers with OBJECTS that are of no one object.
_TEXTS = frozenset(("diff", "commands", "reasons", "messages", "notes", "response", "refused"))
# Members with objects that the caller has named itself, without what these are.
_NAMED_BY_CALLER = frozenset(("conflicts", "taken"))


def asked_for(operation: Operation, call: Call) -> str:
    """The object that is to be read; empty where some of the answer may be, ALL for what shows of everything. Raises BadRequest."""
    if operation.rows:
        return ""
    if operation.access == SECTION:
        editor = call.services.editor
        return section_object(editor, *object_section(editor, call.get("object"))) if call.get("object") else ALL
    if operation.access not in ("", EFFECTS, READING):
        return named(operation.access, call.values)
    if not _is_of_configuration(call):
        file = call.services.editor.resources.by_name[operation.resource].file if operation.resource else ""
        return spelled(file, call.values["parent_name"]) if file else ALL
    if operation.action == "list":
        resource, parent, _ = place_of(operation, call.values, call.services.editor, one=False)
        # One by position is whole or refused, whether there is anything in it or not.
        return name_of(Place(resource, parent, 0)) if resource.kind == "indexed" else ""
    resource, parent, key = place_of(operation, call.values, call.services.editor, one=True)
    return name_of(Place(resource, parent, "" if key is None else key))


def changed_by(operation: Operation, call: Call) -> str:
    """Return the object that a call is to change, or in which it is to change something; empty where its effects are elsewhere."""
    resource = call.services.editor.resources.by_name.get(operation.resource or "")
    if resource and resource.file:
        return spelled(resource.file, call.values["parent_name"])
    object_ = object_in(call).rstrip("/")
    is_own = operation.store or (resource and resource.kind != "view") or object_.startswith("spoe/")
    return object_ if is_own else ""


def listed_in(operation: Operation, call: Call) -> str:
    """The object in which the rows of a list stand; empty where they stand in none."""
    if operation.rows:
        above, _, _ = operation.rows.rpartition("/")[0].rpartition("/")
        return named(above, call.values) if "{" in above else ""
    if operation.action != "list" or not _is_of_configuration(call):
        return ""
    _, parent, _ = place_of(operation, call.values, call.services.editor, one=False)
    return name_of(Place(parent[0], None, parent[1])) if parent else ""


def shown(call: Call, rights: Rights, answer: Any) -> Any:
    """What of a JSON answer the caller may read. Raises Forbidden where a list by position would miss a row, or nothing is left."""
    if call.operation.rows == OBJECTS:
        return _with_objects(rights, answer)
    if call.operation.rows == COUNTERS:
        return {**answer, "stats": [row for row in answer.get("stats", ()) if rights.may(READ, _counted(row))]}
    if not isinstance(answer, list):
        return answer
    if call.operation.rows:
        return [row for row in answer if rights.may(READ, named(call.operation.rows, {**call.values, **row}))]
    if not _is_of_configuration(call):
        return answer
    resource, parent, _ = place_of(call.operation, call.values, call.services.editor, one=call.operation.is_of_one)
    if resource.kind != "indexed":
        return [row for row in answer if rights.may(READ, name_of(Place(resource, parent, row[resource.key])))]
    for position in range(len(answer)):
        rights.require(READ, name_of(Place(resource, parent, position)))
    return answer


def named(template: str, values: Mapping[str, Any]) -> str:
    """An object by a template of its name; what has no value is empty."""
    return template.format_map(_Names({name: encoded(value) for name, value in values.items() if isinstance(value, str | int)}))


class _Names(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return ""


def _counted(row: Mapping[str, Any]) -> str:
    proxy, name = row.get("backend_name", ""), row.get("name", "")
    return spelled("backend", proxy, "server", name) if row.get("type") == "server" else spelled(row.get("type", ""), name)


def _is_of_configuration(call: Call) -> bool:
    resource = call.services.editor.resources.by_name.get(call.operation.resource or "")
    return resource is not None and resource.kind != "view" and not resource.file


def _with_objects(rights: Rights, answer: Any) -> Any:
    """Raises Forbidden for an answer that is of one object, or of several of which none may be read."""
    if isinstance(answer, Mapping):
        left = _left(rights, answer)
        if left is None:
            raise Forbidden(rights.refusal(READ, answer.get("object", ALL)))
        return left
    return [left for row in answer if (left := _left(rights, row)) is not None]


def _left(rights: Rights, value: Any) -> Any:
    """What may be read of a value; None for an object of which nothing may be."""
    if isinstance(value, list):
        return [left for element in value if (left := _left(rights, element)) is not None]
    if not isinstance(value, Mapping):
        return value
    if "object" in value and not rights.may(READ, value["object"]):
        return None
    objects = value.get("objects")
    readable = [name for name in objects or () if rights.may(READ, name)]
    if objects is not None and not readable:
        return None
    members = {
        name: member_value if name in _NAMED_BY_CALLER else _left(rights, member_value)
        for name, member_value in value.items()
        if name not in _TEXTS
    }
    return members if objects is None else {**members, "objects": readable}
