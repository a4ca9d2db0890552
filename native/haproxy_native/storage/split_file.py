"""The map file of a split: what was asked for in its first line, then the backend of each bucket. Pure."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from haproxy_native.storage import map_file

_HEAD = "# split "
# The entries of the map, each with the backend of so many parts of all requests.
BUCKETS = 100


@dataclass(frozen=True)
class Split:
    """`since`: Unix time of the last change. `before`: the requests of each backend until then, by process."""

    by: str
    weights: Mapping[str, float]
    since: float
    before: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def written(split: Split, buckets: Sequence[str]) -> str:
    lines = [_HEAD + json.dumps(asdict(split)), *(f"{bucket} {name}" for bucket, name in enumerate(buckets))]
    return "\n".join(lines) + "\n"


def read(text: str) -> Split | None:
    """Parses a split; None if the file is not ours."""
    head = text.partition("\n")[0]
    with suppress(ValueError, TypeError, KeyError):
        if head.startswith(_HEAD):
            members: dict[str, Any] = json.loads(head.removeprefix(_HEAD))
            return Split(str(members["by"]), dict(members["weights"]), float(members["since"]), dict(members["before"]))
    return None


def with_name(text: str, old: str, new: str) -> str:
    """The text with another name of a backend in its first line; any other file as it is."""
    if (split := read(text)) is None:
        return text
    head = asdict(replace(split, weights=_with_name(split.weights, old, new), before=_with_names(split.before, old, new)))
    return "\n".join([_HEAD + json.dumps(head), text.partition("\n")[2]])


def _with_names(counts: Mapping[str, Mapping[str, Any]], old: str, new: str) -> Mapping[str, Mapping[str, Any]]:
    return {process: _with_name(count, old, new) for process, count in counts.items()}


def _with_name(members: Mapping[str, Any], old: str, new: str) -> Mapping[str, Any]:
    return {new if name == old else name: value for name, value in members.items()}


def buckets(text: str) -> list[str]:
    """The backend of each bucket, empty where a line is missing."""
    entries = {entry.key: entry.value for entry in map_file.read(text)}
    return [entries.get(str(bucket), "") for bucket in range(BUCKETS)]
