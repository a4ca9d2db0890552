"""Suggest corrections of common mistakes in a path: paths of older API versions and tutorials, misspelt segments, and misspelt names.

All hints are derived from the paths and names that the OpenAPI document declares.
"""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, quote

# Longer words are not compared, because the time for a comparison grows with the length.
LONGEST_WORD = 100
BASE, OLD_BASES = "v3", ("v1", "v2", "v3")
# The name of an object, as in `/v3/sidecar`: it begins with a kind.
OBJECT = re.compile(r"[a-z][a-z_]*(?:/[^/]+)*")
# Below these segments a name can contain slashes: the name of a file, or `peers/table`.
NAMED_BY_FILE = {"runtime", "storage"}


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word with the closest spelling. If none is close, return the longest known word that `word` contains, or None."""
    if len(word) > LONGEST_WORD:
        return None
    known = sorted(known)
    if close := get_close_matches(word.lower(), known, 1, 0.7):
        return close[0]
    parts = [name for name in known if len(name) > 3 and name in word.lower()]
    return max(parts, key=len, default=None)


def distance(word: str, other: str, most: int) -> int:
    """Return the edit distance (Levenshtein) of two words. If it exceeds `most`, the result is any number above `most`."""
    if abs(len(word) - len(other)) > most:
        return most + 1
    row = list(range(len(other) + 1))
    for place, letter in enumerate(word):
        before, row = row, [place + 1]
        for at, character in enumerate(other):
            row.append(min(before[at] + (letter != character), before[at + 1] + 1, row[at] + 1))
    return row[-1]


def object_places(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the paths of calls whose parameter `object` is not in the path.

    The values are `query` or `body`, the place of the parameter.
    """
    places: dict[str, str] = {}
    for path, item in document["paths"].items():
        for operation in (each for each in item.values() if isinstance(each, dict)):
            if any(parameter.get("name") == "object" for parameter in operation.get("parameters", ())):
                places[path] = "query"
                continue
            schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            if name := schema.get("$ref", "").rpartition("/")[2]:
                schema = document["components"]["schemas"][name]
            if "object" in schema.get("properties", {}):
                places.setdefault(path, "body")
    return {path: place for path, place in places.items() if "{" not in path}


class Guide:
    """Finds the declared paths that an unknown path resembles. `object_places`: the result of the function `object_places`."""

    def __init__(self, paths: Iterable[str], object_places: Mapping[str, str] | None = None) -> None:
        self._object_places = object_places or {}
        self._paths = {tuple(part for part in path.split("/") if part) for path in paths}
        self._words = {word for path in self._paths for word in path if not word.startswith("{")}
        self._ends = {word for path in self._paths if (word := _end(path))}
        self._collections = {word for path in self._paths for word, behind in pairwise(path) if behind.startswith("{")}
        self._nearest = lru_cache(256)(lambda word: _section(word, self._words) or nearest(word, self._words))

    def __call__(self, path: str, query: bytes) -> str:
        """Return the hint for an unknown path, such as `did you mean ...?`. Empty if the unknown path resembles no declared path."""
        called = path.removeprefix(f"/{BASE}")
        for known, place in self._object_places.items():
            if not called.startswith(f"{known}/"):
                continue
            # The path has an object name that the operation expects in the query or body.
            object_ = called[len(known) + 1 :].removeprefix("object/").rstrip("/")
            if not OBJECT.fullmatch(object_):
                continue
            if place == "query":
                return f"did you mean /{BASE}{known}?object={quote(object_, safe='/')}?"
            return f"did you mean /{BASE}{known}, with object {object_!r} in the body?"
        similar = self.similar_paths(path, dict(parse_qsl(query.decode("latin-1"))))
        return f"did you mean {' or '.join(similar)}?" if similar else ""

    def similar_paths(self, path: str, query: dict[str, str]) -> list[str]:
        """Return the declared paths, at most three, that most resemble an unknown path.

        Their parameters are replaced by names from that path.
        """
        segments = [segment for segment in path.split("/") if segment][:12]
        segments = segments[1:] if segments and segments[0] in OLD_BASES else segments
        # For each segment, the fixed segment that was meant; None for a name. A segment after a collection is a name, unless it is exactly
        # a fixed segment.
        known: list[str | None] = []
        for segment in segments:
            is_name = bool(known) and known[-1] in self._collections and segment not in self._words
            known.append(None if is_name else segment if segment in self._words else self._nearest(segment))
        target = next((word for word in reversed(known) if word), None)
        if target and target not in self._ends and (other := _section(target, self._ends) or nearest(target, self._ends)):
            known = [other if word == target else word for word in known]
            target = other
        if target is None:
            return []
        # Older versions of the API have the parent in the query: `backend=web`, or parent_type and parent_name.
        kind = next((kind for kind in ("backend", "frontend") if kind in query), "")
        parent_kind, parent = (kind, query[kind]) if kind else (query.get("parent_type", ""), query.get("parent_name"))
        behind = len(known) - known[::-1].index(target)
        above = [text for text, word in zip(segments[:behind], known, strict=False) if not word]
        above = [parent, *above] if parent else above
        below = segments[behind:]
        # The paths whose last fixed segment is the target, in the singular or the plural.
        similar = [declared for declared in self._paths if (end := _end(declared)) and _singular(end) == _singular(target)]
        ranked = sorted((_rank(declared, known, parent_kind, len(above), len(below)), declared) for declared in similar)
        return [_fill_parameters(declared, above, below) for rank, declared in ranked if rank == ranked[0][0]][:3]


def _section(word: str, known: Iterable[str]) -> str | None:
    """Return the collection that a word such as `mailers` means, as in `mailers_section`. Return None if there is no such collection."""
    stem = _singular(word.lower().replace("-", "_"))
    return next((each for each in sorted(known) if _singular(each) in (f"{stem}_section", f"{stem}s_section")), None)


def _singular(word: str) -> str:
    return word.removesuffix("s")


def _end(path: tuple[str, ...]) -> str | None:
    return next((word for word in reversed(path) if not word.startswith("{")), None)


def _rank(path: tuple[str, ...], known: list[str | None], kind: str, above: int, below: int) -> tuple[int, ...]:
    """Return a sort key that is lower for a path that resembles the unknown path more.

    A path resembles it more if it has the same kind of parent, more segments in common, and a name at the same places.
    """
    holes = sum(word.startswith("{") for word in path)
    fixed = {_singular(word) for word in path if not word.startswith("{")}
    wanted = {_singular(word) for word in known if word}
    wrong_parent = bool(kind) and not any(word.startswith(kind) for word in path)
    wrong_end = path[-1].startswith("{") != (below > 0)
    names = above + below
    return int(wrong_parent), len(wanted - fixed), int(wrong_end), max(0, names - holes), len(fixed - wanted), max(0, holes - names)


def _fill_parameters(path: tuple[str, ...], above: list[str], below: list[str]) -> str:
    """Return a path with its parameters replaced by names. Parameters without a name keep their braces.

    `above`: the names for parameters above the last fixed segment. `below`: the names for parameters below it.
    """
    place = max(at for at, word in enumerate(path) if not word.startswith("{"))
    left, absent = iter(below), sum(word.startswith("{") for word in path[:place]) - len(above)
    names = iter([*[""] * absent, *above[max(0, -absent) :]])
    if NAMED_BY_FILE & set(path[:place]):
        left = iter(["/".join(below)] if below else [])
    given = [next(names if at < place else left, "") if word.startswith("{") else "" for at, word in enumerate(path)]
    return "/".join(["", BASE, *(quote(name, safe="") or word for name, word in zip(given, path, strict=True))])
