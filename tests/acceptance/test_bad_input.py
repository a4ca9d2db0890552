"""Send bad input: the status must be the documented one, the message must name the mistake, and the file must not change."""

import http.client
import json
import select
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import CONFIGURATION

CONFIG = (
    "# an operator's own file\n"
    + PLAIN
    + """\
frontend site from plain
    bind 127.0.0.1:{site}
    acl first path_beg /a
    http-request deny if first
    default_backend app

backend app from plain
    server one 127.0.0.1:1 weight 10   # the first
    server two 127.0.0.1:2
"""
)
LIMIT = 1_000_000
NEW = {"name": "new", "address": "127.0.0.1", "port": 3}
RULE = {"type": "deny", "deny_status": 403}
SERVERS, RULES = "backends/app/servers", "frontends/site/http_request_rules"
CURRENT = "current"


@dataclass(frozen=True)
class Row:
    """A bad request. `body` is sent as is (bytes), as text/plain (text) or as JSON. `says` are words of the message."""

    what: str
    method: str
    path: str
    body: Any
    code: int
    says: tuple[str, ...]
    query: dict[str, Any] = field(default_factory=lambda: {"version": CURRENT})
    headers: dict[str, str] = field(default_factory=dict)


def server(**members: Any) -> dict[str, Any]:
    return {**NEW, **members}


ROWS = [
    Row("malformed JSON", "POST", SERVERS, b'{"name": "new", ', 400, ("failed to decode request body", "column")),
    Row("not UTF-8", "POST", SERVERS, b'{"name": "\xff"}', 400, ("failed to decode request body", "utf-8")),
    Row("no body", "POST", SERVERS, b"", 400, ("required but missing",)),
    Row("a list, not an object", "POST", SERVERS, [NEW], 422, ("must be an object",)),
    Row("an object, not a list", "PUT", RULES, RULE, 422, ("must be an array",)),
    Row("deeply nested", "POST", SERVERS, b"[" * 5000 + b"]" * 5000, 400, ("nested deeper than",)),
    Row("no name", "POST", SERVERS, {"address": "127.0.0.1", "port": 3}, 422, ("name", "required")),
    Row("no address", "POST", SERVERS, {"name": "new"}, 422, ("address", "required")),
    Row("a rule without a type", "POST", f"{RULES}/0", {"deny_status": 403}, 422, ("type", "required")),
    Row("a rule without what its type needs", "POST", f"{RULES}/0", {"type": "set-header"}, 400, ("hdr_name",)),
    Row("text for a number", "POST", SERVERS, server(weight="heavy"), 400, ("weight in body", "integer", "string")),
    Row("fraction for a whole number", "POST", SERVERS, server(weight=1.5), 400, ("weight in body", "integer")),
    Row("number for a text", "POST", SERVERS, server(cookie=5), 400, ("cookie in body", "string")),
    Row("object for a text", "POST", SERVERS, server(address={"ip": "127.0.0.1"}), 400, ("address in body", "object")),
    Row("number too large", "POST", SERVERS, server(port=65536), 422, ("port", "65535")),
    Row("huge number", "POST", SERVERS, server(weight=10**30), 400, ("weight",)),
    Row("bad enum", "POST", SERVERS, server(check="perhaps"), 422, ("check in body", "enabled disabled")),
    Row(
        "bad enum in an object of an object",
        "POST",
        "backends",
        {"name": "n", "balance": {"algorithm": "luck"}},
        422,
        ("balance.algorithm",),
    ),
    Row("pattern violated", "POST", SERVERS, server(name="a b"), 422, ("name in body", "match")),
    Row(
        "pattern violated by a rule",
        "POST",
        f"{RULES}/0",
        {"type": "set-var", "var_name": "a b", "var_scope": "txn", "var_expr": "x"},
        422,
        ("var_name",),
    ),
    Row("line break", "POST", SERVERS, server(cookie="a\nglobal"), 422, ("cookie", "line break")),
    Row("carriage return", "POST", SERVERS, server(cookie="a\rb"), 422, ("cookie", "line break")),
    Row("NUL", "POST", SERVERS, server(cookie="a\0b"), 422, ("cookie", "NUL")),
    Row("line break in a comment", "POST", "backends", {"name": "n", "metadata": {"comment": {"value": "a\nb"}}}, 400, ("comment",)),
    Row(
        "line break in a condition",
        "POST",
        f"{RULES}/0",
        {**RULE, "cond": "if", "cond_test": "TRUE\nmode tcp"},
        422,
        ("cond_test", "line break"),
    ),
    Row("unknown parent", "POST", "backends/nowhere/servers", NEW, 400, ("missing parent", "nowhere")),
    Row("unknown parent of a rule", "POST", "frontends/nowhere/http_request_rules/0", RULE, 400, ("missing parent", "nowhere")),
    Row("unknown object", "PUT", f"{SERVERS}/three", server(name="three"), 404, ("missing object", "three")),
    Row("unknown object deleted", "DELETE", f"{SERVERS}/three", None, 404, ("missing object", "three")),
    Row("duplicate", "POST", SERVERS, server(name="one"), 409, ("object already exists", "one")),
    Row("duplicate section", "POST", "backends", {"name": "app"}, 409, ("object already exists", "app")),
    Row("the name of another one in the body", "PUT", f"{SERVERS}/one", server(name="two"), 409, ("object already exists", "server/two")),
    Row(
        "half a condition",
        "PUT",
        f"{RULES}/0",
        RULE | {"cond_test": "{ path /x }"},
        422,
        ("cond in body is required with cond_test", "`if`"),
    ),
    Row("the other half", "PUT", f"{RULES}/0", RULE | {"cond": "if"}, 422, ("cond_test in body is required with cond",)),
    Row(
        "half a condition that HAProxy demands whole",
        "POST",
        "backends/app/server_switching_rules/0",
        {"target_server": "one", "cond_test": "{ path /x }"},
        422,
        ("cond in body is required with cond_test", "`unless`"),
    ),
    Row("index out of range", "POST", f"{RULES}/2", RULE, 400, ("index out of range", "2")),
    Row("index out of range replaced", "PUT", f"{RULES}/1", RULE, 404, ("missing object", "1")),
    Row("index that is no number", "PUT", f"{RULES}/first", RULE, 400, ("index", "first")),
    Row("negative index", "PUT", f"{RULES}/-1", RULE, 404, ("missing object", "-1")),
    Row("stale version", "POST", SERVERS, NEW, 409, ("version mismatch", "given version is 9"), {"version": 9}),
    Row("stale version of a raw push", "POST", "raw", "global\n", 409, ("version mismatch", "given version is 9"), {"version": 9}),
    Row("stale version of a transaction", "POST", f"{SERVICES}/transactions", None, 409, ("version mismatch",), {"version": 9}),
    Row("version that is no number", "POST", SERVERS, NEW, 400, ("version", "new"), {"version": "new"}),
    Row("both", "POST", SERVERS, NEW, 400, ("both version and transaction",), {"version": CURRENT, "transaction_id": "some"}),
    Row("neither", "POST", SERVERS, NEW, 400, ("version or transaction not specified", "version=1"), {}),
    Row("neither for a raw push", "POST", "raw", "global\n", 400, ("version or transaction not specified",), {}),
    Row("unknown transaction", "POST", SERVERS, NEW, 400, ("transaction does not exist", "some"), {"transaction_id": "some"}),
    Row("reload forced in a transaction", "POST", SERVERS, NEW, 400, ("force_reload",), {"transaction_id": "some", "force_reload": True}),
    Row("body over the limit", "POST", "raw", "#" * (LIMIT + 1), 413, (str(LIMIT),)),
    Row("text where JSON is wanted", "POST", SERVERS, "name=new", 415, ("application/json",)),
    Row("unknown path", "POST", "backend/app/servers", NEW, 404, ("/backends/app/servers",)),
    Row("wrong method", "PATCH", SERVERS, NEW, 405, ("PATCH",)),
    Row("raw text without a line", "POST", "raw", "nothing", 400, ("no newline",)),
    Row(
        "raw text that HAProxy refuses",
        "POST",
        "raw",
        "backend app\n    server one 127.0.0.1:1 wieght 5\n",
        400,
        ("wieght", "line 2 in 'backend app'", "server one 127.0.0.1:1 wieght 5"),
    ),
    Row(
        "a name that HAProxy does not know",
        "PUT",
        "frontends/site",
        {"name": "site", "from": "plain", "default_backend": "nowhere"},
        400,
        ("nowhere",),
    ),
    Row(
        "a value that HAProxy refuses",
        "POST",
        f"{RULES}/0",
        {**RULE, "cond": "if", "cond_test": "{ nonsense }"},
        400,
        ("nonsense", "frontend site"),
    ),
]


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    config = CONFIG.format(site=free_port())
    directory, binary = tmp_path_factory.mktemp("bad"), binaries.exactly("3.2")
    with HAProxy(directory, config, binary=binary) as haproxy, Quick(haproxy, dataplaneapi={"max_body_size": "1MB"}) as running:
        yield running


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
def test_one_bad_call(sidecar: Quick, row: Row) -> None:
    before, worker = sidecar.haproxy.file.read_bytes(), sidecar.haproxy.worker_pid()
    query = {name: sidecar.version() if value == CURRENT else value for name, value in row.query.items()}
    if isinstance(row.body, bytes):
        url = f"{CONFIGURATION}/{row.path}"
        answer = sidecar.client.request(row.method, url, params=query, content=row.body, headers={"Content-Type": "application/json"})
    else:
        answer = sidecar.ask(row.method, row.path, row.body, **query)
    said = answer.json()
    assert (answer.status_code, said["code"]) == (row.code, row.code), answer.text
    assert [word for word in row.says if word not in said["message"][:4096]] == [], said["message"]
    assert len(said["message"].partition("\n")[0]) <= 300, said["message"]
    assert answer.headers["Content-Type"] == "application/json"
    assert sidecar.haproxy.file.read_bytes() == before
    assert sidecar.haproxy.worker_pid() == worker
    assert sidecar.version() == 1


@pytest.mark.parametrize("path", [f"{CONFIGURATION}/raw", f"{CONFIGURATION}/{SERVERS}"])
def test_a_flood_is_refused_and_not_kept(sidecar: Quick, path: str) -> None:
    """A body of 100 MB in chunks, without a length, is answered as soon as it is too large. The server discards the rest."""
    before, least = sidecar.haproxy.file.read_bytes(), resident(sidecar)
    most, answered_at = least, 0
    with socket.create_connection(("127.0.0.1", sidecar.port), timeout=60) as connection:
        head = f"POST {path}?version=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWRtaW46YWRtaW5wd2Q=\r\nTransfer-Encoding: chunked\r\n"
        connection.sendall(f"{head}Content-Type: text/plain\r\n\r\n".encode())
        piece = b"100000\r\n" + b"#" * 0x100000 + b"\r\n"
        for number in range(100):
            connection.sendall(piece)
            most = max(most, resident(sidecar))
            if not answered_at and select.select([connection], [], [], 0)[0]:
                answered_at = number
        connection.sendall(b"0\r\n\r\n")
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        said = json.loads(answer.read())
    assert (answer.status, said["code"]) == (413, 413)
    assert str(LIMIT) in said["message"]
    assert 0 < answered_at < 50
    assert most - least < 20_000_000
    assert sidecar.haproxy.file.read_bytes() == before


def resident(sidecar: Quick) -> int:
    """Return the resident memory of the server in bytes."""
    fields = Path(f"/proc/{sidecar.process.pid}/statm").read_text().split()
    return int(fields[1]) * 4096
