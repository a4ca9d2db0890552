"""Find references to certificates of crt-stores, in lines of the configuration and in crt-lists.

A reference is one word. It consists of the store's name and an alias or a path:

    load crt site.pem alias a    @NAME/a           in a store without a name: @/a
    load crt site.pem            @NAME/site.pem    in a store without a name: site.pem, or its path below crt-base

(HAProxy Configuration Manual, section 3.11.)
"""

import posixpath
from collections.abc import Iterator
from itertools import pairwise

from haproxy_native.editing.file_references import bases, real_path
from haproxy_native.references.kinds import certificate_words
from haproxy_native.references.lines import LINE, ReferenceTarget, Spot
from haproxy_native.references.lookups import LIST, Read, ReferringEntry
from haproxy_native.references.pattern import Edit, Word, words_of
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.pieces import split_lines
from haproxy_native.text.section import BOUNDARY, Section
from haproxy_native.text.words import unquoted

STORE, LOAD = "crt_store", "crt_store/crt_load"


class CertificateReferences:
    """Finds the words that refer to `target`: a certificate of a crt-store, or a crt-store as a whole.

    A word that refers to any certificate of a store also refers to the store.
    """

    def __init__(self, document: Document, target: ReferenceTarget) -> None:
        self._document, self._prefix, self._words = document, "", dict[str, Edit]()
        global_lines = [line.args for _, section in document.of_kind("global") for line in section.lines]
        base = next((args[1] for args in global_lines if len(args) > 1 and args[0] == certificate_words().base), "")
        for section, name in zip(document.sections, document.names(), strict=True):
            if section.kind != certificate_words().store or unquoted(name) != target.section[1]:
                continue
            store = section.name
            if target.kind.name == STORE and store:
                self._prefix = f"@{store}/"
            for path, alias in _loaded_certificates(section):
                if target.kind.name == STORE and not store:
                    words = [f"@/{alias}"] if alias else _paths(path, base)
                    form = f"@<>/{alias or path.removeprefix('/')}"
                    self._words |= {word: (0, len(word), form) for word in words}
                elif path == target.name and not alias:
                    start = len(store) + 1 if store else 0
                    words = [f"@{store}/{path.removeprefix('/')}"] if store else _paths(path, base)
                    self._words |= {word: (start, len(word), "/<>" if store else "<>") for word in words}

    def edit(self, word: str) -> Edit | None:
        """Return the edit that renames `target` in a word: the range of the name in the word, and the replacement for that range.

        Return None if the word does not refer to `target`.
        """
        if self._prefix and word.startswith(self._prefix):
            return (1, len(self._prefix) - 1, "<>")
        return self._words.get(word)

    def listed(self, path: str, text: str) -> Iterator[ReferringEntry]:
        """Yield the references to `target` in the crt-list that has this path and text."""
        at = 0
        for number, line in enumerate(split_lines(text), 1):
            word = [] if line.startswith("#") else line.partition("[")[0].split(maxsplit=1)[:1]
            if word and (edit := self.edit(word[0])):
                (start, end, form), offset = edit, at + line.index(word[0])
                yield ReferringEntry(path, number, line.strip(), offset + start, offset + end, LIST, form)
            at += len(line)

    def entries(self, directory: str, read: Read) -> tuple[list[Spot], list[ReferringEntry]]:
        """Return (lines that load crt-lists with references to `target`, the references in these crt-lists).

        `directory`: the base of relative paths if the configuration does not set a base.
        """
        through, references = list[Spot](), dict[ReferringEntry, None]()
        path_bases = bases(self._document, directory)
        for section_index, section in enumerate(self._document.sections):
            for number, line in enumerate(section.lines if certificate_words().list in section.text else ()):
                for word in _words_after(certificate_words().list, line):
                    paths = [real_path(posixpath.join(base, word.value)) for base in path_bases]
                    path, text = next(((path, text) for path in paths if (text := read(path)) is not None), ("", ""))
                    if entries := list(self.listed(path, text)):
                        through.append(Spot(section_index, number, None, LIST))
                        references |= dict.fromkeys(entries)
        return through, list(references)

    def spots(self) -> Iterator[Spot]:
        """Yield the references to `target` in the configuration, except in crt-stores, which define certificates."""
        for section_index, section in enumerate(self._document.sections):
            if section.kind in (BOUNDARY, certificate_words().store) or certificate_words().file not in section.text:
                continue
            for number, line in enumerate(section.lines):
                for word in _words_after(certificate_words().file, line):
                    if edit := self.edit(word.value):
                        start, end, form = edit
                        yield Spot(section_index, number, word.span(start, end), LINE, form)


def _words_after(keyword: str, line: Line) -> Iterator[Word]:
    """Return the word that follows each occurrence of a keyword in a line."""
    words = words_of(line) if keyword in line.text else []
    return (word for before, word in pairwise(words) if before.value == keyword)


def _loaded_certificates(section: Section) -> Iterator[tuple[str, str]]:
    """Yield (path, alias) for each certificate that a crt-store loads. The alias is empty if the certificate has none."""
    words = certificate_words()
    for line in section.lines[1:]:
        args = line.args
        if args[:1] == (words.load,) and words.file in args[1::2]:
            given = dict(zip(args[1::2], args[2::2], strict=False))
            yield given[words.file], given.get("alias", "")


def _paths(path: str, base: str) -> list[str]:
    """Return the ways to write the path of a certificate: `path` itself and, for a relative path, `path` appended to `base`.

    `base`: the value of `crt-base`; empty if `crt-base` is not set.
    """
    return [path, posixpath.join(base, path)] if base and not path.startswith("/") else [path]
