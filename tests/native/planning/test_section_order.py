"""Which sections correspond, and which order HAProxy does not look at."""

import pytest

from haproxy_native.planning.section_order import keys_of, pairs, sections_of
from haproxy_native.text.document import Document

GLOBAL, DEFAULTS, A, B, F = "global\n", "defaults d\n  mode http\n", "backend a\n", "backend b\n", "frontend f\n"
GUARDED = "backend g\n.if feature(LUA)\n  server s 127.0.0.1:1\n.endif\n"


def sections(*texts: str):
    return sections_of(Document.parse("\n".join(texts)))


SAME = [
    ("as they were", [GLOBAL, A, B], [GLOBAL, A, B]),
    ("swapped", [GLOBAL, DEFAULTS, A, B, F], [GLOBAL, DEFAULTS, F, B, A]),
    ("one kind each side", [A, DEFAULTS, B, F], [A, DEFAULTS, F, B]),
    ("conditions in their places", [GUARDED, A], [GUARDED, A]),
    ("two of one name in their places", [A, A, B], [A, A, B]),
    ("others beside them", [A, A, B, F], [A, A, F, B]),
]
OTHERWISE = [
    ("gone", [A, B], [A]),
    ("new", [A], [A, B]),
    ("another", [A, B], [A, F]),
    ("global", [GLOBAL, A], [A, GLOBAL]),
    ("over defaults, where an implicit `from` changes", [A, DEFAULTS, B], [DEFAULTS, A, B]),
    ("defaults", [DEFAULTS, "defaults e\n", A], ["defaults e\n", DEFAULTS, A]),
    ("over a section of certificates", [A, "crt-store\n", B], ["crt-store\n", A, B]),
    ("conditions", [GUARDED, A], [A, GUARDED]),
    ("two of one name", [A, B, A], [A, A, B]),
]


@pytest.mark.parametrize(("old", "new"), [row[1:] for row in SAME], ids=[row[0] for row in SAME])
def test_each_with_what_it_becomes(old: list[str], new: list[str]) -> None:
    found = pairs(sections(*old), sections(*new))
    assert found is not None
    assert [(one.kind, one.name) for one, _ in found] == [(other.kind, other.name) for _, other in found]
    assert [other.text for _, other in found] == [section.text for section in sections(*new)]
    assert len({id(one) for one, _ in found}) == len(old)


@pytest.mark.parametrize(("old", "new"), [row[1:] for row in OTHERWISE], ids=[row[0] for row in OTHERWISE])
def test_an_order_that_counts(old: list[str], new: list[str]) -> None:
    assert pairs(sections(*old), sections(*new)) is None


def test_keys() -> None:
    assert keys_of(Document.parse(GLOBAL + A)) == [("global", ""), ("backend", "a")]
