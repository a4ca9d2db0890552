"""The filters of a configuration that read a SPOE file, and the same configuration with its plain path. Pure.

When in doubt a filter reads the file: at worst that costs a reload, or an answer that names the line.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from haproxy_native.editing.editor import Editor
from haproxy_native.planning.outcome import Reason, line_of
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section
from haproxy_native.text.words import unquoted

_FILTERS, _FILE = "filters", "spoe_config"


@dataclass(frozen=True)
class Reference:
    """A filter line: the `place` of it in its section, and its `index` among the filters."""

    section: Section
    place: int
    index: int

    def line(self, document: Document) -> int:
        return line_of(document, self.section, self.place)

    def text(self) -> str:
        return self.section.lines[self.place].text.strip()

    def reason(self, document: Document, name: str) -> Reason:
        words = self.section.lines[self.place].words
        title = f"{self.section.kind} {self.section.name}"
        return Reason(title, self.line(document), words[0], f"the SPOE file {name}, which it reads, changed")


class References:
    """`bases` are the directories in which relative paths may begin."""

    def __init__(self, editor: Editor, bases: Sequence[Path]) -> None:
        self._editor, self._bases = editor, tuple(bases)
        self._filters = editor.resources[_FILTERS]
        self._kinds = {editor.resources[name].section for name in self._filters.parents}

    def to(self, document: Document, file: Path) -> list[Reference]:
        return list(self._found(document, file))

    def spelled_out(self, document: Document, file: Path) -> Document:
        """Returns the document with the file's own path, however a line spells it; line numbers stay."""
        for reference in self._found(document, file):
            section = document.find(reference.section.kind, reference.section.name)
            assert section
            read = section.as_read()
            filter_ = self._editor.lines.children(read, self._filters).objects[reference.index]
            new = self._editor.lines.replace(read, self._filters, reference.index, {**(filter_ or {}), _FILE: str(file)})
            document = document.replace(section, new)
        return document

    def _found(self, document: Document, file: Path) -> Iterator[Reference]:
        for section in document.sections:
            if section.kind in self._kinds and file.name in section.text:
                children = self._editor.lines.children(section.as_read(), self._filters)
                for index, (place, object_) in enumerate(zip(children.places, children.objects, strict=True)):
                    if object_ and _FILE in object_ and self._is(unquoted(object_[_FILE]), file):
                        yield Reference(section, place, index)

    def _is(self, word: str, file: Path) -> bool:
        if "$" in word:
            return file.name in word
        places = [Path(word)] if os.path.isabs(word) else [base / word for base in self._bases]
        return os.path.realpath(file) in map(os.path.realpath, places)
