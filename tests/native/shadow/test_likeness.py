"""A shadow that is like the running HAProxy, and forgets."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from haproxy_native.runtime.server_state import FORCED_DRAIN, FORCED_MAINT, ServerState, server_states
from haproxy_native.shadow.process import ClientRequest, Conditions, RequestOutcome, commands, conditions, start
from haproxy_native.text.document import Document

ROW = "2 shop 1 one 10.0.0.1 2 0 5 5 9 6 3 4 6 0 0 0 - 80 - 0 0 - - 0"
TEXT = """\
defaults base
    mode http
    timeout client 5s
    timeout server 5s
    timeout connect 5s

frontend site from base
    bind :80
    stick-table type ip size 10 store gpc0
    http-request track-sc0 src
    http-request sc-inc-gpc0(0)
    http-request set-map({map}) %[path] seen if { path /lasting }
    http-request set-var(txn.count) sc0_get_gpc0
    http-request set-var(txn.seen) path,map({map},new)
    use_backend gone if { nbsrv(shop) eq 0 }
    default_backend shop

backend shop from base
    server one 10.0.0.1:80
    server two 10.0.0.2:80 backup
    server three 10.0.0.3:80 disabled

backend gone from base
    http-request return status 410
"""


@pytest.fixture
def state() -> ServerState:
    (state,) = server_states(f"1\n# names\n{ROW}\n")
    return state


def test_what_a_state_comes_to(state: ServerState) -> None:
    found = [
        conditions([each])["shop", "one"]
        for each in (state, replace(state, admin=FORCED_DRAIN), replace(state, admin=FORCED_MAINT), replace(state, operational=0))
    ]
    assert found == [("ready", 5), ("drain", 5), ("maint", 5), ("maint", 5)]


def test_only_what_differs_is_sent() -> None:
    there = {("a", "one"): ("ready", 1), ("a", "two"): ("ready", 1)}
    wanted = {("a", "one"): ("drain", 1), ("a", "two"): ("ready", 7), ("a", "new"): ("maint", 1)}
    assert list(commands(there, wanted)) == ["set server a/one state drain", "set server a/two weight 7"]


def asked(binary: str, directory: Path, *questions: tuple[str, Conditions]) -> Sequence[RequestOutcome | None]:
    (directory / "a.map").touch()
    document = Document.parse(TEXT.replace("{map}", str(directory / "a.map")))

    async def run() -> list[RequestOutcome | None]:
        shadow = await start(document, binary, directory)
        try:
            listener = shadow.shadow.listeners[0]
            heads = [(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode(), servers) for path, servers in questions]
            return [await shadow.send_request(ClientRequest(listener, head), servers) for head, servers in heads]
        finally:
            await shadow.close()

    return asyncio.run(run())


def test_servers_are_as_they_are_said_to_be(haproxy_binaries: str, tmp_path: Path) -> None:
    one, two, three = ("shop", "one"), ("shop", "two"), ("shop", "three")
    seen = asked(
        haproxy_binaries,
        tmp_path,
        ("/", {}),
        ("/", {one: ("drain", 1), two: ("ready", 1)}),
        ("/", {one: ("maint", 1), two: ("maint", 1)}),
        ("/", {one: ("maint", 1), three: ("ready", 1), ("shop", "unknown"): ("ready", 1)}),
        ("/", {one: ("ready", 1), three: ("ready", 0)}),
    )
    assert [each and (each.backend, each.server, each.status) for each in seen] == [
        ("shop", "one", 200),
        ("shop", "two", 200),
        ("gone", "", 410),
        ("shop", "three", 200),
        ("shop", "one", 200),
    ]


def test_tables_are_empty_for_each_request(haproxy_binaries: str, tmp_path: Path) -> None:
    seen = asked(haproxy_binaries, tmp_path, ("/", {}), ("/", {}))
    assert [each and each.variables["txn.count"] for each in seen] == ["1", "1"]


def test_one_that_remembers_more_is_asked_no_more(haproxy_binary: str, tmp_path: Path) -> None:
    first, second, third = asked(haproxy_binary, tmp_path, ("/a", {}), ("/lasting", {}), ("/lasting", {}))
    assert first is not None and second is not None and third is None
