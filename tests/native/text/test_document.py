"""A file as sections: any bytes come back, and an edit of sections changes nothing else."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from haproxy_native.text.document import CONFIGURATION, Document
from haproxy_native.text.section import Section
from tests.laws.settings import law

LINES = [
    *("global", "defaults", "defaults d1", "defaults from d1", "frontend f1", 'frontend f1 # {"a":1}', "backend b1", "backend b1"),
    *("  backend  b2", "listen l1 :80", '"front"end f2', "back\\end b", "frontend'", "program p", "namespace_list", "traces"),
    *("", " ", "# at column 0", "#", "  # indented", "\t# tab", ".if defined(X)", ".elif 1", ".else", ".endif", ".notice x"),
    *("  mode http", '  server s "a b":80 check', "  acl a path \\", "  frontends x", '  log-format "${X}"', "x" * 5000),
    *("\0", "\udcff\udcfe", "é\x85\u2028"),
]
TEXTS = some.lists(some.tuples(some.sampled_from(LINES), some.sampled_from(["\n", "\n", "\n", "\r\n", "\r\r\n"])), max_size=25).map(
    lambda rows: "".join(line + end for line, end in rows)
)
FILES = some.one_of(TEXTS, TEXTS.map(lambda text: text.rstrip("\n")))


def section(text: str = "backend new\n  mode http\n") -> Section:
    return Section("backend", "new", text)


# -- nothing is lost


@law(400)
@given(some.binary(max_size=300))
def test_any_bytes_come_back(data: bytes) -> None:
    document = Document.parse(data)
    assert document.data == data == b"".join(document.pieces())


def test_pieces_of_a_long_file() -> None:
    document = Document.parse("".join(f"backend b{number}\n    # {'ä' * 1000}\n" for number in range(300)).encode() + b"\xff\n")
    pieces = list(document.pieces())
    assert b"".join(pieces) == document.data
    assert len(pieces) > 3


@law(400)
@given(FILES)
def test_any_lines_come_back_whole_and_line_by_line(text: str) -> None:
    document = Document.parse(text)
    assert document.text == text
    by_lines = [Section(s.kind, s.name, lines=s.lines, lead=s.lead) for s in document.sections]
    assert Document(document.preamble, by_lines).text == text
    assert all(s.header.words for s in document.sections)


def test_long_lines_and_long_comments() -> None:
    data = b"#" * 10_000 + b"\n" + b"#x\n" * 5000 + b"global\n  # " + b"y" * 200_000 + b"\n" + b"#z\n" * 5000 + b"backend b"
    document = Document.parse(data)
    assert document.data == data
    assert [s.kind for s in document.sections] == ["global", "backend"]


# -- sections are found as HAProxy finds them


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        ("global\nbackend a\n", [("global", ""), ("backend", "a")]),
        ("  global # x\n\tbackend\ta#b\n", [("global", ""), ("backend", "a")]),
        ('"global"\nback"end" "a b"\n', [("global", ""), ("backend", '"a b"')]),
        ("glob\\al\n", []),
        ("\rglobal\r\nbackend a\r\n", [("global", ""), ("backend", "a")]),
        ("defaults\ndefaults from x\ndefaults y from x\n", [("defaults", ""), ("defaults", ""), ("defaults", "y")]),
        ("backends a\n backend-x\n#backend b\n 'backend' c", [("backend", "c")]),
        ("\ufeffglobal\nbackend a", [("backend", "a")]),
        ("  use_backend a\nfrontend\n", [("frontend", "")]),
        ("backend a \\\nbackend b", [("backend", "a"), ("backend", "b")]),
    ],
)
def test_headers(text: str, sections: list[tuple[str, str]]) -> None:
    assert [(s.kind, s.name) for s in Document.parse(text).sections] == sections


@pytest.mark.parametrize("kind", sorted(CONFIGURATION.kinds))
def test_every_kind(kind: str) -> None:
    assert [s.kind for s in Document.parse(f"{kind} x\n  y\n").sections] == [kind]


def test_names_by_which_sections_are_addressed() -> None:
    document = Document.parse("defaults\nbackend a\ndefaults d\nbackend a\n  x\ndefaults\n")
    assert document.names() == ("unnamed_defaults_1", "a", "d", "a", "unnamed_defaults_2")
    assert document.find("defaults", "unnamed_defaults_2") is document.sections[4]
    assert document.find("backend", "a") is document.sections[1]
    assert document.find("backend", "b") is None
    assert [name for name, _ in document.of_kind("backend")] == ["a", "a"]


def test_repeated_names_are_numbered_where_haproxy_takes_several() -> None:
    proxies = "defaults a\nbackend b\nbackend b\ndefaults a\ndefaults a_2\ndefaults a # c\n"
    document = Document.parse(proxies + "userlist u\nuserlist u\ncrt-store\n")
    assert document.names() == ("a", "b", "b", "a_3", "a_2", "a_4", "u", "u_2", "unnamed_crt_store_1")
    assert document.find("defaults", "a_3") is document.sections[3]
    assert [document.address(section) for section in document.sections] == list(document.names())
    assert document.remove(document.sections[0]).names()[2] == "a"
    branches = Document.parse("global\n.if defined(X)\ndefaults a\n.else\ndefaults a\n  retries 1\n.endif\n")
    assert branches.names() == ("", "a", "a")
    assert branches.branches("defaults", "a") == list(branches.sections[1:])


def test_names_follow_every_edit() -> None:
    document = Document.parse("defaults\nbackend a\ndefaults\n  x\n")
    first, backend, second = document.sections
    assert document.names() == ("unnamed_defaults_1", "a", "unnamed_defaults_2")
    changed = document.replace(second, Section("defaults", "", "defaults\n  y\n"))
    assert changed.names() == document.names()
    assert changed.replace(first, Section("defaults", "d", "defaults d\n")).names() == ("d", "a", "unnamed_defaults_1")
    assert document.remove(first).names() == ("a", "unnamed_defaults_1")
    assert document.insert(Section("backend", "b", "backend b\n"), backend).names() == (
        "unnamed_defaults_1",
        "a",
        "b",
        "unnamed_defaults_2",
    )
    document.drop_caches()
    assert document.names() == ("unnamed_defaults_1", "a", "unnamed_defaults_2")


# -- comments above a header


@pytest.mark.parametrize(
    ("text", "leads", "preamble"),
    [
        ("# file\nglobal\n", [""], "# file\n"),
        ("# file\n\n# own\nglobal\n", ["# own\n"], "# file\n\n"),
        ("global\n# own\n#two\nbackend a\n", ["", "# own\n#two\n"], ""),
        ("global\n# not own\n\nbackend a\n", ["", ""], ""),
        ("global\n  # inner\nbackend a\n", ["", ""], ""),
        ("global\n  # inner\n# own\nbackend a\n", ["", "# own\n"], ""),
        ("global\n.if x\n# own\nbackend a\n", ["", "# own\n"], ""),
        ("# only comments\n# two\n", [], "# only comments\n# two\n"),
        ("", [], ""),
    ],
)
def test_leads(text: str, leads: list[str], preamble: str) -> None:
    document = Document.parse(text)
    assert ([s.lead for s in document.sections], document.preamble) == (leads, preamble)


# -- edits


@law(200)
@given(FILES, some.data())
def test_replaced_section_changes_nothing_else(text: str, data: some.DataObject) -> None:
    document = Document.parse(text)
    if not document.sections:
        return
    old = data.draw(some.sampled_from(document.sections))
    place = next(i for i, each in enumerate(document.sections) if each is old)
    new = document.replace(old, section("backend new\n"))
    assert new.sections[place].text == "backend new\n"
    assert [new.preamble, *new.sections[:place], *new.sections[place + 1 :]] == [
        document.preamble, *document.sections[:place], *document.sections[place + 1 :],
    ]  # fmt: skip


@law(200)
@given(FILES, some.data())
def test_removed_section_takes_its_lines_and_leaves_the_rest(text: str, data: some.DataObject) -> None:
    document = Document.parse(text)
    if not document.sections:
        return
    old = data.draw(some.sampled_from(document.sections))
    place = next(i for i, each in enumerate(document.sections) if each is old)
    kept = "".join(line.text for line in old.open_conditionals())
    before = document.preamble + "".join(s.lead + s.text for s in document.sections[:place])
    after = "".join(s.lead + s.text for s in document.sections[place + 1 :])
    removed = document.remove(old).text
    if not kept and not after and removed != before:
        # The blank line that set the last section apart.
        assert re.fullmatch(r"[ \t\r]*\n", before.removeprefix(removed)), (before, removed)
    else:
        assert removed == before + kept + after


@law(200)
@given(FILES)
def test_a_section_added_at_the_end_goes_without_a_trace(text: str) -> None:
    document = Document.parse(text)
    if not document.sections or not text.endswith("\n"):
        return
    longer = document.insert(section())
    assert longer.remove(longer.sections[-1]).text == text


@law(200)
@given(FILES, some.data())
def test_inserted_section_leaves_every_line_in_its_order(text: str, data: some.DataObject) -> None:
    document = Document.parse(text)
    after = data.draw(some.sampled_from(document.sections)) if document.sections else None
    new = document.insert(section(), after).text
    lines = [line for line in text.split("\n") if line.strip(" \t\r")]
    left = [line for line in new.split("\n") if line.strip(" \t\r")]
    at = left.index("backend new")
    assert [line.rstrip("\r") for line in left[:at] + left[at + 2 :]] == [line.rstrip("\r") for line in lines]
    assert left[at + 1] == "  mode http"
    assert at == 0 or re.search(r"\n[ \t\r]*\n\Z", new[: new.index("backend new")])


@law(200)
@given(FILES)
def test_what_an_edit_made_is_parsed_alike(text: str) -> None:
    document = Document.parse(text)
    for changed in (document.insert(section()), *(document.remove(s) for s in document.sections)):
        again = Document.parse(changed.text)
        assert [(s.kind, s.name) for s in again.sections] == [(s.kind, s.name) for s in changed.sections]
        assert again.text == changed.text


def test_inserted_section_stands_one_blank_line_apart() -> None:
    cases = {
        "": "backend new\n  mode http\n",
        "# file\n": "# file\n\nbackend new\n  mode http\n",
        "# file": "# file\n\nbackend new\n  mode http\n",
        "global\n  daemon": "global\n  daemon\n\nbackend new\n  mode http\n",
        "global\n\n\n": "global\n\n\nbackend new\n  mode http\n\n",
        "global\r\n  daemon\r\n": "global\r\n  daemon\r\n\r\nbackend new\n  mode http\n",
    }
    assert {old: Document.parse(old).insert(section()).text for old in cases} == cases


def test_the_extent_of_a_section_is_known_with_the_index() -> None:
    document = Document.parse(b"global\n\nbackend a\n  mode http\n\nbackend b\n")
    assert document.extent("backend", "a") == document.size
    found = document.find("backend", "a")
    assert found
    assert document.extent("backend", "a") == len(found.text) < document.size
    assert document.extent("backend", "none") == 0
    document.drop_caches()
    assert document.extent("backend", "a") == document.size
