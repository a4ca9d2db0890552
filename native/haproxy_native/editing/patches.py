"""Differences between two documents as pieces of text, small enough to store one for each change.

Documents share what an edit left alone, so the difference is found by identity first; it is kept as text, because a document that was
edited in memory need not split into the same sections as its text read again.
"""

from collections.abc import Iterable
from itertools import takewhile

from haproxy_native.text.document import CONFIGURATION, Document
from haproxy_native.text.outline import Outline
from haproxy_native.text.section import Section

# characters from the start, characters that go, the text that comes
Patch = tuple[int, int, str]
NONE: Patch = (0, 0, "")


def patch(base: Document, new: Document) -> Patch | None:
    """What turns the base's text into the new one's, or None where they are the same."""
    old_parts, new_parts = _parts(base), _parts(new)
    head = _shared(old_parts, new_parts)
    tail = _shared(reversed(old_parts[head:]), reversed(new_parts[head:]))
    before = sum(map(len, old_parts[:head]))
    gone = "".join(old_parts[head : len(old_parts) - tail])
    put = "".join(new_parts[head : len(new_parts) - tail])
    if gone == put:
        return None
    start = _common_start(gone, put)
    end = _common_start(gone[start:][::-1], put[start:][::-1])
    return before + start, len(gone) - start - end, put[start : len(put) - end]


def apply(base: Document, patches: Iterable[Patch], outline: Outline = CONFIGURATION) -> Document:
    """The base after these changes, in their order; untouched sections are the base's own.

    Raises ValueError where a patch does not fit.
    """
    text = base.text
    for start, gone, put in patches:
        if start < 0 or gone < 0 or start + gone > len(text):
            raise ValueError("a patch that does not fit its base")
        text = text[:start] + put + text[start + gone :]
    return sharing(Document.parse(text, outline=outline), base)


def sharing(document: Document, base: Document) -> Document:
    """The same document with the base's sections where they are equal, each once, so that a thousand of them cost little more than one."""
    known = {(section.lead, section.text, section.file): section for section in base.sections}
    return Document(document.preamble, [_known(section, known) for section in document.sections])


def _known(section: Section, known: dict[tuple[str, str, str | None], Section]) -> Section:
    return known.pop((section.lead, section.text, section.file), section)


def _parts(document: Document) -> list[str]:
    parts = [document.preamble]
    for section in document.sections:
        parts += (section.lead, section.text)
    return parts


def _shared(one: Iterable[str], other: Iterable[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1] or pair[0] == pair[1], zip(one, other, strict=False)))


def _common_start(one: str, other: str) -> int:
    """Length of the common start, by halving: comparing slices is far quicker than comparing characters."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
