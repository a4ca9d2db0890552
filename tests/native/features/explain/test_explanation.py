"""What a shadow has shown, as an answer."""

from pathlib import Path

from haproxy_native.features.explain.explanation import AcceptingListener, Explanation, Header, SourceLine, explained
from haproxy_native.shadow.process import RequestOutcome
from haproxy_native.shadow.rewrite import Shadow, rewrite_document
from haproxy_native.text.document import Document

TEXT = """\
frontend site
    mode http
    bind :80
    acl api path_beg /api
    acl api path_beg /rest
    http-request deny if api { rand(2) eq 1 }
    http-request return status 200 if { path /x }
    use_backend shop if api

backend shop
    mode http
    http-request set-header X-Time %[date]
    server one 10.0.0.1:80
"""
SITE = "frontend site"


def explained_by(marks: list[str], **seen: object) -> tuple[Shadow, Explanation]:
    """Of the rules with these numbers among those that left a mark where they apply."""
    document = Document.parse(TEXT)
    shadow = rewrite_document(document, Path("/s"), Path("/"))
    given = {"frontend": "site", "backend": "site", "server": "", "status": 403, "termination": "PR", "last_line": 0, "variables": {}}
    found = RequestOutcome(**{**given, "request": None, "response": b"", **seen}, marks=marks)  # type: ignore[arg-type]
    return shadow, explained(document, shadow, shadow.listeners[0], found, has_states=False)


def marks(*lines: int) -> list[str]:
    """All those of the rules at these lines."""
    shadow, _ = explained_by([])
    return [mark for mark, rule in shadow.rules.items() if rule.place.line in lines]


def test_rules_with_what_of_their_conditions_held() -> None:
    _, found = explained_by(marks(6))
    (rule,) = found.rules
    assert (rule.line, rule.text) == (6, "http-request deny if api { rand(2) eq 1 }")
    assert [(each.term, [line.line for line in each.acl]) for each in rule.because] == [("api", [4, 5]), ("{ rand(2) eq 1 }", [])]
    assert found.listener == AcceptingListener("site", ":80", None, 3)


def test_a_condition_that_held_in_part_is_no_rule_that_applied() -> None:
    _, found = explained_by(marks(6)[:1])
    assert found.rules == []


def test_what_answered_in_the_place_of_a_server() -> None:
    shadow, found = explained_by(marks(6))
    line = next(number for number, place in shadow.places.items() if place.line == 6)
    _, found = explained_by(marks(6, 7), last_line=line)
    assert found.answered_by == SourceLine(None, 6, "http-request deny if api { rand(2) eq 1 }", SITE)
    _, found = explained_by(marks(7), termination="LR", status=200)
    assert found.answered_by is not None and found.answered_by.line == 7
    _, found = explained_by(marks(8), server="one", backend="shop")
    assert (found.answered_by, found.backend, found.server) == (None, "shop", "one")


def test_messages() -> None:
    _, found = explained_by(
        [], status=302, response=b"HTTP/1.1 302 Found\r\nLocation: /a:b\r\n\r\n", request=b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"
    )
    assert found.response is not None and found.response.headers == [Header("Location", "/a:b")]
    assert (found.location, found.request and found.request.line) == ("/a:b", "GET / HTTP/1.1")
    _, found = explained_by([], status=-1)
    assert (found.status, found.response, found.location) == (None, None, None)


def test_what_is_not_known_is_of_the_sections_that_were_passed() -> None:
    _, found = explained_by(marks(6))
    assert [(each.line, each.why) for each in found.unknown] == [(6, "chance")]
    _, found = explained_by(marks(8), backend="shop", server="one")
    assert [(each.line, each.why) for each in found.unknown] == [(6, "chance"), (12, "the time")]


def test_the_status_is_what_the_client_gets() -> None:
    """HAProxy logs a page of statistics that asks for a password as 400."""
    assert explained_by([], status=400, response=b"HTTP/1.1 401 Unauthorized\r\n\r\n")[1].status == 401
    assert explained_by([], status=400)[1].status == 400 and explained_by([], status=-1)[1].status is None
