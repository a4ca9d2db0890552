"""What may be declared: what may be changed, also where it is as declared."""

from collections.abc import Iterator

import pytest

from haproxy_native.access.rights import Rights, Rule
from haproxy_native.apply.permission import permit_claims, permit_owner
from haproxy_native.editing.editor import Editor
from haproxy_native.errors import Forbidden
from haproxy_native.request_context import Author, author

EDITOR = Editor()
CHANGE = frozenset(("change",))


@pytest.fixture
def team() -> Iterator[None]:
    rules = (
        Rule("owner/team", CHANGE),
        Rule("backend/shop/server/*", CHANGE, frozenset(("weight",))),
        Rule("backend/shop/http_request_rule/*", CHANGE),
        Rule("map/shop.map", frozenset(("create",))),
        Rule("backend/seen"),
    )
    token = author.set(Author("bob", rights=Rights(("team",), rules)))
    yield
    author.reset(token)


@pytest.mark.usefixtures("team")
@pytest.mark.parametrize(
    "claims",
    [
        {"backend/shop/server/a": {"", "weight"}},
        {"backend/shop": {"http_request_rule_list"}},
        {"map/shop.map/entry/x": {"", "value"}},
        {"backend/seen": {""}},
    ],
)
def test_what_may_be_declared(claims: dict[str, set[str]]) -> None:
    permit_claims(EDITOR, claims)


@pytest.mark.usefixtures("team")
@pytest.mark.parametrize(
    "claims",
    [
        {"backend/shop/server/a": {"port"}},
        {"backend/shop": {"balance"}},
        {"map/other.map/entry/x": {"value"}},
        {"backend/other": {""}},
        {"backend/seen": {"balance"}},
    ],
)
def test_what_may_not(claims: dict[str, set[str]]) -> None:
    with pytest.raises(Forbidden, match="team may not change"):
        permit_claims(EDITOR, claims)


@pytest.mark.usefixtures("team")
def test_owners() -> None:
    permit_owner("team")
    with pytest.raises(Forbidden, match="owner/other"):
        permit_owner("other")
