"""What is expected of a request, and what became of it."""

from typing import Any

import pytest

from haproxy_native.errors import BadRequest
from haproxy_native.features.explain.explanation import AcceptingListener, Explanation, Header, HttpMessage
from haproxy_native.features.routing_tests.run import MOST, cases_of, compared
from haproxy_native.shadow.rewrite import SourceLine

REQUEST = HttpMessage("GET / HTTP/1.1", [Header("host", "a"), Header("x-seen", "1")])
RESPONSE = HttpMessage("HTTP/1.1 200 OK", [Header("Set-Cookie", "a=1"), Header("Set-Cookie", "b=2")])


def found(**changed: Any) -> Explanation:
    given: dict[str, Any] = {"backend": "shop", "server": "one", "servers": None, "answered_by": None, "status": 200, "location": None}
    given |= {"variables": None, "request": REQUEST, "response": RESPONSE}
    return Explanation(listener=AcceptingListener("site", ":80", None, 3), rules=[], unknown=[], **given | changed)


@pytest.mark.parametrize(
    "expect",
    [
        {"frontend": "site", "bind": ":80", "backend": "shop", "server": "one", "status": 200, "closed": False},
        {"request_headers": {"X-Seen": "1", "HOST": ["a"], "x-other": None}},
        {"request_headers": {"X-Seen": 1}},
        {"response_headers": {"set-cookie": ["a=1", "b=2"]}},
    ],
)
def test_as_expected(expect: dict[str, Any]) -> None:
    assert compared(expect, found())[1] == ""


def test_each_difference_is_named() -> None:
    denied = found(
        backend=None, server=None, status=403, request=None, answered_by=SourceLine(None, 5, "http-request deny", "frontend site")
    )
    expect = {"backend": "shop", "status": 200, "answered_by": "http-request deny if x", "request_headers": {"X-Seen": "1"}}
    got, reason = compared(expect, denied)
    assert got == {"backend": None, "status": 403, "answered_by": "http-request deny", "request_headers": {"X-Seen": None}}
    assert reason == (
        "backend is none, not shop; status is 403, not 200; answered_by is http-request deny, not http-request deny if x; "
        "request_headers X-Seen is none, not 1"
    )


def test_the_order_of_several_values_counts() -> None:
    assert compared({"response_headers": {"Set-Cookie": ["b=2", "a=1"]}}, found())[1] != ""
    assert compared({"response_headers": {"Set-Cookie": "a=1"}}, found())[1] != ""


def test_a_closed_connection() -> None:
    assert compared({"closed": True}, found(status=None, server=None, response=None))[1] == ""
    assert compared({"closed": True}, found(status=None))[1] != "", "in mode tcp no server has a status"


def test_names_of_cases() -> None:
    expect = {"status": 200}
    rows: list[dict[str, Any]] = [{"request": {"url": "http://a/"}}, {"request": {"host": "a", "path": "/x", "method": "PUT"}}]
    cases = cases_of([row | {"expect": expect} for row in [*rows, {"name": "own", "request": {}}]], "shop")
    assert [each.name for each in cases] == ["GET http://a/", "PUT a/x", "own"] and {each.test for each in cases} == {"shop"}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"request": {"url": "ftp://a/"}, "expect": {"status": 200}}, "cases.1.request (GET ftp://a/): url in body begins with"),
        ({"request": {"method": "A B"}, "expect": {"status": 200}}, "method in body is not valid in a request"),
        ({"request": {"headers": {"A:": "1"}}, "expect": {"status": 200}}, "headers in body: 'A:' has an invalid name or value"),
        ({"request": {"url": "http://[::1/"}, "expect": {"status": 200}}, "url in body is not a URL"),
        ({"request": {"config": "x"}, "expect": {"status": 200}}, "cases.1.request.config in body"),
        ({"request": {}, "expect": {}}, "cases.1.expect in body is empty"),
    ],
)
def test_what_cannot_be_tested(row: dict[str, Any], said: str) -> None:
    with pytest.raises(BadRequest) as refused:
        cases_of([{"request": {}, "expect": {"status": 200}}, row])
    assert said in str(refused.value)


def test_there_is_an_end() -> None:
    with pytest.raises(BadRequest, match=f"{MOST} at most"):
        cases_of([{"request": {}, "expect": {"status": 200}}] * (MOST + 1))
