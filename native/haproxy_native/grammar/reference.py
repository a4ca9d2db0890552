"""References of an OpenAPI document (`$ref`), followed."""

from collections.abc import Mapping
from typing import Any

KEY = "$ref"
Node = Mapping[str, Any]


def followed(document: Node, node: Node) -> Node:
    """The node itself, or what its reference leads to, over any number of them. Raises KeyError for one that leads nowhere."""
    while KEY in node:
        node = target(document, node[KEY])
    return node


def target(document: Node, reference: str) -> Any:
    """What stands at a place of the document, as in `#/components/schemas/server`. Raises KeyError."""
    node: Any = document
    for part in reference.removeprefix("#/").split("/"):
        if not isinstance(node, Mapping):
            raise KeyError(reference)
        node = node[part]
    return node


def name_of(node: Node) -> str | None:
    """The name of the component that a node refers to; None where it is no reference."""
    reference: str | None = node.get(KEY)
    return reference.rpartition("/")[2] if reference else None
