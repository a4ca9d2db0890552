"""The file of shapes among the files of a configuration: the last of all, so that its defaults sections bind no proxy above them."""

from haproxy_native.text.document import Document
from haproxy_native.text.parts import SHAPES
from haproxy_native.text.section import BOUNDARY, Section


def is_shape(section: Section) -> bool:
    """True for a section of that file, and for its beginning."""
    return section.file is not None and section.file.rpartition("/")[2] == SHAPES


def parted(document: Document) -> tuple[Document, tuple[Section, ...]]:
    """The document without the file where that is the last one, and what was taken off."""
    count = len(document.sections)
    while count and is_shape(document.sections[count - 1]):
        count -= 1
    if count == len(document.sections):
        return document, ()
    return Document(document.preamble, document.sections[:count], document.leads), document.sections[count:]


def joined(document: Document, taken: tuple[Section, ...]) -> Document:
    """The reverse of `parted`."""
    return Document(document.preamble, (*document.sections, *taken), document.leads) if taken else document


def shapes_of(document: Document) -> list[Section]:
    """The sections of the file."""
    return [section for section in document.sections if is_shape(section) and section.kind != BOUNDARY]
