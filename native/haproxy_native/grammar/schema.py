"""Access to the schemas of the bundle: references and `allOf` resolved, notes (`x-haproxy`) beside them."""

from collections.abc import Mapping
from typing import Any

from haproxy_native.grammar.reference import KEY, name_of

Schema = Mapping[str, Any]
Order = Mapping[str, Any]
"""The members of an object in the order of its schema, each with the order of what it holds; empty where that has no members."""


class Schemas:
    """All schemas of one OpenAPI document, by name."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.by_name: Mapping[str, Schema] = document["components"]["schemas"]
        self._flat: dict[str, dict[str, Schema]] = {}

    def resolve(self, schema: Schema) -> Schema:
        """The schema behind a reference; a note beside the reference wins over the target's."""
        while name := name_of(schema):
            schema = {**self.by_name[name], **{key: value for key, value in schema.items() if key != KEY}}
        return schema

    def named(self, name: str) -> Schema:
        return self.resolve(self.by_name[name])

    def properties(self, schema: Schema) -> dict[str, Schema]:
        """All properties in order, those of `allOf` parts included, each with its reference resolved."""
        schema = self.resolve(schema)
        by_name: dict[str, Schema] = {}
        for part in schema.get("allOf", ()):
            by_name |= self.properties(part)
        for name, own in schema.get("properties", {}).items():
            by_name[name] = self.resolve(own)
        return by_name

    def order(self, schema: Schema) -> Order:
        """The order of an object's members, or of those of a list's elements."""
        inner = schema.get("items") if schema.get("type") == "array" else schema
        return {name: self.order(property_) for name, property_ in self.properties(inner).items()} if inner else {}

    def note(self, schema: Schema) -> dict[str, Any]:
        """The `x-haproxy` note of a schema; parts of `allOf` contribute what it does not say itself."""
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
    """The word or words that stand for a property in the file."""
    return str(note.get("keyword", name.replace("_", "-")))


def is_switch(schema: Schema) -> bool:
    """Whether a property is a pair of words, one for enabled and one for disabled."""
    return schema.get("type") == "string" and set(schema.get("enum", ())) in ({"enabled", "disabled"}, {"enabled"}, {"disabled"})


def stands_alone(schema: Schema, note: Mapping[str, Any]) -> bool:
    """Whether a property is given by the presence of its word, without a value behind it."""
    return not note.get("values") and (schema.get("type") == "boolean" or is_switch(schema))


def arranged(value: Any, order: Order) -> Any:
    """An object, or a list of them, with its members in order, and so inside; members that the order lacks come last."""
    if isinstance(value, list):
        return [arranged(element, order) for element in value]
    if not order or not isinstance(value, dict):
        return value
    known = {name: arranged(value[name], inner) for name, inner in order.items() if name in value}
    return known if len(known) == len(value) else {**known, **value, **known}
