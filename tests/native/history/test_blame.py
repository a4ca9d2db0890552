from haproxy_native.history.entries import CONFIGURATION, Entry
from haproxy_native.history.reading import blame
from haproxy_native.request_context import Author
from haproxy_native.text.document import Document

TEXTS = [
    "global\n\nbackend b\n  mode http\n  server a 127.0.0.1:1\n",
    "global\n\nbackend b\n  mode http\n  server a 127.0.0.1:1\n  server b 127.0.0.1:2\n",
    "global\n# comment\n\nbackend b\n  mode tcp\n  server a 127.0.0.1:1\n  server b 127.0.0.1:2\n",
    "global\n\nbackend b\n  mode tcp\n  server b 127.0.0.1:2\n",
]


def steps() -> list[tuple[Entry, bytes, bytes]]:
    entries = [Entry(float(place), place, CONFIGURATION, "live", Author(f"user {place}"), id=place) for place in range(1, len(TEXTS))]
    return [(entry, TEXTS[entry.id - 1].encode(), TEXTS[entry.id].encode()) for entry in entries]


def authors(text: str) -> list[tuple[int, str, int | None]]:
    return [(each.number, each.text, each.entry and each.entry.id) for each in blame(steps(), "backend", "b", Document.parse(text))]


def test_each_line_has_the_entry_that_wrote_it() -> None:
    assert authors(TEXTS[-1]) == [(3, "backend b", None), (4, "  mode tcp", 2), (5, "  server b 127.0.0.1:2", 1)]


def test_what_the_history_has_not_seen_is_nobodys() -> None:
    assert authors(TEXTS[-1] + "  balance first\n")[-1] == (6, "  balance first", None)


def test_a_section_that_is_gone_has_no_lines() -> None:
    assert authors("global\n") == []
