"""JSON Merge Patch (RFC 7396): an object with some of its members changed, and null for those that go."""

from collections.abc import Mapping
from typing import Any


def merged(now: Any, part: Any) -> Any:
    """What becomes of a value; neither of the two is changed. Lists are replaced whole."""
    if not isinstance(part, Mapping):
        return part
    merged_value = dict(now) if isinstance(now, Mapping) else {}
    for name, value in part.items():
        if value is None:
            merged_value.pop(name, None)
        else:
            merged_value[name] = merged(merged_value.get(name), value)
    return merged_value


def without_stale(now: Mapping[str, Any], part: Mapping[str, Any], aliases: Mapping[str, str]) -> dict[str, Any]:
    """Removes, for each member and the list of which it is the first element, the one that a patch leaves alone: it holds the old value."""
    pairs = [*aliases.items(), *((target, alias) for alias, target in aliases.items())]
    stale = {other for named, other in pairs if named in part and other not in part}
    return {name: value for name, value in now.items() if name not in stale}
