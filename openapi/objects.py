"""Generate native/haproxy_native/objects/sections.pyi: the types of a configuration's sections.

At run time the classes are made when they are first used; the stub is for type checkers and editors.
"""

from collections.abc import Iterator, Mapping
from typing import Any

HEAD = "# Generated from openapi/ by `make generate`; do not edit."


def stub(document: Mapping[str, Any]) -> str:
    table, schemas = document["x-resources"], document["components"]["schemas"]
    sections = {name: row for name, row in table.items() if row["kind"] in ("section", "singleton") and not row.get("file")}
    used = {row["schema"] for row in table.values() if row["kind"] in ("named", "indexed")}
    owned = {_own(row["schema"], schemas) for row in sections.values()}
    lines = [HEAD, ""]
    lines += [f"from haproxy_native.models.{_module(name)} import {_model(name)} as {_model(name)}Model" for name in sorted(used | owned)]
    lines += ["from haproxy_native.objects.bound import Bound", "from haproxy_native.objects.collections import Named, Rows"]
    for model in sorted(used):
        lines += ["", f"class {_model(model)}(Bound, {_model(model)}Model): ..."]
    for name, row in sections.items():
        lines += ["", *_section(name, row, table, schemas)]
    lines += ["", "class Sections:"]
    for name, row in sections.items():
        lines += _attribute("global_" if name == "global" else name, _held(row))
    return "\n".join(lines) + "\n"


def _section(name: str, row: Mapping[str, Any], table: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    own = _model(_own(row["schema"], schemas))
    children = [(child, row) for child, row in table.items() if name in row.get("parents", ()) and row["kind"] in ("named", "indexed")]
    yield f"class {_model(row['schema'])}(Bound, {own}Model):" + ("" if children else " ...") + ""
    for child, declared in children:
        yield from _attribute(child, f"{'Named' if declared['kind'] == 'named' else 'Rows'}[{_model(declared['schema'])}]")


def _attribute(name: str, type_: str) -> list[str]:
    """A property: collections are not assigned, and are no arguments of the classes that have them."""
    return ["    @property", f"    def {name}(self) -> {type_}: ..."]


def _held(row: Mapping[str, Any]) -> str:
    return _model(row["schema"]) if row["kind"] == "singleton" else f"Named[{_model(row['schema'])}]"


def _own(schema: str, schemas: Mapping[str, Any]) -> str:
    """The schema without the members that hold children."""
    return f"{schema}_base" if f"{schema}_base" in schemas else schema


def _module(schema: str) -> str:
    return schema.lower()


def _model(schema: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in schema.split("_"))
