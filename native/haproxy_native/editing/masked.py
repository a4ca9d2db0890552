"""Fingerprints that are sent back: at the object and the member where they were shown they stand for the secret that is there. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from haproxy_native.editing.secrets import LINE, MARK, Mask
from haproxy_native.errors import Incomplete
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section

_MARK = MARK.decode()
# The members that lead to a value; positions in lists are none.
Path = tuple[str, ...]


def restored(sent: Any, now: Any, mask: Mask) -> Any:
    """A body whose fingerprints are replaced by the secrets that `now`, the same object, has there. Raises Incomplete."""
    return _restored(sent, dict(_shown(now, mask.value(now), ())), ())


def _shown(value: Any, masked: Any, path: Path) -> Iterator[tuple[tuple[Path, str], str]]:
    if isinstance(value, Mapping):
        for name, member_value in value.items():
            yield from _shown(member_value, masked[name], (*path, str(name)))
    elif isinstance(value, list):
        for element, shown in zip(value, masked, strict=True):
            yield from _shown(element, shown, path)
    elif value != masked:
        yield (path, masked), value


def _restored(value: Any, known: Mapping[tuple[Path, str], str], path: Path) -> Any:
    if isinstance(value, Mapping):
        return {name: _restored(member_value, known, (*path, str(name))) for name, member_value in value.items()}
    if isinstance(value, list):
        return [_restored(element, known, path) for element in value]
    if not isinstance(value, str) or _MARK not in value:
        return value
    if (path, value) not in known:
        raise _unknown(".".join(path))
    return known[path, value]


def restored_text(text: bytes, now: Document, mask: Mask) -> bytes:
    """A configuration whose fingerprints are replaced by what stands in the same lines of the same sections. Raises Incomplete."""
    document = Document.parse(text)
    if _MARK in document.preamble:
        raise _unknown("what stands above the first section")
    for name, section in zip(document.names(), document.sections, strict=True):
        if _MARK in section.lead + section.text:
            there = [section_ for other, section_ in now.of_kind(section.kind) if other == name]
            document = document.replace(section, _restored_section(section, there, mask))
    return document.data


def _restored_section(section: Section, there: list[Section], mask: Mask) -> Section:
    known = {(_before(match), mask.fingerprint(match["secret"])): match["secret"] for line in there for match in LINE.finditer(line.text)}

    def secret(match: re.Match[str]) -> str:
        return match["before"] + known.get((_before(match), match["secret"]), match["secret"])

    text = LINE.sub(secret, section.text)
    if _MARK in section.lead + text:
        raise _unknown(f"{section.kind} {section.name}".rstrip())
    return section.with_text(text)


def _before(match: re.Match[str]) -> tuple[str, ...]:
    """The keyword, and of a user the name: whatever else stands between may be changed."""
    words = match["before"].split()
    return (*words[:2], words[-1])


def _unknown(place: str) -> Incomplete:
    return Incomplete(f"{place}: <masked:...> stands for the secret that stands here already, and no such one does; send the secret")
