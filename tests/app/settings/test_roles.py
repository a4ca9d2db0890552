"""Roles as the settings file has them."""

from typing import Any

import pytest

from dataplaneapi.settings.roles import CERTIFICATES, SPIFFE, USERS, WrongRoles, read_roles
from haproxy_native.access.rights import AccessRule

ADMIN = [{"name": "ann", "role": "admin"}]
RULE = {"objects": "backend/shop_*/server/*", "fields": ["weight"], "may": ["read", "change"], "reload": "never", "max_objects": 5}


def test_none() -> None:
    assert read_roles({}, {}, [{"name": "ann"}]) is None


def test_rules_and_owners() -> None:
    owners = {"users": {"bob": ["ci", "viewer"]}, "certificates": {"node-*": "ci"}, "spiffe": {"spiffe://td/ns/a*": "viewer"}}
    roles = read_roles({"ci": [RULE]}, owners, ADMIN)
    assert roles
    rule = AccessRule("backend/shop_*/server/*", frozenset(("read", "change")), frozenset(("weight",)), reloads=False, most=5)
    assert roles.rights(USERS, "bob").rules == (rule, AccessRule("**")) and roles.rights(USERS, "ann").roles == ("admin",)
    assert roles.rights(CERTIFICATES, "node-7").rules == (rule,) and not roles.rights(CERTIFICATES, "other").rules
    assert roles.rights(SPIFFE, "spiffe://td/ns/a/sa/b").roles == ("viewer",) and not roles.rights(USERS, "node-7").rules
    assert not roles.rights(USERS, "").rules


def test_a_caller_without_a_name_is_meant_by_no_pattern() -> None:
    roles = read_roles({}, {"certificates": {"*": "viewer"}, "users": {"": "admin", "root": "admin"}}, [])
    assert roles and roles.rights(CERTIFICATES, "a").roles == ("viewer",)
    assert not roles.rights(CERTIFICATES, "").rules and not roles.rights(USERS, "").rules


def test_the_userlist_of_callers() -> None:
    of = {"users": {"root": "admin"}}
    given = [read_roles({}, of, users, userlist) for users, userlist in (([], "a/b"), (ADMIN, "a/b"), ([], ""))]
    assert [roles and roles.rights(USERS, "root").userlist for roles in given] == ["userlist/a%2Fb", "", ""]


@pytest.mark.parametrize(
    ("roles", "owners", "users", "text"),
    [
        ({"ci": [RULE]}, {}, [], "nobody has the role admin"),
        ({"ci": [RULE]}, {"users": {"x": "ci"}}, [{"name": "ann"}], "nobody has the role admin"),
        ({"admin": [RULE]}, {}, ADMIN, "admin is predefined"),
        ({"ci": RULE}, {}, ADMIN, "ci must be a list of rules"),
        ({"ci": ["x"]}, {}, ADMIN, "a rule must be a map"),
        ({"ci": [{**RULE, "object": "x"}]}, {}, ADMIN, "unknown key 'object' in a rule; expected one of objects, may"),
        ({"ci": [{**RULE, "may": "read"}]}, {}, ADMIN, "may must be as in"),
        ({"ci": [{**RULE, "may": ["write"]}]}, {}, ADMIN, "unknown verb 'write' in may; expected one of read, create"),
        ({"ci": [{"may": ["read"]}]}, {}, ADMIN, "a rule must have objects"),
        ({"ci": [{**RULE, "reload": "no"}]}, {}, ADMIN, "reload must be any or never, not 'no'"),
        ({"ci": [{**RULE, "max_objects": 0}]}, {}, ADMIN, "max_objects must be at least 1"),
        ({"ci": [{**RULE, "max_objects": True}]}, {}, ADMIN, "max_objects must be as in"),
        ({}, {"users": {"bob": "ci"}}, ADMIN, "unknown role 'ci' of bob; expected one of viewer, operator"),
        ({}, {"users": ["bob"]}, ADMIN, "users must be a map"),
        ({}, {"users": {"bob": 7}}, ADMIN, "bob must have a role or a list of roles"),
        ({}, {"people": {"bob": "viewer"}}, ADMIN, "unknown group people; expected one of users, certificates"),
    ],
)
def test_what_is_wrong(roles: dict[str, Any], owners: dict[str, Any], users: list[dict[str, Any]], text: str) -> None:
    with pytest.raises(WrongRoles, match=text):
        read_roles(roles, owners, users)
