"""The names and types of objects' members, as the OpenAPI document declares them. A text is converted to a value of the member's type."""

import json
import re
from argparse import ArgumentTypeError
from contextlib import suppress
from typing import Any

from dataplaneapi.ctl.client import Client
from dataplaneapi.ctl.kinds import COLLECTIONS, SINGLE
from dataplaneapi.ctl.objects import CONFIGURATION, Object
from dataplaneapi.ctl.session import duration

DOCUMENT = "/v3/specification_openapiv3"
_PARAMETER = re.compile(r"\{[^}]*\}")
# How many of a unit of time are in a second, and how many bytes in a unit of size.
_PER_SECOND = {"us": 1e6, "ms": 1e3, "s": 1.0}
_SIZES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class Members:
    """The members that objects of a kind may have. `target`: an object of this kind."""

    def __init__(self, client: Client, target: Object) -> None:
        document = client.get(DOCUMENT)
        self._schemas: dict[str, Any] = document["components"]["schemas"]
        collection = COLLECTIONS[target.kind].partition("?")[0]
        template = f"{CONFIGURATION.removeprefix('/v3')}/{collection}{'' if target.kind in SINGLE else '/{}'}"
        item: dict[str, Any] = next((item for path, item in document["paths"].items() if _PARAMETER.sub("{}", path) == template), {})
        self._schema = item.get("put", {}).get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})

    def value(self, path: list[str], text: str) -> Any:
        """Convert a text to the type of the member with this path. Return None for an empty text.

        If the text does not have this type, return the text itself. For a number, the text may be a time such as 30s, or a size such as
        16k.
        """
        return self._value(text, self._schema_at(path))

    def names(self, path: list[str]) -> list[str]:
        """Return the names of the members below `path`, for completion.

        Members that have members themselves end in `.`, and all others in `=`.
        """
        members = self._properties(self._schema_at(path))
        return [f"{name}{'.' if self._properties(schema) else '='}" for name, schema in members.items() if name != "name"]

    def choices(self, path: list[str]) -> list[str]:
        """Return the values that the member at `path` may have, for completion. Empty if the member may have any value."""
        schema = self._schema_at(path)
        return ["true", "false"] if schema.get("type") == "boolean" else [str(value) for value in schema.get("enum", ())]

    def _schema_at(self, path: list[str]) -> dict[str, Any]:
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
        if schema.get("type") in ("integer", "number"):
            unit = schema.get("x-default-unit")
            if schema.get("x-duration") and not text.isdecimal():
                with suppress(ArgumentTypeError):
                    return round(duration(text) * _PER_SECOND[unit or "ms"])
            if schema.get("x-size") and unit is None and text[:-1].isdecimal() and text[-1].lower() in _SIZES:
                return int(text[:-1]) * _SIZES[text[-1].lower()]
        try:
            return json.loads(text)
        except ValueError:
            return text

    def _properties(self, schema: dict[str, Any]) -> dict[str, Any]:
        schema = self._resolved(schema)
        properties = dict(schema.get("properties", {}))
        for part in schema.get("allOf", ()):
            properties |= self._properties(part)
        return properties

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            schema = self._schemas[schema["$ref"].rpartition("/")[2]]
        return schema
