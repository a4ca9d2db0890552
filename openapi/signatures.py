"""List the signatures that client generators derive, one line for each operation: names, tags, order of arguments, media types.

A generated client has a method for each operation and passes arguments by their order, so a name or an order that changes breaks
programs which still compile. `tests/openapi/signatures/` holds the lines of both documents; `python -m openapi.signatures` writes them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from haproxy_native.grammar.schema import followed
from openapi import bundle, swagger

LISTING = Path(__file__).parent.parent / "tests" / "openapi" / "signatures"

Node = dict[str, Any]


def listings() -> dict[Path, str]:
    """The text of each listing."""
    document = bundle.document()
    both = {"openapi3.txt": document, "swagger2.txt": swagger.swagger(document)}
    return {LISTING / name: "".join(f"{line}\n" for line in _lines(signature)) for name, signature in both.items()}


def _lines(document: Node) -> Iterator[str]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield f"{method.upper()} {path}: {_signature(document, operation)}"


def _signature(document: Node, operation: Node) -> str:
    """`Tag.id(argument, other: where)`, with media types where they are declared; arguments stand in the path unless it is named."""
    names = [_argument(followed(document, parameter)) for parameter in operation.get("parameters", [])]
    if "requestBody" in operation:
        names.append(f"{operation[swagger.BODY_NAME]}: {' or '.join(operation['requestBody']['content'])}")
    types = "".join(f" {word} {' or '.join(operation[word])}" for word in ("consumes", "produces") if word in operation)
    return f"{'+'.join(operation['tags'])}.{operation.get('operationId', '-')}({', '.join(names)}){types}"


def _argument(parameter: Node) -> str:
    return parameter["name"] + ("" if parameter["in"] == "path" else f": {parameter['in']}")


if __name__ == "__main__":
    LISTING.mkdir(exist_ok=True)
    for file, text in listings().items():
        file.write_text(text)
