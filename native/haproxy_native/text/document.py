"""Represent a configuration file as an immutable list of sections. `Document.parse(data).data == data` for any bytes.

The text is decoded as UTF-8. Bytes that are not UTF-8 become lone surrogates, which are encoded to the same bytes again. An edit returns a
new document that shares all unchanged sections. A document may contain several files, one after the other, separated by boundaries
(native/haproxy_native/text/parts.py). An `Outline` finds where sections begin. SPOE files have an outline of their own, because their
sections are not those of a configuration.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from haproxy_native.text.line import Line
from haproxy_native.text.pieces import PIECE, apart, decoded, encoded, finditer, split_lines
from haproxy_native.text.section import BOUNDARY, Section, depth_after
from haproxy_native.text.words import BLANKS, normalized

# The kind of a scope in a SPOE file: a line in brackets, with a body that ends at the next section. Its name includes the brackets.
SCOPE = "scope"
_SCOPE_NAME = re.compile(rf"[{BLANKS}]*(\[[^\]\n]*\]?)")


class Outline:
    """Finds where sections begin: at lines whose first word is one of `kinds` and, with `scopes`, at lines that begin with `[`."""

    def __init__(self, kinds: Iterable[str], *, scopes: bool = False) -> None:
        self.kinds = frozenset(kinds)
        # Matches a section keyword as first word, or a first word whose quotes or escapes may hide a keyword.
        longest = max(map(len, self.kinds))
        words = rf"(?:{'|'.join(sorted(self.kinds))})(?=[ \t\r\v\f#\n]|\Z)|[^\s\"'\\#]{{0,{longest}}}[\"'\\]" + (r"|\[" if scopes else "")
        self._header = re.compile(rf"^(?!\n)[ \t\r\v\f]*(?:{words})", re.MULTILINE)
        self._scopes = scopes

    def headers(self, text: str) -> list[tuple[int, str, str]]:
        """Return (offset, kind, name) of each line that begins a section."""
        headers: list[tuple[int, str, str]] = []
        for match in finditer(self._header, text):
            start = match.start()
            if self._scopes and (scope := _SCOPE_NAME.match(text, start)):
                headers.append((start, SCOPE, scope[1]))
                continue
            end = text.find("\n", start)
            line = Line(text[start : len(text) if end < 0 else end])
            words, args = line.words, line.args
            kind = args[0] if args else ""
            if kind in self.kinds:
                nameless = len(words) < 2 or kind in ("global", "traces") or (kind == "defaults" and args[1] == "from")
                headers.append((start, kind, "" if nameless else normalized(words[1])))
        return headers


# Kinds of sections that HAProxy accepts without a name, even several of them.
NAMELESS = ("crt-store", "defaults")
# Kinds of which HAProxy accepts several sections with the same name. Each of two `defaults a` serves the proxies below it, as long as no
# `from` refers to `a`.
REPEATABLE = (*NAMELESS, "userlist")
CONFIGURATION = Outline(
    "global defaults frontend backend listen userlist peers mailers resolvers cache ring traces program "
    "log-forward log-profile http-errors healthcheck acme crt-store fcgi-app namespace_list "
    # HAProxy Enterprise's
    "udp-lb dynamic-update waf-global waf-profile botmgmt-profile captcha".split()
)


# The beginning and the end of the mark between two files. No line of a configuration can contain a NUL.
MARK, MARK_END = "\0file:", "\0"


class Document:
    """A parsed file: `preamble` is the text before the first section; `sections` contain everything else.

    `leads` are the comment blocks of deleted sections, by kind and name: if such a section is created again, it gets its comments back.
    `cache` is for values that other modules compute from the document.
    """

    __slots__ = ("_data", "_index", "_keys", "_kinds", "_names", "_repeated", "_size", "cache", "leads", "preamble", "sections")

    def __init__(self, preamble: str, sections: Iterable[Section], leads: Mapping[tuple[str, str], str] | None = None) -> None:
        self.preamble = preamble
        self.sections = tuple(sections)
        self.leads: Mapping[tuple[str, str], str] = leads or {}
        self._index: dict[tuple[str, str], int] | None = None
        self._keys: tuple[tuple[str, str], ...] | None = None
        self._names: tuple[str, ...] | None = None
        self._kinds: Mapping[str, Sequence[int]] | None = None
        self._repeated: frozenset[tuple[str, str]] | None = None
        self._data: bytes | None = None
        self._size: int | None = None
        self.cache: dict[Any, Any] = {}

    @classmethod
    def parse(cls, data: bytes | str, outline: Outline = CONFIGURATION) -> "Document":
        text = decoded(data) if isinstance(data, bytes) else data
        first, *others = text.split(MARK)
        document = _parse_file(first, outline)
        sections = list(document.sections)
        for other in others:
            name, closed, content = other.partition(MARK_END)
            file = name or None
            part = _parse_file(content, outline, file, at_top=bool(file))
            sections += (Section(BOUNDARY, name, MARK + name + closed + part.preamble, file=file), *part.sections)
        return cls(document.preamble, sections) if others else document

    @property
    def text(self) -> str:
        return "".join([self.preamble, *chain.from_iterable((section.lead, section.text) for section in self.sections)])

    @property
    def data(self) -> bytes:
        """Return the document as bytes, exactly as in the file."""
        data = self._data
        if data is None:
            data = self._data = encoded(self.text)
        return data

    @property
    def size(self) -> int:
        """Return the number of characters in all sections together, without the preamble and the comment blocks above sections."""
        if self._size is None:
            self._size = sum(len(section.text) for section in self.sections)
        return self._size

    def pieces(self) -> Iterator[bytes]:
        """Yield `data` in pieces. Allocating the memory for one large `bytes` object would take longer than the encoding."""
        if (data := self._data) is not None:
            yield data
            return
        texts, size = [self.preamble], len(self.preamble)
        for section in self.sections:
            texts += (section.lead, section.text)
            size += len(section.lead) + len(section.text)
            if size > PIECE:
                yield encoded("".join(texts))
                texts, size = [], 0
        yield encoded("".join(texts))

    def find(self, kind: str, name: str) -> Section | None:
        """Return the first section with this kind and name; None if there is no such section.

        `name` is one of `names`: nameless and repeated sections have names with numbers, such as `unnamed_defaults_1` and `a_2`.
        """
        # A local variable, because another thread may call `drop_caches` meanwhile.
        index = self._index
        if index is None:
            index = {}
            for place, key in enumerate(self.keys()):
                index.setdefault(key, place)
            self._index = index
        found = index.get((kind, name))
        return None if found is None else self.sections[found]

    def place(self, section: Section) -> int:
        """Return the index of a section; the number of sections if the document does not contain the section."""
        self.find(section.kind, section.name)
        place = (self._index or {}).get((section.kind, section.name), 0)
        if place < len(self.sections) and self.sections[place] is section:
            return place
        # Several sections have this kind and name.
        places: dict[int, int] | None = self.cache.get(Document.place)
        if places is None:
            places = self.cache[Document.place] = {id(other): place for place, other in enumerate(self.sections)}
        return places.get(id(section), len(self.sections))

    def extent(self, kind: str, name: str) -> int:
        """Return the cost, in characters, of finding and parsing a section: its length, or 0 if there is no such section.

        Before the first `find`, the cost is the length of all sections.
        """
        index = self._index
        if index is None:
            return self.size
        place = index.get((kind, name))
        return 0 if place is None else len(self.sections[place].text)

    def drop_caches(self) -> None:
        """Drop all cached values. This saves memory if a document is stored for long and rarely read."""
        self._index = self._keys = self._kinds = self._names = self._repeated = self._data = None
        self.cache.clear()

    def keys(self) -> tuple[tuple[str, str], ...]:
        """Return (kind, name) of each section in file order. The names are those of `names`."""
        keys = self._keys
        if keys is None:
            keys = self._keys = tuple((section.kind, name) for section, name in zip(self.sections, self.names(), strict=True))
        return keys

    def repeated(self) -> frozenset[tuple[str, str]]:
        """Return each (kind, name) that more than one section has."""
        repeated = self._repeated
        if repeated is None:
            repeated = self._repeated = frozenset(key for key, count in Counter(self.keys()).items() if count > 1)
        return repeated

    def names(self) -> tuple[str, ...]:
        """Return the name by which clients address each section, in file order."""
        # A local variable, because another thread may call `drop_caches` meanwhile.
        cached = self._names
        if cached is not None:
            return cached
        names: list[str] = []
        # The number of nameless sections of each kind so far.
        nameless: Counter[str] = Counter()
        headers = Counter((section.kind, section.name) for section in self.sections if section.kind in REPEATABLE)
        # The last number given to the sections that share a kind and a name. Branches of conditional blocks get no numbers.
        numbers = {key: 0 for key, count in headers.items() if count > 1 and not self._is_conditional(*key)}
        for section in self.sections:
            if section.kind not in REPEATABLE:
                names.append(section.name)
                continue
            # A section whose header has the name that its number would give it counts as nameless.
            numbered = f"unnamed_{section.kind.replace('-', '_')}_{nameless[section.kind] + 1}"
            key = section.kind, section.name
            if section.kind in NAMELESS and section.name in ("", numbered):
                nameless[section.kind] += 1
                names.append(numbered)
            elif key not in numbers:
                names.append(section.name)
            else:
                number = numbers[key] + 1
                while number > 1 and (section.kind, f"{section.name}_{number}") in headers:
                    number += 1
                numbers[key] = number
                names.append(section.name if number == 1 else f"{section.name}_{number}")
        self._names = tuple(names)
        return self._names

    def address(self, section: Section) -> str:
        """Return the name by which clients address a section: the name in its header, or a name with a number."""
        place = self.place(section)
        return self.names()[place] if place < len(self.sections) else section.name

    def places_of(self, kind: str) -> Sequence[int]:
        """Return the indices of the sections of a kind, in file order."""
        kinds = self._kinds
        if kinds is None:
            places: dict[str, list[int]] = {}
            for place, section in enumerate(self.sections):
                places.setdefault(section.kind, []).append(place)
            kinds = self._kinds = places
        return kinds.get(kind, ())

    def of_kind(self, kind: str) -> list[tuple[str, Section]]:
        """Return (name, section) of each section of a kind, in file order."""
        return [(self.names()[place], self.sections[place]) for place in self.places_of(kind)]

    def branches(self, kind: str, name: str) -> list[Section]:
        """Return all sections with this kind and name if there are several, and at least one of them is in a conditional block.

        Otherwise return an empty list.
        """
        sections = [section for address, section in self.of_kind(kind) if address == name]
        return sections if len(sections) > 1 and self._is_conditional(kind, name) else []

    def _is_conditional(self, kind: str, name: str) -> bool:
        """Return whether any section with this kind and name is in a conditional block."""
        depth = depth_after(map(Line, split_lines(self.preamble)), 0)
        for section in self.sections:
            if depth > 0 and (section.kind, section.name) == (kind, name):
                return True
            depth = depth_after(section.lines, depth) if ".if" in section.text or depth else depth
        return False

    def apart_from(self, other: "Document") -> tuple[slice, slice]:
        """Return (range in this document, range in `other`) of the sections that differ. The documents share all sections around them."""
        return apart(self.sections, other.sections)

    def replace(self, old: Section, new: Section) -> "Document":
        place = self.sections.index(old)
        document = Document(self.preamble, (*self.sections[:place], new, *self.sections[place + 1 :]), self.leads)
        if (old.kind, old.name) == (new.kind, new.name):
            document._index, document._keys, document._kinds = self._index, self._keys, self._kinds
            document._names, document._repeated = self._names, self._repeated
        return document

    def insert(self, section: Section, after: Section | None = None, *, apart: bool = True) -> "Document":
        """Return the document with `section` inserted after the section `after`, or at the end if `after` is None.

        `apart`: insert a blank line above `section`.
        """
        return self.insert_at(section, len(self.sections) if after is None else self.sections.index(after) + 1, apart=apart)

    def insert_at(self, section: Section, place: int, *, apart: bool = True, closed: bool = True) -> "Document":
        """Return the document with `section` inserted at the index `place`.

        `apart`: insert a blank line above `section`. `closed`: insert a blank line below `section`. At the end of a file, `closed` applies
        only if the file ended with a blank line before.
        """
        before, behind = list(self.sections[:place]), self.sections[place:]
        ends_blank = bool(before) and before[-1].kind != BOUNDARY and before[-1].lines[-1].is_blank
        preamble = self.preamble
        if before and before[-1].kind != BOUNDARY:
            before[-1] = _with_final_blank(before[-1]) if apart else _with_line_end(before[-1])
        elif before and before[-1].name:
            mark, end, content = before[-1].text.rpartition(MARK_END)
            before[-1] = before[-1].with_text(mark + end + _with_blank_line(content))
        elif apart:
            preamble = _with_blank_line(preamble)
        is_last = not behind or behind[0].kind == BOUNDARY
        if closed and (ends_blank or not is_last):
            section = _with_final_blank(section)
        section = section.in_file(before[-1].file if before else None)
        leads = dict(self.leads)
        if lead := leads.pop((section.kind, section.name), ""):
            section = section.with_lead(section.lead or lead)
        return Document(preamble, (*before, section, *behind), leads)

    def remove(self, section: Section) -> "Document":
        """Return the document without a section and the comments above it.

        Lines of conditional blocks that extend beyond the section are kept. If the section is the last in its file, the blank line above
        the section is removed as well.
        """
        place = self.sections.index(section)
        left = "".join(line.text for line in section.open_conditionals())
        before, preamble = list(self.sections[:place]), self.preamble
        if left and before:
            before[-1] = before[-1].with_text(before[-1].text + left)
        elif left:
            preamble += left
        elif before and (place + 1 == len(self.sections) or self.sections[place + 1].kind == BOUNDARY) and not section.lines[-1].is_blank:
            lines = before[-1].lines
            if before[-1].kind != BOUNDARY and len(lines) > 1 and lines[-1].is_blank and not lines[-2].is_blank:
                before[-1] = before[-1].with_lines(lines[:-1])
        leads = {**self.leads, (section.kind, section.name): section.lead} if section.lead else self.leads
        return Document(preamble, (*before, *self.sections[place + 1 :]), leads)

    def with_preamble(self, preamble: str, data: bytes | None = None) -> "Document":
        """Return the document with its preamble replaced. `data`: the bytes of the resulting document, if they are known."""
        document = Document(preamble, self.sections, self.leads)
        document._data = data
        document._index, document._names = self._index, self._names
        return document


def _parse_file(text: str, outline: Outline, file: str | None = None, *, at_top: bool = True) -> Document:
    """Parse one file. `at_top`: comments at the top of `text` belong to the file and not to its first section."""
    starts = outline.headers(text)
    if not starts:
        return Document(text, ())
    preamble, lead = _take_lead(text[: starts[0][0]], at_top=at_top)
    sections = []
    ends = [start for start, _, _ in starts[1:]] + [len(text)]
    for i, ((start, kind, name), end) in enumerate(zip(starts, ends, strict=True)):
        body, next_lead = (text[start:end], "") if i + 1 == len(starts) else _take_lead(text[start:end])
        sections.append(Section(kind, name, body, lead=lead, file=file))
        lead = next_lead
    return Document(preamble, sections)


def _with_blank_line(text: str) -> str:
    """Return a text that precedes a section, with a blank line at its end. An empty text remains empty."""
    if not text or text.endswith("\n\n"):
        return text
    return text + ("\n" if text.endswith("\n") else "\n\n")


def _take_lead(text: str, *, at_top: bool = False) -> tuple[str, str]:
    """Split the comment lines at column 0 off the end of a text. Return (text before the comment lines, comment lines).

    `at_top`: the text is the beginning of the file. If all its lines are comments, they belong to the file: return (text, "").
    """
    if not text.endswith("\n") or "#" not in text:
        return text, ""
    lines = split_lines(text[-4096:] if len(text) > 4096 else text)
    place = len(lines)
    while place > 0 and lines[place - 1].startswith("#"):
        place -= 1
    size = sum(map(len, lines[place:]))
    if size == 0 or (place == 0 and (at_top or size < len(text))):
        return text, ""
    return text[:-size], text[-size:]


def _with_final_blank(section: Section) -> Section:
    lines = section.lines
    if lines[-1].is_blank and lines[-1].text.endswith("\n"):
        return section
    return section.with_lines((*_with_line_end(section).lines, Line(section.newline)))


def _with_line_end(section: Section) -> Section:
    *lines, last = section.lines
    return section if last.text.endswith("\n") else section.with_lines((*lines, Line(last.text + section.newline)))
