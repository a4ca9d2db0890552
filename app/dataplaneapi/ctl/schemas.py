"""The types of objects' members in the OpenAPI document, which convert a text on the command line to a value."""

import json
import re
from argparse import ArgumentTypeError
from typing import Any

from dataplaneapi.ctl.client import Client
from dataplaneapi.ctl.kinds import COLLECTIONS, SINGLE
from dataplaneapi.ctl.objects import CONFIGURATION, Object

DOCUMENT = "/v3/specification_openapiv3"
_PARAMETER = re.compile(r"\{[^}]*\}")
# Units of time in a second, and bytes in a unit of size.
_OF_SECOND = {"us": 1e6, "ms": 1e3, "s": 1.0}
_SIZES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class Members:
    """The members of one kind of object."""

    def __init__(self, client: Client, asked: Object) -> None:
        document = client.get(DOCUMENT)
        self._schemas: dict[str, Any] = document["components"]["schemas"]
        collection = COLLECTIONS[asked.kind].partition("?")[0]
        wanted = f"{CONFIGURATION.removeprefix('/v3')}/{collection}{'' if asked.kind in SINGLE else '/{}'}"
        item: dict[str, Any] = next((item for path, item in document["paths"].items() if _PARAMETER.sub("{}", path) == wanted), {})
        self._schema = item.get("put", {}).get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})

    def value(self, path: list[str], text: str) -> Any:
        """Convert a text to the type of a member: None for an empty text, the text itself if it is not of that type."""
        return self._value(text, self._at(path))

    def names(self, path: list[str]) -> list[str]:
        """Return the names of the members below `path`, for completion: each ends in `.` if it has members itself, otherwise in `=`."""
        found = self._properties(self._at(path))
        return [f"{name}{'.' if self._properties(schema) else '='}" for name, schema in found.items() if name != "name"]

    def choices(self, path: list[str]) -> list[str]:
        """Return the values that a member may have, for completion; empty if it may have any value."""
        schema = self._at(path)
        return ["true", "false"] if schema.get("type") == "boolean" else [str(value) for value in schema.get("enum", ())]

    def _at(self, path: list[str]) -> dict[str, Any]:
        schema = self._resolved(self._schema)
        for name in path:
            schema = self._resolved(self._properties(schema).get(name, {}))
        return schema

    def _value(self, text: str, schema: dict[str, Any]) -> Any:
        if not text:
            return None
        if schema.get("type") == "string":
            return text
        if schema.get("type") == "array" and not text.startswith("["):
            items = self._resolved(schema.get("items", {}))
            return [self._value(part, items) for part in text.split(",")]
        if schema.get("type") in ("integer", "number") and (number := _measured(text, schema)) is not None:
            return number
        try:
            return json.loads(text)
        except ValueError:
            return text

    def _properties(self, schema: dict[str, Any]) -> dict[str, Any]:
        schema = self._resolved(schema)
        found = dict(schema.get("properties", {}))
        for part in schema.get("allOf", ()):
            found |= self._properties(part)
        return found

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            schema = self._schemas[schema["$ref"].rpartition("/")[2]]
        return schema


def _measured(text: str, schema: dict[str, Any]) -> int | None:
    """Return the number in the member's unit for a time such as 30s or a size such as 16k; None for other texts and other members."""
    from dataplaneapi.ctl.session import duration

    if schema.get("x-duration") and not text.isdecimal():
        try:
            return round(duration(text) * _OF_SECOND[schema.get("x-default-unit", "ms")])
        except ArgumentTypeError:
            return None
    if schema.get("x-size") and "x-default-unit" not in schema and text[:-1].isdecimal() and text[-1].lower() in _SIZES:
        return int(text[:-1]) * _SIZES[text[-1].lower()]
    return None
