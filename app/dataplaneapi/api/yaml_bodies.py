"""Bodies of YAML as JSON values."""

from datetime import date
from functools import cache
from math import isfinite
from typing import Any

from dataplaneapi.api import bodies
from dataplaneapi.api.errors import ApiError

YAML_TYPE = "application/yaml"
MERGE = "tag:yaml.org,2002:merge"
# Bytes of one body: reading takes 15 s and 300 MB for each of its megabytes at worst.
LARGEST = bodies.OBJECT_BYTES
# Values in one body; aliases count each time. Members that its mappings merge of others (`<<`).
MOST, MOST_MERGED = 2_000_000, 100_000
_INT64 = 1 << 63
# What ruamel raises, beside its own errors, for a value that is not of its explicit tag, as in `!!bool x`.
_OF_TAGS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def of_yaml(data: bytes) -> Any:
    """YAML 1.2. Raises ApiError."""
    from ruamel.yaml import YAML
    from ruamel.yaml.composer import MaxDepthExceededError
    from ruamel.yaml.error import YAMLError

    if len(data) > LARGEST:
        raise ApiError(
            413, f"the YAML exceeds the maximum allowed size of {LARGEST} bytes; JSON may have what the setting max_body_size says"
        )
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor, yaml.max_depth = _constructor(), bodies.DEEPEST
    try:
        value = yaml.load(data.decode())
    except MaxDepthExceededError:
        raise ApiError(400, f"the YAML cannot be read: nested deeper than {bodies.DEEPEST} levels") from None
    except (YAMLError, *_OF_TAGS) as error:
        place = getattr(error, "problem_mark", None)
        where = f"line {place.line + 1}: " if place else ""
        raise ApiError(400, f"the YAML cannot be read: {where}{getattr(error, 'problem', None) or error}") from None
    return _plain(value, [0], 0)


@cache
def _constructor() -> Any:
    """ruamel's, which would let a few lines of aliases fill the memory."""
    from ruamel.yaml.constructor import ConstructorError, SafeConstructor
    from ruamel.yaml.nodes import MappingNode, ScalarNode

    class Constructor(SafeConstructor):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self._flat, self._merged = set[int](), 0

        def flatten_mapping(self, node: Any) -> None:
            if id(node) in self._flat:
                return
            self._flat.add(id(node))
            for key, value in list(node.value):
                if not isinstance(key, ScalarNode):
                    raise ConstructorError(None, None, "a key is a list or a mapping", key.start_mark)
                if key.tag == MERGE:
                    for each in [value, *value.value]:
                        self._count(each)
            super().flatten_mapping(node)

        def _count(self, node: Any) -> None:
            if isinstance(node, MappingNode):
                self.flatten_mapping(node)
                self._merged += len(node.value)
            if self._merged > MOST_MERGED:
                raise ConstructorError(None, None, f"more than {MOST_MERGED} members are merged", node.start_mark)

    return Constructor


def _plain(value: Any, counted: list[int], depth: int) -> Any:
    """Raises ApiError for what JSON has no words for, and for aliases that would fill the memory."""
    counted[0] += 1
    if counted[0] > MOST or depth > bodies.DEEPEST:
        raise ApiError(422, f"the YAML has more than {MOST} values, or more than {bodies.DEEPEST} levels")
    if isinstance(value, dict):
        return {str(_scalar(name)): _plain(each, counted, depth + 1) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(element, counted, depth + 1) for element in value]
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        raise ApiError(422, "an integer in body has more than 64 bits; put it in quotes")
    if isinstance(value, float) and not isfinite(value):
        raise ApiError(422, f"{value} in body is no number of JSON; put it in quotes")
    if not isinstance(value, str | int | float | None):
        shown = repr(str(value)) if isinstance(value, date) else "a value"
        raise ApiError(422, f"{shown} in body is a {type(value).__name__}; put it in quotes")
    return value
