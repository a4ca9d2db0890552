"""Rules of roles against what changes touch."""

import pytest

from haproxy_native.access.rights import AccessRule, Rights, predefined, rights_of
from haproxy_native.errors import Forbidden
from haproxy_native.planning.touches import Touch

WEIGHTS = AccessRule("backend/shop_*/server/*", frozenset(("read", "change")), frozenset(("weight", "maintenance")), reloads=False)
TEAM = AccessRule("backend/shop_*", frozenset(("read", "create", "change", "delete")))


def touch(object_: str, verb: str, *members: str) -> Touch:
    return Touch(object_, verb, frozenset(members))


def rights(*rules: AccessRule) -> Rights:
    return Rights(("ci",), rules)


@pytest.mark.parametrize(
    ("rule", "touched", "may_reload"),
    [
        (WEIGHTS, [touch("backend/shop_a/server/one", "change", "weight")], False),
        (WEIGHTS, [touch("backend/shop_a/server/one", "change", "weight", "maintenance")], False),
        (TEAM, [touch("backend/shop_a/server/one", "change", "port"), touch("backend/shop_b", "delete", "balance")], True),
        (TEAM, [], True),
    ],
)
def test_what_is_allowed(rule: AccessRule, touched: list[Touch], may_reload: bool) -> None:
    assert rights(rule).permit(touched) is may_reload


@pytest.mark.parametrize(
    ("rule", "touched", "text"),
    [
        (
            WEIGHTS,
            touch("backend/shop_a/server/one", "change", "weight", "port"),
            r"change port of backend/shop_a/server/one; .*fields: \[port\]",
        ),
        (WEIGHTS, touch("backend/shop_a/server/one", "delete", "weight"), "may not delete backend/shop_a/server/one; .*may: .delete"),
        (WEIGHTS, touch("backend/shop_a", "change", "balance"), r"\{objects: backend/shop_a, may: \[change\], fields: \[balance\]\}"),
        (WEIGHTS, touch("backend/other/server/one", "change", "weight"), "change weight of backend/other/server/one"),
        (TEAM, touch("spoe/a", "change", "*"), r"may not change spoe/a; a rule that allows it: \{objects: spoe/a, may: \[change\]\}"),
        (TEAM, touch("confirmation/1", "change"), "role ci may not change confirmation/1;"),
        (TEAM, touch("backend/shop", "create"), "role ci may not create backend/shop;"),
        (TEAM, touch("frontend/shop_a", "change", "x"), "frontend/shop_a"),
    ],
)
def test_what_is_not(rule: AccessRule, touched: Touch, text: str) -> None:
    with pytest.raises(Forbidden, match=text):
        rights(rule).permit([touch("backend/shop_a/server/two", "change", "weight"), touched])


def test_the_users_of_the_api_are_for_admins() -> None:
    """Whatever the rules say, also those of a token."""
    every = frozenset(("read", "create", "change", "delete"))
    almost, user = (
        Rights(("ci",), (AccessRule("**", every), AccessRule("userlist/own/**", every)), userlist="userlist/own"),
        "userlist/own/user/root",
    )
    admin = Rights(("admin",), predefined(())["admin"], userlist="userlist/own")
    for object_ in ("userlist/own", user, "userlist/own/group/g"):
        touched = touch(object_, "change", "password")
        for limited in (almost, Rights(("admin",), predefined(())["admin"], limit=almost)):
            assert not limited.allow(touched)
            with pytest.raises(Forbidden, match=f"may not change {object_}: .*takes role admin"):
                limited.permit([touched])
        assert admin.allow(touched) and admin.permit([touched])
    assert almost.may_read(user) and almost.permit([touch("userlist/owner/user/root", "change", "password")])


def test_a_reload_for_nothing() -> None:
    reading, states = AccessRule("**"), AccessRule("backend/**", frozenset(("change",)), reloads=False)
    assert not rights(reading).permit([]) and not rights(reading, states).permit([]) and rights(reading, states, TEAM).permit([])


def test_created_and_deleted_with_members_that_are_all_among_the_fields() -> None:
    rule = AccessRule("backend/*/server/*", frozenset(("create", "delete")), frozenset(("address", "port")))
    rights(rule).permit([touch("backend/b/server/s", "create", "address"), touch("backend/b/server/s", "delete", "address", "port")])
    with pytest.raises(Forbidden):
        rights(rule).permit([touch("backend/b/server/s", "create", "address", "check")])


def test_how_many_objects() -> None:
    servers = [touch(f"backend/shop_a/server/s{number}", "change", "weight") for number in range(4)]
    limited = AccessRule("backend/*/server/*", frozenset(("change",)), most=2)
    rights(limited).permit(servers[:2])
    with pytest.raises(Forbidden, match="may change 2 of backend/.* with one change, and backend/shop_a/server/s2 is one more"):
        rights(limited).permit(servers)
    rights(
        limited,
        AccessRule("backend/shop_a/server/s3", frozenset(("change",))),
        AccessRule("backend/shop_a/server/s2", frozenset(("change",))),
    ).permit(servers)


def test_rules_add_up() -> None:
    both = rights(WEIGHTS, AccessRule("backend/shop_a/server/one", frozenset(("change",)), frozenset(("weight",))))
    assert both.permit([touch("backend/shop_a/server/one", "change", "weight")]) is True
    assert both.permit([touch("backend/shop_a/server/two", "change", "weight")]) is False
    apart = rights(*(AccessRule("backend/b", frozenset(("change",)), frozenset((name,))) for name in ("mode", "balance")))
    apart.permit([touch("backend/b", "change", "mode", "balance")])


def test_predefined_roles() -> None:
    roles = predefined(["backend", "global", "map"])
    of = lambda name: rights_of([(name, roles[name])])  # noqa: E731
    weight, deletion = touch("backend/b/server/s", "change", "weight"), touch("backend/b", "delete", "mode")
    for name, allowed in {"viewer": [], "operator": [weight], "editor": [weight, deletion], "admin": [weight, deletion]}.items():
        for each in (weight, deletion, touch("token/1", "create")):
            if each in allowed or name == "admin":
                of(name).permit([each])
            else:
                with pytest.raises(Forbidden):
                    of(name).permit([each])
    assert of("editor").permit([touch("global", "change", "maxconn")]) and of("viewer").may("read", "backend/b")
    assert not of("viewer").may("secrets", "userlist/u") and of("admin").may("secrets", "userlist/u")
    with pytest.raises(Forbidden, match="a caller without a role may not change"):
        rights_of([]).permit([weight])


def test_by_itself() -> None:
    one = touch("backend/shop_a/server/one", "change", "weight")
    assert rights(WEIGHTS).allow(one) and not rights(WEIGHTS).allow(touch(one.object, "change", "port"))
    assert rights(WEIGHTS).knows(one.object) and not rights(WEIGHTS).knows("backend/shop_a")
    narrowed = Rights(("ci",), (WEIGHTS, TEAM), limit=rights(WEIGHTS))
    assert narrowed.allow(one) and not narrowed.allow(touch(one.object, "change", "port"))
    assert narrowed.knows(one.object) and not narrowed.knows("backend/shop_a")
