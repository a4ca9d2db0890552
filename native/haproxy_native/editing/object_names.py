"""Names of objects across all kinds, as `/v3/sidecar` writes them: `backend/shop/server/web1`, `map/hosts.map`, `owner/team-a`.

Kind and name alternate; in names `/`, `*` and `%` are percent-encoded. In patterns `*` stands for any characters of one segment, and `**`
for any number of segments.
"""

import functools
import re
from collections.abc import Sequence

from haproxy_native.errors import BadRequest

_KIND, _KIND_PATTERN = re.compile(r"[a-z][a-z0-9_-]*"), re.compile(r"[a-z*][a-z0-9_*-]*")
_EXAMPLE = "write kind/name, as in backend/shop/server/web1"
_ENCODED = str.maketrans({"%": "%25", "/": "%2F", "*": "%2A"})
_ESCAPED, _BARE = re.compile(rb"%([0-9A-Fa-f]{2})"), re.compile(r"%(?![0-9A-Fa-f]{2})")


def spelled(*parts: str | int) -> str:
    """The name of kinds and names in turn; a kind that has one object alone may end it."""
    return "/".join(part if place % 2 == 0 else encoded(part) for place, part in enumerate(map(str, parts)))


def encoded(name: str | int) -> str:
    """One segment."""
    return str(name).translate(_ENCODED)


def decoded(segment: str) -> str:
    data = segment.encode("utf-8", "surrogateescape")
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), data).decode("utf-8", "surrogateescape")


def parsed(text: str) -> tuple[str, ...]:
    """Kinds and names in turn, decoded. Raises BadRequest where it is no name of an object, which a pattern is not either."""
    segments = text.split("/")
    for place, segment in enumerate(segments):
        _check(text, segment, None if place % 2 else _KIND)
        if "*" in segment:
            raise BadRequest(f"{text[:100]!r} is a pattern, and here is one object named; a * in a name is %2A")
    return tuple(decoded(segment) for segment in segments)


def check_pattern(text: str) -> None:
    """Raises BadRequest where no name of an object can match; a `**` may stand for a kind or for a name."""
    segments = text.split("/")
    for place, segment in enumerate(segments):
        _check(text, segment, None if place % 2 or "**" in segments[:place] else _KIND_PATTERN)


def _check(text: str, segment: str, kind: re.Pattern[str] | None) -> None:
    """One segment, a name where no kind is expected. Raises BadRequest."""
    if not segment:
        raise BadRequest(f"{text[:100]!r} names no object: a part of it is empty; {_EXAMPLE}")
    if kind and not kind.fullmatch(segment):
        raise BadRequest(f"{text[:100]!r} names no object: {segment[:50]!r} is no kind; {_EXAMPLE}")
    if _BARE.search(segment):
        raise BadRequest(f"{text[:100]!r} names no object: a % in a name is %25")


def within(name: str, object_: str) -> bool:
    """Whether it is the name of an object, or of what stands in it."""
    return f"{name}/".startswith(f"{object_}/")


def renamed(name: str, object_: str, to: str) -> str:
    """The name once that object is called `to`."""
    return to + name.removeprefix(object_) if within(name, object_) else name


def matches(pattern: str, name: str) -> bool:
    """Whether a name, as `spelled` writes it, is what the pattern stands for. A pattern may encode more than a name has to."""
    return _compiled(pattern).fullmatch(name) is not None


def beginning(pattern: str) -> str:
    """How all names begin that a pattern matches."""
    return re.split("[*%]", pattern, maxsplit=1)[0].rstrip("/")


def covers(pattern: str, name: str) -> bool:
    """Whether a pattern matches the object, as `matches` does, or something inside it."""
    return matches(pattern, name) or matches(f"{pattern}/**", name)


def reaches(pattern: str, name: str) -> bool:
    """Whether a pattern covers the object, or may match something inside it."""
    segments = pattern.split("/")[: name.count("/") + 1]
    if "**" in segments:
        segments = segments[: segments.index("**") + 1]
    return covers("/".join(segments), name)


@functools.lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_of(pattern.split("/")), re.DOTALL)


def _of(segments: Sequence[str]) -> str:
    """Each `**` takes the slash with it that it stands beside, since it may be no segment at all; the global section has an empty name."""
    text, behind = "", False
    for segment in segments:
        if segment == "**":
            text += "(?:/[^/]*)*" if behind else "(?:[^/]*/)*"
            continue
        text += ("/" if behind else "") + _segment(segment)
        behind = True
    return text if behind else ".*"


def _segment(segment: str) -> str:
    parts = [re.escape(encoded(decoded(part))) for part in segment.split("*")]
    return "[^/]*".join(parts) if len(parts) > 1 else parts[0]
