"""Derive schemas that have members of another one, so that a keyword is declared once.

runtime_add_server:
  members_of: server
  properties:
    weight: {}                        as the server's, without notes of the file's language
    port: {readOnly: true}            with this as well
    name: {pattern: null}             without that
"""

from collections.abc import Mapping
from typing import Any

from haproxy_native.grammar.schema import name_of

SOURCE = "members_of"
# What a declaration says about lines of the file, and about older names, holds where the lines are.
OF_THE_FILE = ("x-haproxy", "x-former-names")
Schemas = Mapping[str, Mapping[str, Any]]


class Unknown(Exception):
    """A member, or a schema, that the source has not."""


def derived(name: str, schemas: Schemas) -> dict[str, Any]:
    """The schema of that name with its members made of those of its source, in its own order; others as they are. Raises Unknown."""
    schema = dict(schemas[name])
    if (source := schema.pop(SOURCE, None)) is None:
        return schema
    if source not in schemas:
        raise Unknown(f"{name}: there is no schema {source}")
    known = members(source, schemas)
    properties = {}
    for member, difference in schema["properties"].items():
        if member not in known:
            raise Unknown(f"{name}: {source} has no member {member}")
        properties[member] = _changed(known[member], difference)
    return schema | {"properties": properties}


def members(name: str, schemas: Schemas) -> dict[str, Mapping[str, Any]]:
    """The members of a schema, those of its `allOf` parts included."""
    return _members(schemas[name], schemas)


def _members(schema: Mapping[str, Any], schemas: Schemas) -> dict[str, Mapping[str, Any]]:
    inherited: dict[str, Mapping[str, Any]] = {}
    for part in schema.get("allOf", ()):
        inherited |= members(name, schemas) if (name := name_of(part)) else _members(part, schemas)
    return inherited | schema.get("properties", {})


def _changed(declared: Mapping[str, Any], difference: Mapping[str, Any]) -> dict[str, Any]:
    """A declaration without what the difference has null for, and with the rest of it."""
    both = {key: value for key, value in declared.items() if key not in OF_THE_FILE} | difference
    return {key: value for key, value in both.items() if value is not None}
