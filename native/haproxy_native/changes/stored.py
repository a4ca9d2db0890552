"""Operations as JSON, for transactions that survive a restart. Pure.

An operation on an object is its name, its place and what it states. Any other, such as that of a split, is known by what it has done to
the text (`ChangeText`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from haproxy_native.changes.operations import ChangeText, Create, Delete, Edit, Patch, Replace, ReplaceAll, claimed_by_all
from haproxy_native.editing import patches
from haproxy_native.editing.object_names import Place
from haproxy_native.editing.resources import resources
from haproxy_native.planning.observed import Claim

Row = Mapping[str, Any]
_READERS: Mapping[str, Callable[[Place, Row], Edit]] = {
    "create": lambda place, row: Create(place, row["body"], row["full"]),
    "replace": lambda place, row: Replace(place, row["body"], row["full"]),
    "patch": lambda place, row: Patch(place, row["body"], row["full"]),
    "delete": lambda place, row: Delete(place),
    "replace_all": lambda place, row: ReplaceAll(place, row["body"]),
}


def storable(operations: Sequence[Edit], patch: patches.Patch) -> Sequence[Edit]:
    """Return operations that can be stored: these, if all are on objects, else what they have done to the text together."""
    if operations and all(map(_stated, operations)):
        return operations
    return [ChangeText(patch, claimed_by_all(operations))]


def as_row(operation: Edit) -> Row:
    """Return an operation as JSON. The patch of a ChangeText stands beside it."""
    if (stated := _stated(operation)) is None:
        return {"claimed": list(claimed_by_all([operation]))}
    name, place, body, full = stated
    parent = [place.parent[0].name, place.parent[1]] if place.parent else None
    return {"do": name, "of": place.resource.name, "in": parent, "key": place.key, "body": body, "full": full}


def as_operation(row: Row, patch: patches.Patch) -> Edit:
    """Return the operation of a row; of one that is not known any more what it has done to the text. Raises TypeError and KeyError."""
    table, parent = resources().by_name, row.get("in")
    if row.get("do") in _READERS and row["of"] in table and (parent is None or parent[0] in table):
        place = Place(table[row["of"]], (table[parent[0]], str(parent[1])) if parent else None, row["key"])
        return _READERS[row["do"]](place, row)
    return ChangeText(patch, frozenset(Claim(*claim) for claim in row.get("claimed", ())))


def _stated(operation: Edit) -> tuple[str, Place, Any, bool] | None:
    """Return the name of an operation on an object, its place, what it states, and whether of all that stands in it; None for others."""
    match operation:
        case Create():
            return "create", operation.place, operation.body, operation.full
        case Replace():
            return "replace", operation.place, operation.body, operation.full
        case Patch():
            return "patch", operation.place, operation.members, operation.full
        case Delete():
            return "delete", operation.place, None, False
        case ReplaceAll():
            return "replace_all", operation.place, operation.bodies, False
    return None
