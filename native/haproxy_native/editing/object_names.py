"""Build, parse and match the names of objects of all kinds, such as `backend/shop/server/web1`, `map/hosts.map` and `owner/team-a`.

Kinds and names alternate. In a name, `/`, `*` and `%` are percent-encoded. In a pattern, `*` matches any characters within one segment,
and `**` any number of segments.
"""

import functools
import re
from dataclasses import dataclass

from haproxy_native.editing.editor import Editor, Parent
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import BadRequest

_KIND, _KIND_PATTERN = re.compile(r"[a-z][a-z0-9_-]*"), re.compile(r"[a-z*][a-z0-9_*-]*")
_EXAMPLE = "write kind/name, as in backend/shop/server/web1"
_ENCODED = str.maketrans({"%": "%25", "/": "%2F", "*": "%2A"})
_ESCAPED, _BARE = re.compile(rb"%([0-9A-Fa-f]{2})"), re.compile(r"%(?![0-9A-Fa-f]{2})")


def spelled(*parts: str | int) -> str:
    """Return the name of an object from alternating kinds and names.

    A kind that has only one object, such as `global`, has no name after it.
    """
    return "/".join(part if place % 2 == 0 else encoded(part) for place, part in enumerate(map(str, parts)))


def encoded(name: str | int) -> str:
    """Return a name with `/`, `*` and `%` percent-encoded, for use as a segment of an object name."""
    return str(name).translate(_ENCODED)


def decoded(segment: str) -> str:
    data = segment.encode("utf-8", "surrogateescape")
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), data).decode("utf-8", "surrogateescape")


def parsed(text: str) -> tuple[str, ...]:
    """Split the name of an object into its kinds and names, which alternate, and decode them.

    Raises BadRequest for a malformed name or a pattern.
    """
    segments = text.split("/")
    for place, segment in enumerate(segments):
        _check(text, segment, None if place % 2 else _KIND)
        if "*" in segment:
            raise BadRequest(f"{text[:100]!r} is a pattern, but the name of one object is expected; write * in a name as %2A")
    return tuple(decoded(segment) for segment in segments)


def check_pattern(text: str) -> None:
    """Raise BadRequest if no name of an object can match the pattern."""
    segments = text.split("/")
    # After a `**` a segment may be a kind or a name.
    for place, segment in enumerate(segments):
        _check(text, segment, None if place % 2 or "**" in segments[:place] else _KIND_PATTERN)


def _check(text: str, segment: str, kind: re.Pattern[str] | None) -> None:
    """Raise BadRequest for an invalid segment of the name `text`.

    `kind`: the expression that a kind must match; None if the segment is a name.
    """
    if not segment:
        raise BadRequest(f"{text[:100]!r} names no object: a part of it is empty; {_EXAMPLE}")
    if kind and not kind.fullmatch(segment):
        raise BadRequest(f"{text[:100]!r} names no object: {segment[:50]!r} is not a kind; {_EXAMPLE}")
    if _BARE.search(segment):
        raise BadRequest(f"{text[:100]!r} names no object: write % in a name as %25")


def within(name: str, object_: str) -> bool:
    """Return whether `name` denotes the object `object_` or an object inside it."""
    return f"{name}/".startswith(f"{object_}/")


def renamed(name: str, object_: str, to: str) -> str:
    """Return the new name of the object `name` after the object `object_` was renamed to `to`: it changes if `name` is in `object_`."""
    return to + name.removeprefix(object_) if within(name, object_) else name


def matches(pattern: str, name: str) -> bool:
    """Return whether a pattern matches a name that `spelled` has built.

    In a pattern, more characters than `spelled` encodes may be encoded.
    """
    return _compile(pattern).fullmatch(name) is not None


def beginning(pattern: str) -> str:
    """Return the literal text with which every name begins that a pattern matches."""
    return re.split("[*%]", pattern, maxsplit=1)[0].rstrip("/")


def covers(pattern: str, name: str) -> bool:
    """Return whether a pattern matches the object `name` or an object that contains it."""
    return matches(pattern, name) or matches(f"{pattern}/**", name)


def reaches(pattern: str, name: str) -> bool:
    """Return whether a pattern covers the object `name`, or may match an object inside it."""
    segments = pattern.split("/")[: name.count("/") + 1]
    if "**" in segments:
        segments = segments[: segments.index("**") + 1]
    return covers("/".join(segments), name)


@functools.lru_cache(maxsize=1024)
def _compile(pattern: str) -> re.Pattern[str]:
    # `**` may match no segment at all, so it includes one of the slashes next to it. Names may be empty, as for the global section.
    expression, has_segment = "", False
    for segment in pattern.split("/"):
        if segment == "**":
            expression += "(?:/[^/]*)*" if has_segment else "(?:[^/]*/)*"
        else:
            literals = [re.escape(encoded(decoded(literal))) for literal in segment.split("*")]
            expression += ("/" if has_segment else "") + "[^/]*".join(literals)
            has_segment = True
    return re.compile(expression if has_segment else ".*", re.DOTALL)


@dataclass(frozen=True)
class ObjectPlace:
    """The place of an object in a configuration: its collection, its parent, and its key in the collection."""

    resource: Resource
    parent: Parent
    # Its name, or its index if it has none.
    key: str | int


def name_of(place: ObjectPlace) -> str:
    """Return the name of the object at a place."""
    parts = [(place.parent[0], place.parent[1])] if place.parent else []
    return spelled(*(part for resource, key in [*parts, (place.resource, place.key)] for part in (kind_of(resource), key))).rstrip("/")


def object_of_section(editor: Editor, kind: str, name: str) -> str:
    """Return the object name of the section with the keyword `kind` and the name `name` in the file."""
    kinds = {
        resource.section: kind_of(resource) for resource in editor.resources.by_name.values() if resource.section and not resource.parents
    }
    return spelled(kinds.get(kind, kind), name).rstrip("/")


def section_of_object(editor: Editor, object_: str) -> tuple[str, str]:
    """Return (keyword, name in the file) of a section: of the section `object_`, or of the section that contains `object_`.

    Raises BadRequest.
    """
    kind, *names = parsed(object_)
    sections = {
        kind_of(resource): resource.section for resource in editor.resources.by_name.values() if resource.section and not resource.parents
    }
    return sections.get(kind, kind), names[0] if names else ""


def kind_of(resource: Resource) -> str:
    """Return the kind that a resource has in the names of its objects: the singular of its path in the API."""
    return resource.name if resource.schema.startswith(resource.name) else resource.schema
