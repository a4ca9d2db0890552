"""Join the files of a configuration to one document, and split such a document into its files.

The document begins with the preamble of the main file. Then all files follow in the order in which HAProxy loads them. Each file begins
with a boundary (`MARK path MARK_END`). The boundary of the main file has no path. If the main file is the first, it has no boundary.
Because the joined text contains the boundaries, it can be stored, compared and parsed again as a whole.
"""

from collections.abc import Mapping, Sequence

from haproxy_native.text.document import MARK, MARK_END, Document
from haproxy_native.text.section import BOUNDARY

# The name of the main file in this module.
MAIN = ""
_MARK, _MARK_END = MARK.encode(), MARK_END.encode()


def join(files: Sequence[tuple[str, bytes]]) -> bytes:
    """Join files, given as (name, bytes) in loading order. The name of the main file is MAIN. Raises ValueError for a NUL character."""
    if len(files) == 1:
        return files[0][1]
    for name, data in files:
        if _MARK in data:
            raise ValueError(f"{name} contains a NUL character")
    main = dict(files)[MAIN]
    preamble = main if files[0][0] == MAIN else Document.parse(main).preamble.encode("utf-8", "surrogateescape")
    joined = [preamble]
    for name, data in files:
        if name == MAIN and files[0][0] != MAIN:
            joined.append(_boundary(MAIN) + data[len(preamble) :])
        elif name != MAIN:
            joined.append(_boundary(name) + data)
    return b"".join(joined)


def split(data: bytes) -> dict[str, bytes]:
    """Split joined bytes. Return the bytes of each file by its name, the main file first."""
    if b"\0" not in data:
        return {MAIN: data}
    main, *others = data.split(_MARK)
    contents = {MAIN: main}
    for other in others:
        name, _, content = other.partition(_MARK_END)
        key = name.decode("utf-8", "surrogateescape")
        contents[key] = contents.get(key, b"") + content
    return contents


def is_joined(document: Document) -> bool:
    return any(section.kind == BOUNDARY for section in document.sections)


def parts(document: Document) -> dict[str, Document]:
    """Split a document. Return the document of each file by its name, the main file first."""
    if not is_joined(document):
        return {MAIN: document}
    documents = {
        MAIN: Document(document.preamble, [section for section in document.sections if section.file is None and section.kind != BOUNDARY])
    }
    for start in (section for section in document.sections if section.kind == BOUNDARY and section.file):
        preamble = start.text.removeprefix(MARK + start.name + MARK_END)
        documents[start.name] = Document(
            preamble, [section for section in document.sections if section.file == start.name and section is not start]
        )
    return documents


def with_parts(document: Document, changed: Mapping[str, Document]) -> Document:
    """Return the document with some of its files replaced. `changed`: the new document of each such file, by the name of the file."""
    if not is_joined(document):
        return changed.get(MAIN, document)
    contents = {name: part.data for name, part in {**parts(document), **changed}.items()}
    order = list(dict.fromkeys(section.file or MAIN for section in document.sections))
    return Document.parse(join([(name, contents[name]) for name in (order if MAIN in order else [MAIN, *order])]))


def _boundary(name: str) -> bytes:
    return _MARK + name.encode("utf-8", "surrogateescape") + _MARK_END


def first_lines(document: Document) -> Sequence[int]:
    """Return the line number of the header of each section, counted from 1 in the file of the section."""
    cached: Sequence[int] | None = document.cache.get(first_lines)
    if cached is not None:
        return cached
    numbers: list[int] = []
    number = document.preamble.count("\n")
    for section in document.sections:
        if section.kind == BOUNDARY:
            number = section.text.count("\n") if section.file else document.preamble.count("\n")
            numbers.append(1)
            continue
        number += section.lead.count("\n")
        numbers.append(number + 1)
        number += section.text.count("\n")
    document.cache[first_lines] = numbers
    return numbers
