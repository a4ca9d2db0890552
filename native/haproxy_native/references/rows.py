"""Places as callers see them: the object that holds one, its file, line and text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from haproxy_native.references.found import References, object_of
from haproxy_native.references.lines import Spot
from haproxy_native.references.lookups import Entry, Lost
from haproxy_native.text.document import Document
from haproxy_native.text.parts import first_lines

VALUE = "map value"
# From a path to the object that a stored file is; empty for another file.
ObjectOf = Callable[[str], str]


@dataclass(frozen=True)
class Row:
    """One place: the object that holds it, where it stands, its text, and how it names; `why` it cannot be followed."""

    object: str
    file: str
    line: int
    section: str = ""
    text: str = ""
    how: str = ""
    why: str = ""


class Rows:
    """Makes rows of one document; `main` is the path of its main file."""

    def __init__(self, document: Document, main: str, stored: ObjectOf) -> None:
        self._document, self._main, self._stored = document, main, stored
        self._first = first_lines(document)

    def places(self, found: References, *, made: bool = False) -> list[Row]:
        """Returns the rows of the configuration in order, then those of files; `made`: with the lines that define the object."""
        spots = sorted({*(found.made if made else ()), *found.spots, *found.through}, key=lambda row: (row.place, row.line))
        return [*dict.fromkeys(map(self._of_spot, spots)), *map(self._of_entry, found.entries)]

    def lost(self, found: Sequence[Lost]) -> list[Row]:
        return [self._of_lost(entry) for entry in found]

    def _of_spot(self, spot: Spot) -> Row:
        return self._of_line(spot.place, spot.line, how=spot.how)

    def _of_line(self, place: int, line: int, how: str = "", why: str = "") -> Row:
        section = self._document.sections[place]
        title, text = f"{section.kind} {section.name}".rstrip(), section.lines[line].text.strip()
        return Row(object_of(self._document, place), section.file or self._main, self._first[place] + line, title, text, how, why)

    def _of_entry(self, entry: Entry) -> Row:
        return self._of_file(entry.path, entry.line, entry.text, how=entry.how or VALUE)

    def _of_lost(self, lost: Lost) -> Row:
        if not lost.path or not lost.line or lost.place >= 0:
            return self._of_line(lost.place, lost.line, why=lost.why)
        return self._of_file(lost.path, lost.line, lost.text, why=lost.why)

    def _of_file(self, path: str, line: int, text: str, how: str = "", why: str = "") -> Row:
        """Returns a row; of a file that is not stored here only the place."""
        object_ = self._stored(path)
        return Row(object_ or "file", path, line, "", text if object_ else "", how, why)
