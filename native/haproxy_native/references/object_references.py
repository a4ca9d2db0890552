"""Find all references to an object, and rename the object in all of them.

References are words of the configuration (lines.py), lookups at run time with the maps that they use (lookups.py), and names of
certificates (certificates.py). The caller passes the function that reads other files.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from haproxy_native.editing.file_references import bases, may_refer, name_spans, refers
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import BadRequest, BadValue, Exists, Place
from haproxy_native.references.certificates import LOAD, STORE, CertificateReferences
from haproxy_native.references.kinds import kinds
from haproxy_native.references.lines import ReferenceTarget, Spot, definitions, kinds_of, section_kinds, spots
from haproxy_native.references.lookups import Lookup, Lost, Read, ReferringEntry, entries_with_value
from haproxy_native.references.pattern import NAME, Edit, Span, words_of
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import BOUNDARY
from haproxy_native.text.words import normalized

FILE, FOLDER, SCRIPT = "file", "its directory", "script"
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
_PATH = re.compile(r"[A-Za-z0-9_.:/-]{1,1000}")


@dataclass(frozen=True)
class References:
    """The references to one object."""

    document: Document
    # The lines that define the object.
    definitions: Sequence[Spot] = ()
    # Words of the configuration.
    spots: Sequence[Spot] = ()
    # Lines of the configuration that refer to the object through a file.
    through: Sequence[Spot] = ()
    # The references in such files.
    entries: Sequence[ReferringEntry] = ()
    # Lines that may refer to the object, but that cannot be traced.
    lost: Sequence[Lost] = ()


def references_to_object(document: Document, target: ReferenceTarget, directory: str, read: Read) -> References:
    """Return the references to an object of the configuration.

    `directory`: the base of relative paths if the configuration does not set a base. `read`: returns the text of another file, or None.
    """
    lookup = Lookup(document, target, directory, read).search()
    plain = list(spots(document, target))
    through, entries = list(lookup.through), list(lookup.entries)
    if target.kind.name in (STORE, LOAD):
        certificates = CertificateReferences(document, target)
        plain += certificates.spots()
        loading, listed = certificates.entries(directory, read)
        through, entries = [*through, *loading], [*entries, *listed]
    known = {(spot.section_index, spot.line, spot.span) for spot in plain}
    more = [spot for spot in lookup.spots if (spot.section_index, spot.line, spot.span) not in known]
    ordered = sorted({*plain, *more}, key=lambda spot: (spot.section_index, spot.line, spot.span or Span(0, 0)))
    return References(document, list(definitions(document, target)), ordered, through, entries, lookup.lost)


def entries_naming(document: Document, target: ReferenceTarget) -> Callable[[str, str], Iterable[ReferringEntry]]:
    """Return a function that finds the references to an object in a map or a crt-list.

    The arguments of that function are the path and the text of the map or crt-list.
    """
    if target.kind.name in (STORE, LOAD):
        return CertificateReferences(document, target).listed
    return lambda path, text: entries_with_value(path, text, target.name)


def references_to_file(document: Document, path: str, directory: str) -> References:
    """Return the references in the configuration to the file at `path`.

    `directory`: the base of relative paths if the configuration does not set a base.
    """
    spots, path_bases, path = list[Spot](), bases(document, directory), posixpath.normpath(path)
    for section_index, section in enumerate(document.sections):
        if section.kind == BOUNDARY or not may_refer(section.text, path):
            continue
        for number, line in enumerate(section.lines):
            if refers(line, path, path_bases):
                spans = [word.span(*span) for word in words_of(line)[1:] for span in name_spans(word.value, path, path_bases)]
                spots += [Spot(section_index, number, span, FILE) for span in spans]
                if not spans:
                    spots.append(Spot(section_index, number, None, SCRIPT if path.endswith(".lua") else FOLDER))
    return References(document, spots=spots)


# -- renaming


def check_name(document: Document, target: ReferenceTarget, name: str, member: str = "to") -> None:
    """Check the new name of an object. `member`: the member of the request that contains the name, for errors.

    Raises BadValue if HAProxy does not accept the name, Exists if another object has the name, and BadRequest for a stick table, which
    has no name of its own.
    """
    if not (_PATH if target.kind.path else _NAME).fullmatch(name):
        characters = ". _ : - /" if target.kind.path else ". _ : -"
        text = f"{member} in body: {name[:100]!r} is not a name that HAProxy accepts; use only letters, digits and {characters}"
        raise BadValue(text, place=Place(member=member))
    if target.only_table:
        raise BadRequest(f"a stick table has the name of its proxy; rename {target.object}")
    if name == target.name:
        return
    # The other objects that must not have this name.
    others = [replace(target, name=name)]
    if target.is_section:
        own = {kind.name for kind in kinds_of(target.kind)}
        sharing = [kind for kind in kinds().values() if own & {each.name for each in kinds_of(kind)}]
        others = [replace(target, kind=kind, name=name, section=(section_kinds()[kind.name], name)) for kind in sharing]
    for other in others:
        if any(definitions(document, other)):
            raise Exists(f"{other.object} already exists")


def rename_object(references: References, name: str) -> Document:
    """Return the document of `references` with the object renamed to `name`: in its definitions, and in all references to it."""
    document = references.document
    sections = list(document.sections)
    renamed_sections = {spot.section_index for spot in references.definitions if spot.line == 0}
    by_section = sorted(
        {(spot.section_index, spot.line, spot.span, spot.form) for spot in (*references.definitions, *references.spots) if spot.span}
    )
    for section_index, ones in groupby(by_section, key=lambda row: row[0]):
        section = sections[section_index]
        edits: dict[int, list[Edit]] = {}
        for _, line, span, form in ones:
            edits.setdefault(line, []).append((*span, form))
        lines = list(section.lines)
        for number, own in edits.items():
            lines[number] = Line(with_name_at(lines[number].text, own, name))
        is_named = section.name or section_index in renamed_sections
        sections[section_index] = section.with_lines(lines, name=normalized(lines[0].words[1]) if is_named and 0 in edits else None)
    return Document(document.preamble, sections, document.leads)


def with_name_at(text: str, edits: Iterable[Edit], name: str) -> str:
    """Return the text with the range of each edit replaced by the form of the edit, in which `<>` stands for `name`."""
    for start, end, form in sorted(edits, reverse=True):
        # The slash of an absolute path replaces the slash in the form.
        form = form.replace(f"/{NAME}", NAME) if name.startswith("/") else form
        text = text[:start] + form.replace(NAME, name) + text[end:]
    return text


def entries_by_path(references: References) -> Mapping[str, list[ReferringEntry]]:
    by_path: dict[str, list[ReferringEntry]] = {}
    for entry in references.entries:
        by_path.setdefault(entry.path, []).append(entry)
    return by_path


def object_of(document: Document, section_index: int) -> str:
    """Return the object name of the section at an index of the document."""
    section, name = document.sections[section_index], document.names()[section_index]
    by_word = {word: kind for kind, word in section_kinds().items()}
    return spelled(by_word.get(section.kind, section.kind), name).rstrip("/")
