"""Read the history for clients: texts and differences with secrets masked, the author of each line (blame), the entry of a request."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from haproxy_native.commit.change import Content
from haproxy_native.commit.preview import PAST, difference, difference_of_texts
from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.object_names import encoded, parsed, section_of_object
from haproxy_native.editing.secrets import masked_lines, masked_text
from haproxy_native.errors import NotFound, Unusable
from haproxy_native.history.entries import CONFIGURATION, Entry
from haproxy_native.history.history import History
from haproxy_native.history.journal import Journal
from haproxy_native.storage import secret_files
from haproxy_native.text.document import Document
from haproxy_native.text.line_diff import changes
from haproxy_native.text.parts import first_lines
from haproxy_native.text.pieces import decoded, split_lines
from haproxy_native.threads import run_in_thread


@dataclass(frozen=True)
class Blamed:
    """A line of a section, and the last entry that changed the line."""

    # The number in the file, from 1.
    number: int
    text: str
    # None for a line that is older than the history.
    entry: Entry | None

    def masked(self, text: str) -> "Blamed":
        return replace(self, text=text)


def blame(steps: Iterable[tuple[Entry, bytes, bytes]], kind: str, name: str, now: Document) -> Iterator[Blamed]:
    """Yield the lines of a section in `now`, each with the entry that last changed the line.

    `steps`: (entry, configuration before it, configuration after it), the oldest first.
    """
    lines, authors = list[str](), list[Entry | None]()
    for entry, before, after in steps:
        lines, authors = _attribute(lines, authors, _section_lines(before, kind, name), None)
        lines, authors = _attribute(lines, authors, _section_lines(after, kind, name), entry)
    section = now.find(kind, name)
    lines, authors = _attribute(lines, authors, split_lines(section.text) if section else [], None)
    first = first_lines(now)[now.place(section)] if section else 0
    for number, (line, author) in enumerate(zip(lines, authors, strict=True), first):
        yield Blamed(number, line.rstrip("\r\n"), author)


def _attribute(lines: list[str], authors: list[Entry | None], new: list[str], entry: Entry | None) -> tuple[list[str], list[Entry | None]]:
    """Return (the new lines, the entry that last changed each): unchanged lines keep their entry, and all others get `entry`."""
    result, at = list[Entry | None](), 0
    for (start, end), (new_start, new_end) in changes(lines, new):
        result += [*authors[at:start], *([entry] * (new_end - new_start))]
        at = end
    return new, [*result, *authors[at:]]


def _section_lines(data: bytes, kind: str, name: str) -> list[str]:
    section = Document.parse(data).find(kind, name)
    return split_lines(section.text) if section else []


async def text_at(history: History, id_: int) -> str:
    """Return the configuration after an entry, with secrets masked. Raises NotFound."""
    path = str(history.context.current.path)
    data = await history.ask(lambda journal: _text(journal, journal.get(id_).id, path))
    return await run_in_thread(lambda: masked_lines(decoded(data)))


async def entry_of_request(history: History, id_: str, since: float) -> int | None:
    """Return the id of the newest entry of a request since a Unix time; None if there is none or if the journal cannot be read."""
    with suppress(Unusable):
        return await history.ask(Journal.of_request, id_, since)
    return None


async def difference_between(history: History, start: int | None, end: int, object_: str | None) -> str:
    """Return the unified diff of the configuration between two entries, with secrets masked.

    The first configuration is the one after the entry `start`; if `start` is None, the one before the entry `end`. The second configuration
    is the one after the entry `end`. `object_`: compare only the section of this object. Raises NotFound and BadRequest.
    """
    path, section = history.context.current.path, section_of_object(standard_editor(), object_) if object_ else None

    def texts(journal: Journal) -> tuple[bytes, bytes]:
        if start is None:
            return _text(journal, journal.get(end).id, str(path), before=True), _text(journal, end, str(path))
        return _text(journal, journal.get(start).id, str(path)), _text(journal, journal.get(end).id, str(path))

    old, new = await history.ask(texts)

    def compare() -> str:
        before, after = Document.parse(old), Document.parse(new)
        if section is None:
            return masked_lines(difference(before, after, path.name, PAST))
        old_text, new_text = (found.text if (found := document.find(*section)) else "" for document in (before, after))
        return masked_lines(difference_of_texts(old_text, new_text, f"{path.name}, {' '.join(section)}", PAST))

    return await run_in_thread(compare)


async def differences(contents: Sequence[Content]) -> str:
    """Return the unified diff of files, with secrets masked and without private keys."""

    def compare() -> Iterator[str]:
        for content in contents:
            if not content.object:
                before, after = (Document.parse(data or b"") for data in (content.before, content.after))
                yield masked_lines(difference(before, after, content.path.rpartition("/")[2], PAST))
            elif not content.is_kept or any(secret_files.is_secret(data) for data in (content.before, content.after) if data):
                yield f"--- {content.object} ({PAST[0]})\n+++ {content.object} ({PAST[1]})\n"
            else:
                old, new = (decoded(data or b"") for data in (content.before, content.after))
                yield masked_text(difference_of_texts(old, new, content.object, PAST))

    return await run_in_thread(lambda: "".join(compare()))


async def blamed(history: History, object_: str) -> list[Blamed]:
    """Return the current lines of an object's section, with the entries that last changed them. Raises NotFound and BadRequest."""
    kind, name = section_of_object(standard_editor(), object_)
    now, section = history.context.current.document, "/".join([parsed(object_)[0], *([encoded(name)] if name else [])])
    if now.find(kind, name) is None:
        raise NotFound(f"the configuration has no {section}")

    def steps(journal: Journal) -> list[tuple[Entry, bytes, bytes]]:
        touching = [entry for entry in journal.find(section) if entry.kind == CONFIGURATION]
        contents = [(entry, journal.configuration(entry.id)) for entry in reversed(touching)]
        return [(entry, content.before or b"", content.after or b"") for entry, content in contents]

    await history.settled()
    steps_ = await history.ask(steps)
    return await run_in_thread(lambda: [line.masked(masked_lines(line.text)) for line in blame(steps_, kind, name, now)])


def _text(journal: Journal, id_: int, path: str, *, before: bool = False) -> bytes:
    """Return the configuration after an entry; with `before`, the configuration before the entry. Raises NotFound."""
    content = journal.at(id_, path, before=before)
    if content is None or (data := content.before if before else content.after) is None:
        raise NotFound(f"the configuration at entry {id_} is not known")
    return data
