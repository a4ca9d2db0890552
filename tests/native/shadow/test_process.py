"""A shadow that runs, beside the real HAProxy of each version."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from haproxy_native.errors import NoShadow
from haproxy_native.scratch import Scratch
from haproxy_native.shadow.launch import launch
from haproxy_native.shadow.process import ClientRequest, RequestOutcome, ShadowProcess, refusal, start
from haproxy_native.shadow.rewrite import Shadow, SourceLine
from haproxy_native.text.document import Document

TEXT = """\
defaults base
    mode http
    timeout client 5s
    timeout server 5s
    timeout connect 5s
    timeout tarpit 1h

frontend site from base
    bind :80
    acl api path_beg /api
    acl inside src 10.0.0.0/8
    tcp-request connection reject if { src 9.9.9.9 }
    http-request set-var(txn.host) req.hdr(host),lower
    http-request deny if api !inside
    http-request silent-drop if { path /drop }
    http-request tarpit if { path /tar }
    http-request return status 200 if { path /return }
    monitor-uri /alive
    http-request early-hint Link "<a.css>" if { path /hint }
    redirect location /new if { path /old }
    http-request set-header X-A 1 unless { path /plain }
    use_backend shop if { var(txn.host) -m str shop.example }
    default_backend other

backend shop from base
    http-response set-header X-Shop 1
    use-server two if { path_beg /two }
    server one 10.0.0.1:80
    server two 10.0.0.2:80

backend other from base

frontend stream
    mode tcp
    timeout client 5s
    bind :443
    tcp-request inspect-delay 5s
    tcp-request content accept if { req.ssl_hello_type 1 }
    use_backend named if { req.ssl_sni -i shop.example }
    default_backend plain

backend named
    mode tcp
    timeout server 5s
    timeout connect 5s
    server one 10.0.0.1:443

backend plain
    mode tcp
    timeout server 5s
    timeout connect 5s
    server one 10.0.0.1:443
"""


def with_shadow(
    binary: str, home: Path, ask: Callable[[ShadowProcess], Awaitable[RequestOutcome]], text: str = TEXT
) -> tuple[RequestOutcome, list[str]]:
    """What was seen, and the rules that applied."""

    async def run() -> tuple[RequestOutcome, list[str]]:
        process = await start(Document.parse(text), binary, home)
        try:
            seen = await ask(process)
            rules = [process.shadow.rules[mark] for mark in seen.marks]
            return seen, [rule.place.text for rule in rules if not rule.term]
        finally:
            await process.close()

    return asyncio.run(run())


def http(path: str, source: str = "192.0.2.1", host: str = "shop.example") -> Callable[[ShadowProcess], Awaitable[RequestOutcome]]:
    head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    return lambda process: process.send_request(ClientRequest(process.shadow.listeners[0], head, source=(source, 50_000)))


@pytest.mark.parametrize(
    ("path", "source", "status", "backend", "last"),
    [
        ("/", "192.0.2.1", 200, "shop", "http-response set-header X-Shop 1"),
        ("/api/x", "192.0.2.1", 403, "site", "http-request deny if api !inside"),
        ("/api/x", "10.1.1.1", 200, "shop", "http-response set-header X-Shop 1"),
        ("/", "9.9.9.9", -1, "", "tcp-request connection reject if { src 9.9.9.9 }"),
        ("/drop", "192.0.2.1", -1, "site", "http-request silent-drop if { path /drop }"),
        ("/tar", "192.0.2.1", 500, "site", "http-request tarpit if { path /tar }"),
        ("/return", "192.0.2.1", 200, "site", "http-request return status 200 if { path /return }"),
        ("/old", "192.0.2.1", 302, "site", "redirect location /new if { path /old }"),
    ],
)
def test_rules_and_outcome(haproxy_binary: str, tmp_path: Path, path: str, source: str, status: int, backend: str, last: str) -> None:
    seen, rules = with_shadow(haproxy_binary, tmp_path, http(path, source))
    assert (seen.status, seen.backend, rules[-1]) == (status, backend, last)


def test_what_is_answered_without_being_logged(haproxy_binary: str, tmp_path: Path) -> None:
    """The next request has its own line, even if one came late."""

    async def run() -> None:
        process = await start(Document.parse(TEXT), haproxy_binary, tmp_path)
        try:
            seen = await http("/alive")(process)
            assert (seen.status, seen.frontend, seen.request) == (200, "site", None)
            assert process.shadow.places[seen.last_line].text.strip() == "monitor-uri /alive"
            assert process.is_spent and await http("/")(process) is None
        finally:
            await process.close()

    asyncio.run(run())


def test_the_next_one_has_its_own_answer_where_somebody_did_not_wait(haproxy_binary: str, tmp_path: Path) -> None:
    async def run() -> None:
        process = await start(Document.parse(TEXT), haproxy_binary, tmp_path)
        try:
            given_up = asyncio.ensure_future(http("/return")(process))
            await asyncio.sleep(0)
            given_up.cancel()
            seen = await http("/old")(process)
            assert given_up.cancelled() and seen.status == 302
        finally:
            await process.close()

    asyncio.run(run())


def test_an_interim_response_is_not_the_answer(haproxy_binary: str, tmp_path: Path) -> None:
    seen, rules = with_shadow(haproxy_binary, tmp_path, http("/hint"))
    assert seen.status == 200 and seen.response.startswith(b"HTTP/1.1 200 ")
    assert any(rule.startswith("http-request early-hint") for rule in rules)


def test_server_variables_and_headers(haproxy_binary: str, tmp_path: Path) -> None:
    seen, rules = with_shadow(haproxy_binary, tmp_path, http("/two", host="Shop.Example"))
    assert (seen.server, seen.variables) == ("two", {"txn.host": "shop.example"})
    assert "use-server two if { path_beg /two }" in rules
    assert seen.request is not None and b"x-a: 1\r\n" in seen.request and b"x-shop: 1" in seen.response


def test_unless(haproxy_binary: str, tmp_path: Path) -> None:
    rule = "http-request set-header X-A 1 unless { path /plain }"
    assert rule in with_shadow(haproxy_binary, tmp_path, http("/x"))[1]
    assert rule not in with_shadow(haproxy_binary, tmp_path, http("/plain"))[1]


def test_no_server(haproxy_binary: str, tmp_path: Path) -> None:
    seen, _ = with_shadow(haproxy_binary, tmp_path, http("/", host="a"))
    assert (seen.status, seen.backend, seen.server, seen.request) == (503, "other", "", None)


@pytest.mark.parametrize(("name", "backend"), [("shop.example", "named"), ("a.example", "plain")])
def test_a_stream_of_tls(haproxy_binary: str, tmp_path: Path, name: str, backend: str) -> None:
    seen, rules = with_shadow(
        haproxy_binary, tmp_path, lambda process: process.send_request(ClientRequest(process.shadow.listeners[1], b"", tls=name))
    )
    assert (seen.frontend, seen.backend) == ("stream", backend)
    assert rules[0] == "tcp-request content accept if { req.ssl_hello_type 1 }"


def test_one_that_does_not_start_names_the_line(haproxy_binary: str, tmp_path: Path) -> None:
    with pytest.raises(NoShadow, match=r"line 3 \(nonsense here\): unknown keyword 'nonsense'"):
        with_shadow(haproxy_binary, tmp_path, http("/"), "frontend a\n    bind :80\n    nonsense here\n")


def test_what_is_said_without_a_line() -> None:
    assert refusal("[NOTICE] a\n[ALERT] cannot b\n", Shadow()) == "[ALERT] cannot b"
    assert refusal("nothing", Shadow()) == "nothing"
    said = "[ALERT] (1) : config : parsing [/tmp/x/haproxy.cfg:7] : no"
    assert refusal(said, Shadow(places={7: SourceLine("/b.cfg", 2, "x", "s")})) == "line 2 of /b.cfg (x): no"


def test_nothing_is_left(haproxy_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with_shadow(haproxy_binary, tmp_path, http("/"))
    assert list(tmp_path.iterdir()) == []


def test_it_has_only_the_listeners_that_haproxy_has(haproxy_binaries: str, tmp_path: Path) -> None:
    others = (
        ".if defined(NOT_DEFINED)\nfrontend never from base\n    bind :81\n.endif\nfrontend off from base\n    disabled\n    bind :82\n"
    )

    async def ask(shadow: ShadowProcess) -> RequestOutcome:
        assert [each.address for each in shadow.shadow.listeners] == [":80", ":443"]
        return await http("/return")(shadow)

    seen, _ = with_shadow(haproxy_binaries, tmp_path, ask, TEXT + others)
    assert seen.status == 200


@pytest.mark.parametrize(("path", "status"), [("/p11", 403), ("/deny", 403), ("/p9", 200)])
def test_conditions_that_fill_a_line(haproxy_binaries: str, tmp_path: Path, path: str, status: int) -> None:
    """With what leaves marks such a line has more words than HAProxy reads."""
    acls = "".join(f"    acl a{number} path /p{number}\n" for number in range(12))
    named = " || ".join(f"a{number}" for number in range(12) if number != 9)
    addresses = " ".join(f"10.0.{number}.0/24" for number in range(46))
    rules = f"    http-request deny if {named}\n    http-request deny if ! {{ src {addresses} }} !{{ path_len gt 9 }} {{ path /deny }}\n"
    text = f"frontend f\n    mode http\n    timeout client 5s\n    bind :80\n{acls}{rules}    http-request return status 200 unless a1\n"
    seen, applied = with_shadow(haproxy_binaries, tmp_path, http(path), text)
    assert (seen.status, [each.split()[1] for each in applied]) == (status, ["deny" if status == 403 else "return"])


def test_it_is_asked_as_soon_as_it_listens(tmp_path: Path) -> None:
    path = str(tmp_path / "socket")

    async def run() -> None:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            scratch = Scratch("shadow")
            process = ShadowProcess(Shadow(), scratch, await launch(["sleep", "60"], {}, scratch.path, None))
            try:
                connection = asyncio.create_task(process._connection(path))
                await asyncio.sleep(0)
                listener.listen()
                _, writer = await connection
                writer.close()
            finally:
                await process.close()

    asyncio.run(run())


def test_what_haproxy_says_at_length_is_no_hindrance(haproxy_binary: str, tmp_path: Path) -> None:
    """More than a pipe holds."""
    warned = "".join(f"backend warned{number}\n    mode http\n    server one 10.0.0.1:80\n" for number in range(2_000))
    seen, _ = with_shadow(haproxy_binary, tmp_path, http("/return"), TEXT + warned)
    assert seen.status == 200
