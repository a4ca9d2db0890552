"""Makes the pydantic models in native/haproxy_native/models from the document, one module for each schema.

The generator cannot read `x-haproxy` notes beside a reference, and has no use for operations: it gets the bare schemas.
"""

import json
import re
import subprocess
import sys
import tempfile
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
_INTEGER_CHOICE = re.compile(r"Literal\[\s*-?\d+(?:,\s*-?\d+)*,?\s*\]")


def models(document: dict[str, Any]) -> dict[str, str]:
    """File name -> text of each module."""
    with tempfile.TemporaryDirectory() as place:
        source, made = Path(place, "schemas.json"), Path(place, "models")
        source.write_text(json.dumps(_bare(document)))
        command = [f"{Path(sys.executable).parent}/datamodel-codegen", "--input", str(source), "--output", str(made), *OPTIONS, *STRICT]
        subprocess.run(command, check=True, cwd=place)
        return {file.name: _strict(file.read_text()) for file in sorted(made.glob("*.py")) if file.name != "__init__.py"}


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
