"""Normalize a JSON body according to its schema: check types, and drop unknown members and values that mean "absent".

Like the Data Plane API, it drops `null`, unknown members and empty optional values, because clients send them freely. Empty values are
`""`, `[]`, `{}`, 0 and false. A schema can declare that 0 and false are not empty (`Member.is_absent`). A member name may differ from the
declared name in case. A name from an older version of the API is reported, because otherwise its value would be lost silently.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from haproxy_native.grammar.schema import name_of

ABSENT: Any = object()
_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,)}
_TYPE_NAMES = {
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "an array",
    dict: "an object",
    type(None): "null",
}
_EXPECTED_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
}
_UNITS = {"ms": "milliseconds", "s": "seconds", "k": "kilobytes"}
_FEW = 10
_INT64 = 1 << 63
_LINE_BREAKS = str.maketrans("", "", "\r\n")


@dataclass
class NormalizedBody:
    """A normalized body, and the messages about what is wrong with it."""

    # The body as sent, and the normalized body.
    sent: Any = None
    value: Any = None
    # Messages about values of a wrong type, members under a former name, texts that no line of a file can contain, and too long texts.
    mistyped: list[str] = field(default_factory=list)
    misnamed: list[str] = field(default_factory=list)
    unwritable: list[str] = field(default_factory=list)
    oversized: list[str] = field(default_factory=list)
    # For each object with unknown members, by its path in the body: the unknown names, and the names that its schema declares.
    unknown: dict[str, set[str]] = field(default_factory=dict)
    known: dict[str, Collection[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object, as the schema of the object declares it."""

    # The position among the members.
    position: int
    # The resolved schema of the member's value, and its type.
    schema: Mapping[str, Any]
    kind: str
    # If the member is nullable, 0 and false do not mean "absent". If it is required, false does not.
    nullable: bool
    required: bool
    # Names in older versions of the API.
    former_names: tuple[str, ...]

    def is_absent(self, value: Any) -> bool:
        """Return whether a value of this member means that the member is absent."""
        if value is ABSENT or value in ("", []):
            return True
        if value == {}:
            return "properties" not in self.schema
        return not value and not isinstance(value, dict) and not self.nullable and not (value is False and self.required)


class ResolvedSchemas:
    """The schemas of the document. On first use of a schema, its references are followed and the parts of its `allOf` are joined.

    `longest` is the most characters that a key may have, and a text without `maxLength`. 0 means no limit.
    """

    def __init__(self, schemas: Mapping[str, Any], longest: int = 0) -> None:
        self._schemas, self._longest = schemas, longest
        self._resolved: dict[str, dict[str, Any]] = {}
        # The members of an object by the `id()` of its schema. The entry also contains the schema, so that no other object can get its id.
        self._objects: dict[int, tuple[Mapping[str, Any], dict[str, Member]]] = {}

    def resolve(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the schema after following a reference, or joining `allOf`, at its top level. Nested schemas are not resolved."""
        if name := name_of(schema):
            if name not in self._resolved:
                self._resolved[name] = self._join_parts(self._schemas[name])
            return self._resolved[name]
        return self._join_parts(schema) if "allOf" in schema else schema

    def _join_parts(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        joined = {key: value for key, value in schema.items() if key != "allOf"}
        if name_of(schema):
            return dict(self.resolve(schema))
        parts = [*map(self.resolve, schema.get("allOf", ())), {"properties": schema.get("properties", {})}]
        members = {name: property_ for part in parts for name, property_ in part.get("properties", {}).items()}
        kinds = [part["type"] for part in parts if "type" in part]
        required = {"required": [name for part in [*parts, joined] for name in part.get("required", ())]}
        return ({"type": kinds[0]} if kinds else {}) | joined | ({"properties": members} if members else {}) | required

    def normalize(self, value: Any, schema: Mapping[str, Any]) -> NormalizedBody:
        """Normalize a body, and collect the messages about its errors."""
        body = NormalizedBody(value)
        body.value = self._normalize(value, self.resolve(schema), self.kind(schema), "", body)
        return body

    def with_declared_names(self, value: Any, schema: Mapping[str, Any]) -> Any:
        """Return the value with its members, at every level, named as in the schema. Drop unknown members, but keep empty values."""
        resolved = self.resolve(schema)
        if not isinstance(value, dict):
            return value
        if "properties" in resolved:
            members = self._members(resolved)
            return {
                name: self.with_declared_names(member_value, members[name].schema)
                for name, member_value in _with_declared_case(value, members).items()
                if name in members
            }
        inner = resolved.get("additionalProperties")
        if not isinstance(inner, Mapping):
            return value
        return {key: self.with_declared_names(element, inner) for key, element in value.items()}

    def _members(self, schema: Mapping[str, Any]) -> dict[str, Member]:
        if id(schema) not in self._objects:
            required, members = schema.get("required", ()), {}
            for position, (name, inner) in enumerate(schema["properties"].items()):
                resolved = self.resolve(inner)
                nullable = bool(inner.get("nullable", resolved.get("nullable")))
                former = tuple(inner.get("x-former-names", ()))
                members[name] = Member(position, resolved, self.kind(resolved), nullable, name in required, former)
            self._objects[id(schema)] = schema, members
        return self._objects[id(schema)][1]

    def kind(self, schema: Mapping[str, Any]) -> str:
        """Return the JSON type that a schema declares, or "any" if it declares none."""
        resolved = self.resolve(schema)
        return str(resolved.get("type", "object" if "properties" in resolved or "additionalProperties" in resolved else "any"))

    def at(self, schema: Mapping[str, Any], path: tuple[Any, ...]) -> Iterator[Mapping[str, Any]]:
        """Yield the resolved schema of the whole value, and of each value along a path of members, keys and positions."""
        yield (resolved := self.resolve(schema))
        for step in path:
            inner = resolved.get("properties", {}).get(step) or resolved.get("items") or resolved.get("additionalProperties")
            resolved = self.resolve(inner) if isinstance(inner, Mapping) else {}
            yield resolved

    def _normalize(self, value: Any, schema: Mapping[str, Any], kind: str, path: str, body: NormalizedBody) -> Any:
        """Return the normalized value at a path, or ABSENT. Add messages about it to `body`."""
        if value is None or kind == "any":
            return ABSENT if value is None else value
        if isinstance(value, str) and self._is_too_long(value, schema, path, body):
            return ABSENT
        if kind in _TYPES:
            return _normalize_scalar(value, kind, schema, path, body)
        if kind == "array" and isinstance(value, list):
            items = self.resolve(schema.get("items", {}))
            inner = self.kind(items)
            elements = [self._normalize(each, items, inner, _below(path, str(index)), body) for index, each in enumerate(value)]
            return [{} if element is ABSENT else element for element in elements if element is not ABSENT or inner == "object"]
        if kind != "array" and isinstance(value, dict):
            if "properties" in schema:
                return self._normalize_object(value, schema, path, body)
            return self._normalize_map(value, schema, path, body)
        return _report_type(value, kind, schema, path, body)

    def _is_too_long(self, text: str, schema: Mapping[str, Any], path: str, body: NormalizedBody) -> bool:
        longest = schema.get("maxLength", self._longest)
        if not longest or len(text) <= longest:
            return False
        body.oversized.append(f"{path} in body should be at most {longest} chars long")
        return True

    def _normalize_object(self, value: dict[str, Any], schema: Mapping[str, Any], path: str, body: NormalizedBody) -> Any:
        members = self._members(schema)
        sent_value = value if value.keys() <= members.keys() else _with_declared_case(value, members)
        normalized = {}
        for name in sorted(sent_value.keys() & members.keys(), key=lambda name: members[name].position):
            member = members[name]
            element = self._normalize(sent_value[name], member.schema, member.kind, _below(path, name), body)
            if not member.is_absent(element):
                normalized[name] = element
        if unknown := sent_value.keys() - members.keys():
            body.unknown[path], body.known[path] = unknown, members
        for name in sorted(name for name in unknown if sent_value[name]):
            # The member may be sent under a former name, or with dashes for underscores.
            spelling = name.replace("-", "_")
            current = (known for known, member in members.items() if known.replace("-", "_") == spelling or name in member.former_names)
            meant = next(current, None)
            if meant and meant not in normalized:
                body.misnamed.append(f'{_below(path, name)} in body is not known; did you mean "{meant}"?')
        return normalized

    def _normalize_map(self, value: dict[str, Any], schema: Mapping[str, Any], path: str, body: NormalizedBody) -> Any:
        inner = schema.get("additionalProperties")
        if not isinstance(inner, Mapping) or not (inner := self.resolve(inner)).keys() & {
            "properties",
            "additionalProperties",
            "type",
            "items",
        }:
            return value
        if self.kind(inner) == "object" and "properties" not in inner:
            return value
        kind, where = self.kind(inner), f"a key of {path}"
        keys = [key for key in value if not self._is_too_long(key, {}, where, body)]
        normalized = {key: self._normalize(value[key], inner, kind, _below(path, key), body) for key in keys}
        return {key: element for key, element in normalized.items() if element is not ABSENT}


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _with_declared_case(value: Mapping[str, Any], members: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object in which members that differ from a declared name only in case have the declared name.

    A member is not renamed if the object contains the declared name as well.
    """
    by_lower_case = {name.lower(): name for name in members}
    result = {}
    for name, member_value in value.items():
        declared = name if name in members else by_lower_case.get(name.lower(), name)
        result[name if declared in value else declared] = member_value
    return result


def _report_type(value: Any, kind: str, schema: Mapping[str, Any], path: str, body: NormalizedBody) -> Any:
    """Add the message about a wrong type, with the unit of a number or the words of a short enum. Return ABSENT."""
    words = [str(choice) for choice in schema.get("enum", ())]
    expected = _EXPECTED_TYPES[kind]
    if schema.get("x-duration") or schema.get("x-default-unit"):
        expected += f" of {_UNITS.get(schema.get('x-default-unit', 'ms'), 'milliseconds')}"
    elif schema.get("x-size"):
        expected += " of bytes"
    elif 0 < len(words) <= _FEW:
        expected += f" ({' or '.join(words)})"
    where = f"{path} in body" if path else "value"
    body.mistyped.append(f"{where} must be {expected}, not {_TYPE_NAMES.get(type(value), 'that')}")
    return ABSENT


def _normalize_scalar(value: Any, kind: str, schema: Mapping[str, Any], path: str, body: NormalizedBody) -> Any:
    if schema.get("x-seconds") and isinstance(value, int | float) and not isinstance(value, bool):
        # A number without a unit is in seconds, which a text without a unit is as well.
        value = str(value)
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return _report_type(value, kind, schema, path, body)
    if isinstance(value, int) and kind == "integer" and not -_INT64 <= value < _INT64:
        body.mistyped.append(f"{path} in body must be an integer of 64 bits")
        return ABSENT
    escaped = schema.get("x-haproxy", {}).get("escaped") or schema.get("x-lines")
    if isinstance(value, str) and (reason := unwritable(value.translate(_LINE_BREAKS) if escaped else value)):
        body.unwritable.append(f"{path} in body must not contain {reason}")
    return value


def unwritable(text: str) -> str | None:
    """Name the character of a text that a line of a file cannot contain. Return None if a line can contain the whole text."""
    if "\0" in text:
        return "a NUL character"
    if "\n" in text or "\r" in text:
        return "a line break"
    if not text.isascii() and any("\ud800" <= sign <= "\udc7f" or "\udd00" <= sign <= "\udfff" for sign in text):
        return "an unpaired surrogate"
    return None
