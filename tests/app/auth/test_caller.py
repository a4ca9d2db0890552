"""With which rights callers act."""

import pytest

from dataplaneapi.auth.caller import Caller, JwtCaller, TokenCaller
from dataplaneapi.auth.tokens import Token
from dataplaneapi.settings.roles import CERTIFICATES, USERS, read_roles
from haproxy_native.access.rights import ALL, READ, SECRETS, Rights
from haproxy_native.errors import Forbidden
from haproxy_native.planning.touches import Touch

ROLES = read_roles({}, {"users": {"ann": "viewer", "root": "admin"}, "certificates": {"node-*": "viewer"}}, [])
ADMIN = Token("1f", "", ("admin",), USERS, "ann", 0.0, 0.0)


def test_of_a_user_or_a_certificate() -> None:
    assert Caller(USERS, "ann").rights(None) is None
    for caller in (Caller(USERS, "ann"), Caller(CERTIFICATES, "node-7")):
        assert (rights := caller.rights(ROLES)) and rights.roles == ("viewer",)
    assert (rights := Caller(USERS, "node-7").rights(ROLES)) and not rights.rules


def test_of_a_token() -> None:
    caller = TokenCaller.of(ADMIN, is_orphan=False)
    rights = caller.rights(ROLES)
    assert caller.name == "token 1f of ann" and rights.roles == ("admin",)
    assert rights.may(READ, ALL) and not rights.may(SECRETS, ALL), "its creator may read alone"


def test_a_token_that_is_no_admin_changes_no_callers() -> None:
    """Also where its creator is one."""
    roles, touched = (
        read_roles({}, {"users": {"root": "admin"}}, [], "own"),
        [Touch("userlist/own/user/root", "change", frozenset(("password",)))],
    )
    for role, may in (("editor", False), ("admin", True)):
        rights = TokenCaller.of(Token("1f", "", (role,), USERS, "root", 0.0, 0.0), is_orphan=False).rights(roles)
        assert rights and rights.allow(touched[0]) is may
        if not may:
            with pytest.raises(Forbidden, match="takes role admin"):
                rights.permit(touched)


@pytest.mark.parametrize(
    ("caller", "why"),
    [
        (TokenCaller.of(ADMIN, is_orphan=True), "token 1f of ann is no longer valid: ann no longer exists"),
        (TokenCaller.of(Token("1f", "", ("viewer",), USERS, "bob", 0.0, 0.0), is_orphan=False), "bob no longer has a role"),
        (TokenCaller.of(Token("1f", "", ("team",), USERS, "ann", 0.0, 0.0), is_orphan=False), "the settings no longer have role team"),
    ],
)
def test_of_one_that_has_stopped(caller: Caller, why: str) -> None:
    rights = caller.rights(ROLES)
    assert rights and not rights.rules and why in rights.why


def test_of_a_jwt() -> None:
    roles = read_roles({}, {"claims": {"ops-*": "operator", "watchers": "viewer", "root": "admin"}}, [])
    caller = JwtCaller.of("ann", ("watchers", "ops-eu", "ops-us"), 60.0, "https://login.example.com")
    assert caller.name == "jwt of ann" and caller.expires == 60.0 and caller.no_tokens
    assert (rights := caller.rights(roles)).roles == ("operator", "viewer") and rights.may(READ, ALL)
    assert not caller.rights(ROLES).rules
    assert not caller.rights(None).rules and "no roles" in caller.rights(None).why


def test_without_roles_a_token_has_no_rights() -> None:
    rights = TokenCaller.of(ADMIN, is_orphan=False).rights(None)
    assert isinstance(rights, Rights) and not rights.rules and rights.why
