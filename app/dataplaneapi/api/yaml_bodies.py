"""Bodies of YAML as JSON values."""

from typing import Any

from dataplaneapi.api import bodies
from dataplaneapi.api.errors import ApiError

YAML_TYPE = "application/yaml"
# Values in one body; aliases count each time.
MOST = 2_000_000
_PLAIN = (str, int, float, bool, type(None))


def of_yaml(data: bytes) -> Any:
    """YAML 1.2. Raises ApiError."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        value = YAML(typ="safe", pure=True).load(data.decode())
    except (YAMLError, ValueError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        where = f"line {place.line + 1}: " if place else ""
        raise ApiError(400, f"the YAML cannot be read: {where}{getattr(error, 'problem', None) or error}") from None
    return _plain(value, [0], 0)


def _plain(value: Any, counted: list[int], depth: int) -> Any:
    """Raises ApiError for what JSON has no words for, and for aliases that would fill the memory."""
    counted[0] += 1
    if counted[0] > MOST or depth > bodies.DEEPEST:
        raise ApiError(422, f"the YAML has more than {MOST} values, or more than {bodies.DEEPEST} levels")
    if isinstance(value, dict):
        return {str(name): _plain(each, counted, depth + 1) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, counted, depth + 1) for each in value]
    if not isinstance(value, _PLAIN):
        raise ApiError(422, f"{str(value)[:64]!r} in body is a {type(value).__name__}; put it in quotes")
    return value
