"""What changes do to objects: whole sections with what stands in them, members, lines that no object expresses."""

import pytest

from haproxy_native.planning.touches import EXPRESSIONS, RAW, Touch, all_touches
from haproxy_native.text.document import Document

START = """\
defaults base
    mode http
backend shop
    balance roundrobin
    http-request deny if { path /a }
    server a 127.0.0.1:1 weight 10
    server b 127.0.0.1:2
"""


def of(before: str, after: str) -> list[Touch]:
    return all_touches(Document.parse(before), Document.parse(after))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("weight 10", "weight 20", [("backend/shop/server/a", "change", {"weight"})]),
        ("    server b 127.0.0.1:2\n", "", [("backend/shop/server/b", "delete", {"address", "port"})]),
        ("balance roundrobin", "balance source", [("backend/shop", "change", {"balance"})]),
        ("    balance roundrobin\n", "    balance roundrobin\n    unheard of\n", [("backend/shop", "change", {"lines"})]),
        ("deny", "tarpit", [("backend/shop/http_request_rule/0", "change", {"type"})]),
    ],
)
def test_members(old: str, new: str, expected: list[tuple[str, str, set[str]]]) -> None:
    found = of(START, START.replace(old, new))
    assert found == [Touch(object_, verb, frozenset(members)) for object_, verb, members in expected]


def test_a_section_with_what_stands_in_it() -> None:
    added = "backend new from base\n    server x 127.0.0.1:1 weight 5\n    http-request deny if TRUE\n    acl one path /a\n    unheard of\n"
    found = {touch.object: (touch.verb, touch.members) for touch in of(START, START + added)}
    assert found["backend/new"] == ("create", {"from", "lines"})
    assert found["backend/new/server/x"] == ("create", {"address", "port", "weight"})
    assert found["backend/new/http_request_rule/0"] == ("create", {"type", "cond", "cond_test"})
    assert found["backend/new/acl/0"][0] == "create" and len(found) == 4
    assert {touch.object: touch.verb for touch in of(START + added, START)} == dict.fromkeys(found, "delete")


def test_a_section_that_is_no_object() -> None:
    assert of(START, START + "namespace_list\n    namespace x\n") == [Touch("namespace_list", "create", frozenset(("lines",)))]


def whole(before: str, after: str) -> dict[str, tuple[str, set[str]]]:
    found = all_touches(Document.parse(before), Document.parse(after))
    return {touch.object: (touch.verb, set(touch.members)) for touch in found}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("weight 10", "weight 20", {"backend/shop/server/a": ("change", {"weight"})}),
        ("    balance", "\tbalance ", {}),
        ("    server b", "    .if 0\n    .endif\n    server b", {"backend/shop": ("change", {"lines"})}),
        ("    server b", "    # better\n    server b", {"backend/shop": ("change", {"lines"})}),
        (
            "127.0.0.1:2\n",
            "127.0.0.1:2 # spare\n",
            {"backend/shop": ("change", {"lines"}), "backend/shop/server/b": ("change", {"metadata"})},
        ),
        ("backend shop", "# the shop\nbackend shop", {"backend/shop": ("change", {"lines"})}),
        ("server b 127.0.0.1:2\n", "server b 127.0.0.1:2\n    server b 127.0.0.1:3\n", {"backend/shop": ("change", {"lines"})}),
        ("defaults base", ".if 0\n.endif\ndefaults base", {RAW: ("change", set())}),
        ("defaults base", "# above\n\ndefaults base", {RAW: ("change", set())}),
    ],
)
def test_what_no_effect_shows(old: str, new: str, expected: dict[str, tuple[str, set[str]]]) -> None:
    assert whole(START, START.replace(old, new)) == expected
    assert whole(START.replace(old, new), START) == expected


def test_a_condition_around_everything() -> None:
    found = whole(
        START + "backend other\n    server c 127.0.0.1:3\n", ".if 0\n" + START + ".endif\nbackend other\n    server c 127.0.0.1:3\n"
    )
    assert found == {RAW: ("change", set()), "backend/shop": ("change", {"lines"})}


def test_the_order_within_a_section_and_of_sections() -> None:
    one, other = "    server a 127.0.0.1:1 weight 10\n", "    server b 127.0.0.1:2\n"
    assert whole(START, START.replace(one + other, other + one)) == {"backend/shop": ("change", {"lines"})}
    first, second = "backend one from base\n    server x 127.0.0.1:1\n", "backend two from base\n    server x 127.0.0.1:1\n"
    assert whole(START + first + second, START + second + first) == {RAW: ("change", set())}
    assert set(whole(START + first, START + second + first)) == {"backend/two", "backend/two/server/x"}


def test_all_of_a_section_that_comes_and_goes() -> None:
    added = "backend new from base\n    .if feature(OPENSSL)\n    server x 127.0.0.1:1 weight 5\n    .endif\n    # a note\n"
    assert whole(START, START + added)["backend/new"] == ("create", {"from", "lines"})
    assert whole(START + added, START)["backend/new"][0] == "delete"


def test_a_section_without_lines() -> None:
    empty = "traces\n"
    assert whole(START, START + empty) == {"traces": ("create", {"lines"})}
    assert whole(START + empty, START) == {"traces": ("delete", {"lines"})}


@pytest.mark.parametrize("line", [".if 0", ".endif", '"${NOPE-frontend}" other', "${NOPE} x", "'$NOPE' x"])
def test_what_reaches_beyond_its_section(line: str) -> None:
    """HAProxy takes `"${NOPE-frontend}" other` for the begin of a section."""
    found = whole(START, START.replace("    server b", f"    {line}\n    server b"))
    found.pop(EXPRESSIONS.object, None)
    assert found == {RAW: ("change", set()), "backend/shop": ("change", {"lines"})}
    new = f"backend new from base\n    {line}\n"
    assert whole(START, START + new)[RAW] == ("change", set())
    within = START.replace(
        "    server b", "    .if 0\n    server c 127.0.0.1:3\n    .endif\n    http-request set-header X $a\n    server b"
    )
    assert RAW not in whole(START, within)
