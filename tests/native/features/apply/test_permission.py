"""Permit a declaration only to authors that may change each declared member, even if its value is the present one."""

import pytest

from haproxy_native.access.rights import AccessRule, Rights
from haproxy_native.editing.editor import Editor
from haproxy_native.errors import Forbidden
from haproxy_native.features.apply.apply import permit_claims, permit_owner
from haproxy_native.request_context import Author

EDITOR = Editor()
CHANGE = frozenset(("change",))


RULES = (
    AccessRule("owner/team", CHANGE),
    AccessRule("backend/shop/server/*", CHANGE, frozenset(("weight",))),
    AccessRule("backend/shop/http_request_rule/*", CHANGE),
    AccessRule("map/shop.map", frozenset(("create",))),
    AccessRule("backend/seen"),
)
BOB = Author("bob", rights=Rights(("team",), RULES))


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
    permit_claims(BOB.rights, EDITOR, claims)


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
        permit_claims(BOB.rights, EDITOR, claims)


def test_owners() -> None:
    permit_owner(BOB, "team")
    with pytest.raises(Forbidden, match="owner/other"):
        permit_owner(BOB, "other")
