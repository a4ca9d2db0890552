"""Read the schemas of an OpenAPI document, with references and `allOf` resolved, and their notes (`x-haproxy`)."""

from collections.abc import Mapping
from typing import Any

KEY = "$ref"
Node = Mapping[str, Any]


def followed(document: Node, node: Node) -> Node:
    """Follow references from a node, and return the first node that is no reference. Raises KeyError if a target is missing."""
    while KEY in node:
        node = target(document, node[KEY])
    return node


def target(document: Node, reference: str) -> Any:
    """Return the target of a reference such as `#/components/schemas/server`. Raises KeyError."""
    node: Any = document
    for part in reference.removeprefix("#/").split("/"):
        if not isinstance(node, Mapping):
            raise KeyError(reference)
        node = node[part]
    return node


def name_of(node: Node) -> str | None:
    """Return the name of the component that a node refers to; None if the node is no reference."""
    reference: str | None = node.get(KEY)
    return reference.rpartition("/")[2] if reference else None


Schema = Mapping[str, Any]
# The members of an object in the order of its schema, each with the order of its own members; empty if it has none.
Order = Mapping[str, Any]


class Schemas:
    """All schemas of one OpenAPI document, by name."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.by_name: Mapping[str, Schema] = document["components"]["schemas"]
        # A cache of the properties of named schemas, by the id() of the schema. Named schemas live as long as this object.
        self._properties: dict[int, Mapping[str, Schema] | None] = {id(schema): None for schema in self.by_name.values()}

    def resolve(self, schema: Schema) -> Schema:
        """Return the target of a schema that is a reference, and any other schema unchanged.

        Keys next to the reference replace those of the target.
        """
        while name := name_of(schema):
            notes = {key: value for key, value in schema.items() if key != KEY}
            schema = {**self.by_name[name], **notes} if notes else self.by_name[name]
        return schema

    def named(self, name: str) -> Schema:
        return self.resolve(self.by_name[name])

    def properties(self, schema: Schema) -> Mapping[str, Schema]:
        """Return the properties of a schema by name, with references resolved: first those of its `allOf` parts, then its own."""
        schema = self.resolve(schema)
        if cached := self._properties.get(id(schema)):
            return cached
        by_name: dict[str, Schema] = {}
        for part in schema.get("allOf", ()):
            by_name |= self.properties(part)
        for name, own in schema.get("properties", {}).items():
            by_name[name] = self.resolve(own)
        if id(schema) in self._properties:
            self._properties[id(schema)] = by_name
        return by_name

    def order(self, schema: Schema) -> Order:
        """Return the order of the members of an object. For a list, return the order of the members of its elements."""
        inner = schema.get("items") if schema.get("type") == "array" else schema
        return {name: self.order(property_) for name, property_ in self.properties(inner).items()} if inner else {}

    def note(self, schema: Schema) -> dict[str, Any]:
        """Return the `x-haproxy` note of a schema, merged with the notes of its `allOf` parts. The own note takes precedence."""
        schema = self.resolve(schema)
        merged: dict[str, Any] = {}
        for part in schema.get("allOf", ()):
            merged |= self.note(part)
        return {**merged, **schema.get("x-haproxy", {})}

    def required(self, schema: Schema) -> list[str]:
        schema = self.resolve(schema)
        inherited = [name for part in schema.get("allOf", ()) for name in self.required(part)]
        return inherited + list(schema.get("required", ()))


def keyword_of(name: str, note: Mapping[str, Any]) -> str:
    """Return the keyword of a property, which may be several words: that of its note, or else its name with dashes."""
    return str(note.get("keyword", name.replace("_", "-")))


def is_switch(schema: Schema) -> bool:
    """Return whether a property is a switch, which has no other values than `enabled` and `disabled`."""
    return schema.get("type") == "string" and set(schema.get("enum", ())) in ({"enabled", "disabled"}, {"enabled"}, {"disabled"})


def has_no_value(schema: Schema, note: Mapping[str, Any]) -> bool:
    """Return whether a property is written as its keyword alone, without a value after it."""
    return not note.get("values") and (schema.get("type") == "boolean" or is_switch(schema))


def arrange(value: Any, order: Order) -> Any:
    """Return an object, or a list of objects, with the members in the order of the schema, and unknown members last."""
    if isinstance(value, list):
        return [arrange(element, order) for element in value]
    if not order or not isinstance(value, dict):
        return value
    known = {name: arrange(value[name], inner) for name, inner in order.items() if name in value}
    return known if len(known) == len(value) else {**known, **value, **known}
