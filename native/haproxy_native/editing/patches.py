"""Compute and apply the difference between two documents as a replaced piece of text, small enough to be stored for each change.

An edited document shares its unchanged sections with the original, so most of the comparison is by identity. A patch refers to characters
and not to sections, because parsing the text of an edited document may result in other sections than the edit.
"""

from collections.abc import Iterable
from itertools import takewhile

from haproxy_native.text.document import CONFIGURATION, Document, Outline

# (characters before the change, removed characters, added text)
Patch = tuple[int, int, str]
NONE: Patch = (0, 0, "")


def patch(base: Document, new: Document) -> Patch | None:
    """Return the patch that turns the text of `base` into the text of `new`. Return None if both texts are equal."""
    old_parts, new_parts = _parts(base), _parts(new)
    head = _common_length(old_parts, new_parts)
    tail = _common_length(reversed(old_parts[head:]), reversed(new_parts[head:]))
    before = sum(map(len, old_parts[:head]))
    removed = "".join(old_parts[head : len(old_parts) - tail])
    added = "".join(new_parts[head : len(new_parts) - tail])
    if removed == added:
        return None
    start = _common_start(removed, added)
    end = _common_start(removed[start:][::-1], added[start:][::-1])
    return before + start, len(removed) - start - end, added[start : len(added) - end]


def apply(base: Document, patches: Iterable[Patch], outline: Outline = CONFIGURATION) -> Document:
    """Return the document that results from applying patches to `base`, one after the other. It shares unchanged sections with `base`.

    Raises ValueError if a patch refers to characters beyond the end of the text.
    """
    text = base.text
    for start, removed, added in patches:
        if start < 0 or removed < 0 or start + removed > len(text):
            raise ValueError("a patch does not fit its base")
        text = text[:start] + added + text[start + removed :]
    return with_shared_sections(Document.parse(text, outline=outline), base)


def with_shared_sections(document: Document, base: Document) -> Document:
    """Return the same document, with each section replaced by the equal section of `base`, if there is one.

    Because equal sections are shared, a thousand versions of a configuration take little more memory than one.
    """
    known = {(section.lead, section.text, section.file): section for section in base.sections}
    # Each section is used once: a document must not contain the same object twice.
    return Document(document.preamble, [known.pop((section.lead, section.text, section.file), section) for section in document.sections])


def _parts(document: Document) -> list[str]:
    parts = [document.preamble]
    for section in document.sections:
        parts += (section.lead, section.text)
    return parts


def _common_length(one: Iterable[str], other: Iterable[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1] or pair[0] == pair[1], zip(one, other, strict=False)))


def _common_start(one: str, other: str) -> int:
    """Return the length of the common start of two texts. Bisects, because comparing slices is far faster than comparing characters."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
