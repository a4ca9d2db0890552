"""Which listener takes a request, and what is sent to it."""

from dataclasses import replace

import pytest

from haproxy_native.errors import BadRequest
from haproxy_native.features.explain.question import Question, addresses, client_request, offers_http_2, other_listeners, question_of
from haproxy_native.shadow.rewrite import FrontendListener, SourceLine


def listener(frontend: str, address: str, *, tls: bool = False, mode: str = "http", name: str = "") -> FrontendListener:
    return FrontendListener(
        frontend, SourceLine(None, 1, f"bind {address}", f"frontend {frontend}"), address, name, f"b{address}", tls, mode
    )


PLAIN, TLS = listener("site", ":80,10.0.0.1:8080-8090"), listener("tls", "*:443", tls=True, name="https")
STREAM = listener("stream", "[::1]:5432", mode="tcp")
LISTENERS = [PLAIN, TLS, STREAM]


@pytest.mark.parametrize(
    ("question", "expected", "destination"),
    [
        (Question("http://a/"), PLAIN, ("192.0.2.2", 80)),
        (Question("https://a/"), TLS, ("192.0.2.2", 443)),
        (Question("http://a:8085/"), PLAIN, ("10.0.0.1", 8085)),
        (Question("http://a:5432/"), STREAM, ("192.0.2.2", 5432)),
        (Question("http://a:5432/", source="2001:db8::9"), STREAM, ("::1", 5432)),
        (Question("/", host="a", tls=True), TLS, ("192.0.2.2", 443)),
        (Question("http://a/", frontend="tls"), TLS, ("192.0.2.2", 443)),
        (Question("http://a/", bind="https"), TLS, ("192.0.2.2", 443)),
        (Question("http://a/", bind="[::1]:5432"), STREAM, ("192.0.2.2", 5432)),
        (Question("http://a/", bind="10.0.0.1:8080-8090"), PLAIN, ("10.0.0.1", 8080)),
        (Question("http://a:8085/", bind=":80"), PLAIN, ("192.0.2.2", 80)),
        (Question("http://10.0.0.1:8085/"), PLAIN, ("10.0.0.1", 8085)),
        (Question("http://198.51.100.7/"), PLAIN, ("198.51.100.7", 80)),
    ],
)
def test_the_listener(question: Question, expected: FrontendListener, destination: tuple[str, int]) -> None:
    found = client_request(question, LISTENERS)
    assert (found.listener, found.destination) == (expected, destination)


def test_several_on_one_port() -> None:
    """What the URL does not say is not guessed: the others are named."""
    one, two, wide = listener("a", "10.0.0.1:80"), listener("b", "tcp4@10.0.0.2:80,10.0.0.3:80-90"), listener("c", ":80,:8000-8010")
    tls = listener("d", "10.0.0.9:80", tls=True)
    there = [one, two, wide, tls]

    def taken(url: str, **more: str) -> tuple[FrontendListener, list[FrontendListener], str]:
        question = Question(url, **more)  # type: ignore[arg-type]
        found = client_request(question, there)
        return found.listener, other_listeners(question, found.listener, there), found.destination[0]

    assert taken("http://shop/") == (one, [two, wide], "10.0.0.1")
    assert taken("http://10.0.0.2/") == (two, [], "10.0.0.2") and taken("http://10.0.0.3/") == (two, [], "10.0.0.3")
    assert taken("http://10.0.0.4/") == (wide, [], "10.0.0.4") and taken("http://shop:8001/") == (wide, [], "192.0.2.2")
    assert taken("http://shop/", frontend="b") == (two, [], "10.0.0.2")
    assert taken("http://shop:85/", bind="10.0.0.3:80-90") == (two, [], "10.0.0.3")
    assert taken("http://203.0.113.1:85/")[:2] == (two, []), "an address outside that is led to it"


def test_http_2_is_asked_for_in_http_1() -> None:
    question = Question("https://a/", alpn="h2,http/1.1")
    assert (client_request(question, LISTENERS).alpn, offers_http_2(question, TLS)) == ("http/1.1", True)
    assert client_request(replace(question, alpn="h2"), LISTENERS).alpn == "" and not offers_http_2(replace(question, alpn="http/1.1"), TLS)
    stream = replace(question, url="https://a:5432/")
    assert (client_request(stream, LISTENERS).alpn, offers_http_2(stream, STREAM)) == ("h2,http/1.1", False)


def test_one_listener_alone_takes_all() -> None:
    assert client_request(Question("http://a:99/"), [TLS]).listener is TLS


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (Question("http://a:99/"), r"no listener accepts this request; set frontend or bind to one of: site \(:80"),
        (Question("http://a/", frontend="none"), "no listener accepts this request"),
        (Question("ftp://a/"), "url in body begins with ftp:; expected http:"),
        (Question("http://a:x/"), "url in body is not a URL"),
        (Question("http://a/", method="G T"), "method in body is not valid in a request: 'G T'"),
        (Question("http://a/b c"), "url in body is not valid in a request"),
        (Question("http://a/", headers=[("A B", "1")]), "headers in body: 'A B' has an invalid name or value"),
        (Question("http://a/", headers=[("A", "1\r\nB: 2")]), "headers in body: 'A' has an invalid name or value"),
    ],
)
def test_refusals(question: Question, said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        client_request(question, LISTENERS)


def test_what_is_sent() -> None:
    question = Question("https://shop.example:443/a?b=1", "POST", headers=[("X-A", "1")], body="hé", status=404, reply=[("X-B", "2")])
    found = client_request(question, LISTENERS)
    assert found.head == b"POST /a?b=1 HTTP/1.1\r\nHost: shop.example:443\r\nX-A: 1\r\nContent-Length: 3\r\n\r\n"
    assert (found.body, found.tls) == ("hé".encode(), "shop.example")
    assert found.reply == b"HTTP/1.1 404 -\r\nX-B: 2\r\nContent-Length: 0\r\n\r\n"
    assert client_request(Question("https://a/", sni="b"), LISTENERS).tls == "b"
    assert client_request(Question("http://a/"), LISTENERS).tls is None
    assert client_request(Question("http://a:5432/"), LISTENERS).tls is None
    assert client_request(Question("https://a:5432/"), LISTENERS).tls == "a", "the URL says that the client speaks TLS"
    assert client_request(Question(host="a", sni="b", frontend="stream"), LISTENERS).tls == "b"


def test_addresses() -> None:
    assert addresses(":80,ipv6@[::1]:443,10.0.0.1:8080-8090,unix@/a") == [("", 80, 80), ("::1", 443, 443), ("10.0.0.1", 8080, 8090)]


def test_from_a_body() -> None:
    body = {
        "path": "/a",
        "host": "b",
        "src": "10.0.0.1",
        "headers": {"A": ["1", "2"], "B": "3"},
        "tls": {"version": "1.2", "alpn": ["h2", "http/1.1"]},
        "response": {"status": 301, "headers": {"C": "4"}},
    }
    found = question_of(body)
    assert (found.url, found.host, found.source, found.headers) == ("/a", "b", "10.0.0.1", [("A", "1"), ("A", "2"), ("B", "3")])
    assert (found.tls, found.tls_version, found.alpn, found.status, found.reply) == (True, "1.2", "h2,http/1.1", 301, [("C", "4")])
    assert (question_of({}).tls, question_of({"tls": {}}).tls) == (None, True)
