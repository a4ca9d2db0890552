"""Names of objects, and patterns of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haproxy_native.editing.object_names import beginning, check_pattern, matches, parsed, reaches, renamed, spelled, within
from haproxy_native.errors import BadRequest
from tests.laws.settings import law

NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1)
KINDS = st.from_regex(r"[a-z][a-z0-9_-]*", fullmatch=True)


@given(st.lists(st.tuples(KINDS, NAMES), min_size=1, max_size=3))
@law(160)
def test_every_name_is_read_as_it_was_written(pairs: list[tuple[str, str]]) -> None:
    parts = tuple(part for pair in pairs for part in pair)
    name = spelled(*parts)
    assert parsed(name) == parts
    assert matches(name, name)
    assert matches("**", name)
    assert matches("/".join("*" for _ in parts), name)
    assert not matches("/".join("*" for _ in parts[1:]), name)


def test_another_name() -> None:
    assert renamed("backend/a/server/s", "backend/a", "backend/b") == "backend/b/server/s" and renamed("map/a", "map/a", "map/b") == "map/b"
    assert renamed("backend/ab", "backend/a", "backend/b") == "backend/ab" and not within("backend/ab", "backend/a")
    assert within("backend/a/server/s", "backend/a") and within("backend/a", "backend/a") and not within("backend/a", "backend/a/server/s")


def test_what_is_encoded() -> None:
    assert spelled("certificate", "@sites/a*b%.pem") == "certificate/@sites%2Fa%2Ab%25.pem"
    assert spelled("backend", "shop", "http_request_rule", 3) == "backend/shop/http_request_rule/3"
    assert spelled("global") == "global"


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("backend/shop", ["backend/shop"], ["backend/shop2", "backend/shop/server/a", "frontend/shop"]),
        ("backend/*", ["backend/shop", "backend/a%2Fb"], ["backend/shop/server/a", "backend"]),
        ("backend/*/server/web*", ["backend/shop/server/web1"], ["backend/shop/server/api", "backend/server/web1"]),
        ("backend/**", ["backend/shop", "backend/shop/server/a"], ["frontend/shop"]),
        ("backend/shop/**", ["backend/shop", "backend/shop/server/a"], ["backend/shop2"]),
        ("**/server/web1", ["backend/shop/server/web1", "server/web1"], ["backend/shop/server/web12"]),
        ("backend/**/web1", ["backend/web1", "backend/shop/server/web1"], ["backend/xweb1"]),
        ("**/web*/**", ["backend/web1/server/a", "web/x", "a/web"], ["backend/shop"]),
        ("map/a%2ab", ["map/a%2Ab"], ["map/axb"]),
        ("map/a%2Fb*", ["map/a%2Fb", "map/a%2Fbc"], ["map/a/bc"]),
        ("map/a.b", ["map/a.b"], ["map/axb"]),
    ],
)
def test_patterns(pattern: str, yes: list[str], no: list[str]) -> None:
    check_pattern(pattern)
    assert [name for name in yes if not matches(pattern, name) or not name.startswith(beginning(pattern))] == []
    assert [name for name in no if matches(pattern, name)] == []


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("backend/shop", ["backend/shop", "backend/shop/server/a"], ["backend/other", "frontend/shop"]),
        ("backend/shop_*/server/*", ["backend/shop_a", "backend/shop_a/server/a"], ["backend/other", "frontend/shop_a"]),
        ("backend/*/server/*", ["backend/x"], ["frontend/x", "backend/x/acl/0"]),
        ("**", ["backend/x", "global"], []),
        ("backend/**", ["backend/x", "backend/x/server/a"], ["frontend/x"]),
        ("**/server/web1", ["backend/x", "frontend/x"], []),
        ("global//log_target/0", ["global"], ["backend/x"]),
    ],
)
def test_what_patterns_reach(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [name for name in yes if not reaches(pattern, name)] == [] and [name for name in no if reaches(pattern, name)] == []


@pytest.mark.parametrize(
    "text", ["", "/", "backend/", "/shop", "backend//x", "Backend/shop", "backend/*", "backend/50%", "backend/shop/ server/a"]
)
def test_what_names_no_object(text: str) -> None:
    with pytest.raises(BadRequest):
        parsed(text)


@pytest.mark.parametrize(
    "text", ["", "/", "backend/", "/shop", "backend//x", "Backend/shop", "50%", "backend/50%", "*/shop/ server", "**//x"]
)
def test_what_matches_no_object(text: str) -> None:
    with pytest.raises(BadRequest, match="names no object"):
        check_pattern(text)
