"""Rights within the rights of another."""

import pytest

from haproxy_native.access.rights import ALL, READ, AccessRule, Rights, includes, predefined
from haproxy_native.errors import Forbidden
from haproxy_native.planning.touches import CHANGE, DELETE, Touch, changed

OWN = AccessRule("backend/*/server/*", frozenset((CHANGE, DELETE)), frozenset(("weight", "port")))
LIMIT = AccessRule("backend/shop_*/**", frozenset((READ, CHANGE)), frozenset(("weight", "maintenance")), reloads=False)


def test_both_permit() -> None:
    rights = Rights(("own",), (OWN,), limit=Rights(("limit",), (LIMIT,)))
    assert not rights.permit([changed("backend/shop_a/server/one", ["weight"])]), "a reload is one of both as well"
    for name, member in (("shop_a", "port"), ("shop_a", "maintenance"), ("other", "weight")):
        with pytest.raises(Forbidden):
            rights.permit([changed(f"backend/{name}/server/one", [member])])
    with pytest.raises(Forbidden):
        rights.permit(iter([Touch("backend/shop_a/server/one", DELETE, frozenset(("weight",)))]))


def test_whole_objects() -> None:
    read, all_but_maps = AccessRule("**"), AccessRule("backend/**")
    rights = Rights((), (read,), limit=Rights((), (all_but_maps,)))
    assert rights.may(READ, "backend/a") and not rights.may(READ, "map/a") and not rights.may(READ, ALL)


@pytest.mark.parametrize(
    ("roles", "role", "is_had"),
    [("editor", "viewer", True), ("admin", "operator", True), ("editor", "operator", False), ("viewer", "editor", False)],
)
def test_whose_rules_are_had(roles: str, role: str, is_had: bool) -> None:
    known = predefined(["backend"])
    assert includes(Rights((roles,), known[roles]), Rights((role,), known[role])) is is_had
