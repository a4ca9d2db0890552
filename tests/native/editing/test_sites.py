"""A frontend and its backends as one thing."""

from typing import Any

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.editing.sites import Sites
from haproxy_native.errors import BadValue, Exists, Missing, OtherName
from haproxy_native.text.document import Document

TEXT = """\
frontend shop
    # the bind
    bind 127.0.0.1:80 name l1
    maxconn 10   # few
    option httplog
    use_backend img if { path_beg /img }   # pictures
    use_backend %[req.hdr(host)]
    default_backend main

frontend other
    bind 127.0.0.1:81
    use_backend shared if { path / }

backend main
    balance roundrobin
    timeout server 3s
    server s1 127.0.0.1:1

backend img
    server i1 127.0.0.1:2

backend shared
    mode http
"""
SHOP = {
    "name": "shop",
    "service": {"maxconn": 10, "listeners": [{"name": "l1", "address": "127.0.0.1", "port": 80}]},
    "farms": [
        {
            "name": "main",
            "use_as": "default",
            "balance": {"algorithm": "roundrobin"},
            "servers": [{"name": "s1", "address": "127.0.0.1", "port": 1}],
        },
        {
            "name": "img",
            "use_as": "conditional",
            "cond": "if",
            "cond_test": "{ path_beg /img }",
            "servers": [{"name": "i1", "address": "127.0.0.1", "port": 2}],
        },
    ],
}
DOCUMENT = Document.parse(TEXT)


@pytest.fixture(scope="module")
def sites() -> Sites:
    return Sites(Editor())


def replaced(sites: Sites, body: dict[str, Any]) -> str:
    return sites.replace(DOCUMENT, sites.editor.resources["sites"], None, body["name"], body).text


def without(*lines: str, text: str = TEXT) -> str:
    for line in lines:
        assert line in text
        text = text.replace(line, "")
    return text


def test_what_is_shown(sites: Sites) -> None:
    resource = sites.editor.resources["sites"]
    assert sites.get_object(DOCUMENT, resource, None, "shop") == SHOP
    assert [site["name"] for site in sites.list_objects(DOCUMENT, resource)] == ["shop", "other"]
    with pytest.raises(Missing, match="missing object: Site none does not exist"):
        sites.get_object(DOCUMENT, resource, None, "none")


def test_saying_the_same_changes_nothing(sites: Sites) -> None:
    assert replaced(sites, SHOP) == TEXT


def test_what_a_site_does_not_show_stays(sites: Sites) -> None:
    body = SHOP | {"service": SHOP["service"] | {"maxconn": 20}}
    assert replaced(sites, body) == TEXT.replace("maxconn 10 ", "maxconn 20 ")


def test_a_backend_that_is_named_no_more_leaves(sites: Sites) -> None:
    body = SHOP | {"farms": SHOP["farms"][:1]}
    gone = without("    use_backend img if { path_beg /img }   # pictures\n", "backend img\n    server i1 127.0.0.1:2\n\n")
    assert replaced(sites, body) == gone


def test_a_backend_that_another_frontend_uses_stays(sites: Sites) -> None:
    shared = {"name": "shared", "use_as": "conditional", "cond": "if", "cond_test": "{ path /s }", "mode": "http"}
    text = replaced(sites, SHOP | {"farms": [*SHOP["farms"], shared]})
    assert "    use_backend shared if { path /s }\n" in text
    document = sites.delete(Document.parse(text), sites.editor.resources["sites"], None, "shop")
    assert [(each.kind, each.name) for each in document.sections] == [("frontend", "other"), ("backend", "shared")]


def test_an_unconditional_rule_that_stands_may_stay(sites: Sites) -> None:
    text = TEXT.replace("use_backend img if { path_beg /img }", "use_backend img")
    body = sites.get_object(Document.parse(text), sites.editor.resources["sites"], None, "shop")
    assert sites.replace(Document.parse(text), sites.editor.resources["sites"], None, "shop", body).text == text


def test_the_name_of_a_site_is_that_of_the_path(sites: Sites) -> None:
    with pytest.raises(OtherName, match="name in body is 'other'"):
        sites.replace(DOCUMENT, sites.editor.resources["sites"], None, "shop", SHOP | {"name": "other"})


def test_a_listener_without_a_name_gets_that_of_its_address(sites: Sites) -> None:
    body = {"name": "new", "service": {"listeners": [{"address": "127.0.0.1", "port": 90}]}}
    made = sites.create(DOCUMENT, sites.editor.resources["sites"], None, body)
    assert "    bind 127.0.0.1:90 name 127.0.0.1:90\n" in made.text


def test_new_farms_in_their_order(sites: Sites) -> None:
    farms = [{"name": name, "use_as": "conditional", "cond": "if", "cond_test": f"{{ path /{name} }}"} for name in ("b", "a")]
    made = sites.create(DOCUMENT, sites.editor.resources["sites"], None, {"name": "new", "farms": farms})
    assert sites.get_object(made, sites.editor.resources["sites"], None, "new") == {"name": "new", "farms": farms}


@pytest.mark.parametrize(
    ("body", "error", "expected"),
    [
        ({"name": "shop"}, Exists, "frontend shop already exists"),
        ({"name": "n", "farms": [{"name": "img", "use_as": "default"}]}, Exists, "backend img already exists"),
        ({"name": "n", "farms": [{"name": x, "use_as": "default"} for x in "ab"]}, BadValue, "Multiple default backends found in site: n"),
        (
            {"name": "n", "farms": [{"name": "a", "use_as": "default"}, {"name": "a", "use_as": "conditional", "mode": "tcp"}]},
            BadValue,
            "farm a is given twice",
        ),
        ({"name": "n", "farms": [{"name": "a", "use_as": "conditional", "cond": "if"}]}, BadValue, "cond_test in body is required"),
    ],
)
def test_refusals(sites: Sites, body: dict[str, Any], error: type[Exception], expected: str) -> None:
    with pytest.raises(error, match=expected):
        sites.create(DOCUMENT, sites.editor.resources["sites"], None, body)
