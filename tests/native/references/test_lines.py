"""Which lines name an object."""

import pytest

from haproxy_native.errors import BadRequest, NotFound
from tests.native.references.sample import found, lines


@pytest.mark.parametrize(
    ("object_", "count"),
    [
        ("frontend/site/acl/api", 4),
        ("userlist/people", 1),
        ("userlist/people/user/ann", 1),
        ("userlist/people/group/admins", 2),
        ("peer_section/mates", 2),
        ("peer_section/mates/table/seen", 1),
        ("peer_section/mates/peer_entry/me", 1),
        ("stick_table/shop", 2),
        ("stick_table/mates%2Fseen", 1),
        ("resolver/dns", 1),
        ("frontend/site/filter/slow", 1),
        ("backend/shop/server/web1", 3),
        ("backend/shop2/server/web1", 0),
        ("defaults/d", 3),
    ],
)
def test_each_kind(object_: str, count: int) -> None:
    assert len(lines(found(object_))) == count, lines(found(object_))


def test_proxies_that_take_their_defaults_from_the_place_are_implicit() -> None:
    assert [line for line in lines(found("defaults/d")) if line.startswith("implicit")] == ["implicit: backend shop"]


@pytest.mark.parametrize(
    ("object_", "error", "words"),
    [
        ("backend/shp", NotFound, "nearest is backend/shop"),
        ("stick_table/shop2", NotFound, "no proxy of that name has a stick-table line"),
        ("frontend/site/bind/c", NotFound, "does not exist"),
        ("planet/earth", BadRequest, "has no references"),
        ("backend", BadRequest, "has no references"),
    ],
)
def test_what_is_not_there(object_: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        found(object_)
