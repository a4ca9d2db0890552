"""What every answer has, whatever the request."""

import logging
import re
from base64 import b64encode
from pathlib import Path

import pytest

from dataplaneapi.api.call import JsonCall, ReadCall
from dataplaneapi.api.responses import Response
from dataplaneapi.auth.guessing import PER_NAME
from dataplaneapi.handlers import information
from dataplaneapi.server.connection import Connection
from dataplaneapi.server.endpoint import Endpoint
from dataplaneapi.telemetry.log import Layout
from tests.app.client import CONFIG, Client, exchange, serving

BACKEND = {"name": "be1"}


def test_headers_of_every_answer(client: Client) -> None:
    for got in (
        client.get("/v3/info"),
        client.get("/v3/nowhere"),
        client.get("/v3/info", auth=None),
        client.patch("/v3/info"),
        client.post(f"{CONFIG}/backends", {}),
    ):
        assert got.headers["Configuration-Version"] == "1"
        assert got.headers["Vary"] == "Origin"
        assert got.headers["X-Request-Id"]
        assert got.headers["Content-Type"] == "application/json"
        assert got.body.endswith(b"\n")


@pytest.mark.parametrize("with_password", [True, False])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
def test_every_answer_is_protected_in_browsers_and_caches(shared_client: Client, method: str, with_password: bool) -> None:
    """Whatever its status: no guessed types, no frames, nothing stored but the files of the page."""
    files = ("/ui", "/ui/", "/ui/index.html", "/ui/main.js", "/ui/none.js", "/v3/docs", "/v3/docs/swagger-ui.css", "/swagger.json")
    calls = ("/livez", "/readyz", "/metrics", "/v3/info", f"{CONFIG}/backends", f"{CONFIG}/backends/none", f"{CONFIG}/raw", "/none")
    for path in (*files, *calls):
        got = shared_client(method, path, **({} if with_password else {"auth": None}))
        about = (method, path, got.status)
        assert (got.headers["X-Content-Type-Options"], got.headers["X-Frame-Options"]) == ("nosniff", "DENY"), about
        if got.headers["Cache-Control"] != "no-store":
            assert got.headers["Cache-Control"] == "no-cache" and path.startswith("/ui/") and got.status == 200, about
        if got.headers.get("Content-Type", "").startswith("text/html"):
            assert "frame-ancestors 'none'" in got.headers["Content-Security-Policy"], about


def test_request_ids_differ(client: Client) -> None:
    assert len({client.get("/v3/info").headers["X-Request-Id"] for _ in range(5)}) == 5


def test_the_version_is_the_new_one_after_a_write(client: Client) -> None:
    got = client.post(f"{CONFIG}/backends?version=1", BACKEND)
    assert (got.status, got.headers["Configuration-Version"]) == (202, "2")


def test_the_version_of_a_transaction(client: Client) -> None:
    id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    client.post(f"{CONFIG}/backends?version=1", BACKEND)
    assert client.get(f"{CONFIG}/backends?transaction_id={id_}").headers["Configuration-Version"] == "1"
    assert client.get("/v3/info?transaction_id=").headers["Configuration-Version"] == "2"
    unknown = client.get(f"{CONFIG}/backends?transaction_id=none")
    assert (unknown.status, unknown.headers["Configuration-Version"], unknown.message) == (400, "0", "transaction does not exist: none")


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("GET", "/v3/info", 401),
        ("GET", "/v3/nowhere", 401),
        ("DELETE", f"{CONFIG}/backends/app", 401),
        ("GET", "/v3/specification", 401),
        ("GET", "/v3/docs", 200),
        ("GET", "/swagger.json", 200),
        ("POST", "/swagger.json", 200),
        ("GET", "/elsewhere", 401),
    ],
)
def test_credentials_come_before_everything_but_the_documentation(shared_client: Client, method: str, target: str, status: int) -> None:
    assert shared_client(method, target, auth=None).status == status


def test_of_credentials_sent_twice_the_first_count(client: Client) -> None:
    right, wrong = ((b"authorization", b"Basic " + b64encode(text)) for text in (b"admin:adminpwd", b"admin:wrong"))

    def ask(*headers: tuple[bytes, bytes]) -> int:
        return client.runner.run(exchange(client.app, "GET", "/v3/info", list(headers), b"")).status

    assert (ask(right, wrong), ask(wrong, right)) == (200, 401)


def test_every_operation_refuses_alike_where_too_many_passwords_were_wrong(client: Client) -> None:
    """The right password as a wrong one, and no password is looked at for it."""
    for _ in range(PER_NAME):
        assert client.get("/v3/info", auth="admin:wrong").status == 401
    looked_at = client.app.services.gate.refused["wrong"]
    operations = list(client.app.services.index.operations)
    assert len(operations) > 550
    for operation in operations:
        path = re.sub(r"\{\w+\}", "1", operation.path)
        right, wrong = (client(operation.method, f"/v3{path}", auth=f"admin:{word}") for word in ("adminpwd", "wrong"))
        assert right.status == wrong.status == 429 and right.headers["Retry-After"] and right.json.keys() == {"code", "message"}
    assert client.app.services.gate.refused["wrong"] == looked_at
    assert client.get("/livez").status == 200


def test_preflight_needs_none(client: Client) -> None:
    got = client.options("/v3/no/such", auth=None, headers={"Origin": "https://x", "Access-Control-Request-Method": "GET"})
    assert (got.status, got.body, got.headers["Vary"].startswith("Origin, Access-Control")) == (204, b"", True)
    assert "Content-Type" not in got.headers
    plain = client.options("/v3/info", headers={"Origin": "https://x"})
    assert (plain.status, plain.headers["Allow"], plain.headers["Vary"]) == (405, "GET", "Origin")


def test_the_order_of_the_stages(client: Client) -> None:
    """Each request has the fault under test and all later ones."""
    url = f"{CONFIG}/backends/ap%3Bp/servers"
    bad = {"Accept": "image/png", "Content-Type": "text/html"}
    assert client("POST", f"{CONFIG}/nowhere?version=x", b"{", headers=bad).status == 404
    assert client("PATCH", f"{url}?version=x", b"{", headers=bad).status == 405
    assert client("POST", f"{url}?version=x", b"{", headers=bad).message.startswith("Invalid format for parameter version")
    assert client("POST", f"{url}?version=1", b"{", headers=bad).status == 406
    assert client("POST", f"{url}?version=1", b"{", headers=bad | {"Accept": "*/*"}).message.startswith("parent_name in path")
    url = f"{CONFIG}/backends/none/servers"
    assert client("POST", url, b"{", headers={"Content-Type": "text/html"}).status == 415
    both = "?force_reload=true&transaction_id=x&version=9"
    assert client("POST", url + both, b"{", headers={"Content-Type": "application/json"}).message.startswith("failed to decode")
    assert client("POST", url + both, []).message.startswith("value must be an object")
    assert client("POST", url + both, {}).message == "Both force_reload and transaction specified, specify only one"
    assert client("POST", f"{url}?version=9", {}).status == 422
    assert client("POST", url, {"name": "s", "address": "a"}).message.startswith("version or transaction not specified")
    assert client("POST", f"{url}?version=9", {"name": "s", "address": "a"}).status == 409
    assert client("POST", f"{url}?version=1", {"name": "s", "address": "a"}).message == "missing parent: backend none does not exist"


def test_a_fault_of_ours_is_500_in_the_usual_shape(
    client: Client, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken_read(call: ReadCall) -> Response:
        raise RuntimeError("oops")

    async def broken_write(call: JsonCall) -> Response:
        raise RuntimeError("oops")

    for operation in client.app.services.index.operations:
        if operation.path in ("/info", "/services/haproxy/transactions"):
            monkeypatch.setattr(operation, "handler", broken_read if operation.method == "GET" else broken_write)
    for got in (client.get("/v3/info"), client.post("/v3/services/haproxy/transactions?version=1")):
        assert (got.status, got.json["code"], got.headers["Content-Type"]) == (500, 500, "application/json")
        assert "oops" not in got.message
    assert [record.exc_info is not None for record in caplog.records if record.levelno == logging.ERROR] == [True, True]


def test_an_access_line_without_secrets(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    client.post(f"{CONFIG}/backends?version=1", {"name": "be1", "description": "hidden"})
    assert "access" in [record.name for record in caplog.records]
    assert "adminpwd" not in caplog.text
    assert "hidden" not in caplog.text


@pytest.mark.parametrize(
    ("path", "auth", "user"),
    [
        ("/v3/info", "admin:adminpwd", "admin"),
        ("/v3/info", "admin:guess", "-"),
        ("/livez", "admin:guess", "-"),
        ("/v3/docs", "admin:guess", "-"),
    ],
)
def test_the_access_line_names_a_user_whose_password_was_right(
    client: Client, caplog: pytest.LogCaptureFixture, path: str, auth: str, user: str
) -> None:
    caplog.set_level(logging.INFO)
    client.get(path, auth=auth)
    (record,) = (each for each in caplog.records if each.name == "access")
    assert Layout("%u").format(record).split()[0] == user


def test_where_no_password_is_asked_for_none_is_believed(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    client.connection = Connection(Endpoint("unix", basic_auth=False))
    assert client.get("/v3/info", auth="admin:guess").status == 200
    (record,) = (each for each in caplog.records if each.name == "access")
    assert Layout("%u").format(record).split()[0] == "-"


def test_no_access_line_without_a_listener(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    client.get("/v3/info")
    assert caplog.records == []


def test_connections_end_where_they_are_not_kept(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        assert "connection" not in client.get("/v3/info").headers
        client.connection = Connection(Endpoint(keep_alive=False))
        assert client.get("/v3/info").headers["connection"] == "close"


def test_a_client_certificate_where_it_stands_for_a_password(client: Client) -> None:
    client.connection = Connection(Endpoint(basic_auth=False), "spiffe://a/b")
    assert client.get("/v3/info", auth=None).status == 200
    client.connection = Connection(Endpoint(), "spiffe://a/b")
    assert client.get("/v3/info", auth=None).status == 401
    client.connection = Connection(Endpoint(basic_auth=False), "spiffe://c", "client certificate 'spiffe://c' is not among them")
    refused = client.get("/v3/info")
    assert (refused.status, refused.message, refused.headers["Configuration-Version"]) == (403, client.connection.refused, "1")


def test_every_declared_operation_has_a_handler(client: Client) -> None:
    handlers = [operation.handler for operation in client.app.services.index.operations]
    assert len(handlers) > 50
    assert all(handlers)
    assert information.info in handlers
