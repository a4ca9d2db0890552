"""Places as callers see them."""

from haproxy_native.references.lookups import Lost
from haproxy_native.references.naming import ReferenceFormatter, ReferenceRow
from tests.native.references.sample import found


def test_rows_have_object_line_and_text() -> None:
    references = found("backend/shop")
    rows = ReferenceFormatter(references.document, "/etc/h.cfg", lambda path: "map/hosts.map" if path == "/x/hosts.map" else "")
    places = rows.format_references(references, with_definitions=True)
    assert places[0] == ReferenceRow(
        "frontend/site", "/etc/h.cfg", 18, "frontend site", 'use_backend "shop" if api or !admin   # shop', "line"
    )
    text = references.document.text.splitlines()
    assert all(text[row.line - 1].strip() == row.text for row in places if row.section)
    assert [(row.object, row.line, row.text) for row in places if not row.section] == [
        ("file", 1, ""),
        ("map/hosts.map", 1, "a shop"),
        ("map/hosts.map", 4, "c\tshop"),
    ]
    assert len(places) == len(set(places)) and ("backend/shop", "definition") in [(row.object, row.how) for row in places]


def test_what_is_lost_has_a_reason() -> None:
    references = found("backend/shop")
    rows = ReferenceFormatter(references.document, "/etc/h.cfg", lambda path: "")
    in_file, in_line = rows.format_lost([Lost("why", path="/x/a.lua", line=2, text="x"), Lost("because", section_index=4, line=7)])
    assert (in_file.object, in_file.line, in_file.text, in_file.why) == ("file", 2, "", "why")
    assert (in_line.object, in_line.why) == ("frontend/site", "because")
