"""Generate the pydantic models in native/haproxy_native/models, one module for each schema.

The generator cannot read `x-haproxy` notes beside a reference, and has no use for operations: it gets the bare schemas. Descriptions are
put into the modules afterwards, with the unit of a time or a size where they do not name it.
"""

import ast
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HEADER = "# Generated from openapi/ by `make generate`; do not edit."
OPTIONS = (
    "--input-file-type=openapi",
    "--openapi-scopes=schemas",
    "--output-model-type=pydantic_v2.BaseModel",
    "--module-split-mode=single",
    "--target-python-version=3.11",
    "--base-class=haproxy_native.models.Model",
    "--enum-field-as-literal=all",
    "--use-annotated",
    "--disable-future-imports",
    "--disable-timestamp",
    "--formatters=builtin",
    f"--custom-file-header={HEADER}",
)
# Nothing but an integer is an integer: neither "5" nor 1.0 nor true.
STRICT = ("--strict-types", "str", "int", "float", "bool")
_SIZES = {"": "bytes", "k": "kilobytes", "m": "megabytes", "g": "gigabytes"}
_INTEGER_CHOICE = re.compile(r"Literal\[\s*-?\d+(?:,\s*-?\d+)*,?\s*\]")


def models(document: dict[str, Any]) -> dict[str, str]:
    """File name -> text of each module."""
    with tempfile.TemporaryDirectory() as place:
        source, made = Path(place, "schemas.json"), Path(place, "models")
        source.write_text(json.dumps(_bare(document)))
        command = [f"{Path(sys.executable).parent}/datamodel-codegen", "--input", str(source), "--output", str(made), *OPTIONS, *STRICT]
        subprocess.run(command, check=True, cwd=place)
        schemas = document["components"]["schemas"]
        return {
            file.name: _described(_strict(file.read_text()), schemas) for file in sorted(made.glob("*.py")) if file.name != "__init__.py"
        }


def _strict(module: str) -> str:
    """With choices among integers that take nothing but integers."""
    text, count = _INTEGER_CHOICE.subn(r"Whole[\g<0>]", module)
    return text.replace("from haproxy_native.models import Model", "from haproxy_native.models import Model, Whole", 1) if count else text


def _bare(document: dict[str, Any]) -> dict[str, Any]:
    schemas = {name: _plain(schema) for name, schema in document["components"]["schemas"].items()}
    return {"openapi": document["openapi"], "info": document["info"], "paths": {}, "components": {"schemas": schemas}}


def _plain(node: Any, *, names: bool = False) -> Any:
    """Without notes and texts; `names` says that the keys are names of properties, not words of JSON Schema."""
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node and isinstance(node["$ref"], str):
        return {"$ref": node["$ref"]}
    return {
        key: _plain(value, names=not names and key == "properties")
        for key, value in node.items()
        if names or not (key.startswith("x-") or key in ("description", "default", "title", "example", "deprecated"))
    }


def _described(module: str, schemas: Mapping[str, Any]) -> str:
    """With the texts of the declaration behind its classes and members: the compiler drops those of members, so they cost nothing."""
    lines = module.splitlines(keepends=True)
    texts = {_class(name): schema for name, schema in schemas.items()}
    for own in [node for node in ast.parse(module).body if isinstance(node, ast.ClassDef) and node.name in texts][::-1]:
        members = _members(texts[own.name])
        for node in reversed(own.body):
            member = members.get(_alias(node)) if isinstance(node, ast.AnnAssign) else None
            if member and member.get("description"):
                lines.insert(node.end_lineno or 0, f"    {_quoted(_with_unit(member))}\n")
        if text := texts[own.name].get("description"):
            lines.insert(own.body[0].lineno - 1, f"    {_quoted(text)}\n\n")
    return "".join(lines)


def _class(schema: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in schema.split("_"))


def _members(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The members that a schema declares itself; its class inherits the others."""
    parts = [schema, *schema.get("allOf", ())]
    return {name: member for part in parts for name, member in part.get("properties", {}).items()}


def _alias(node: ast.AnnAssign) -> str:
    """The member's name in the API."""
    words = [node_ for node_ in ast.walk(node.annotation) if isinstance(node_, ast.keyword) and node_.arg == "alias"]
    value = words[0].value if words else node.target
    return str(value.value) if isinstance(value, ast.Constant) else ast.unparse(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"""{escaped}"""'


def _with_unit(schema: dict[str, Any]) -> str:
    """The description, and the unit of a number that it does not name."""
    text: str = schema["description"]
    unit = "milliseconds" if schema.get("x-duration") else _SIZES[schema.get("x-default-unit", "")] if schema.get("x-size") else ""
    return text if not unit or schema.get("type") != "integer" or unit in text.lower() else f"{text} In {unit}."
