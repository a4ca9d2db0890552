"""`Idempotency-Key`: what is sent again with the same key is answered again, and done once."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.api.exchange import exchange_of
from dataplaneapi.api.idempotency import CallStore, HashedBody
from dataplaneapi.server.connection import EXCHANGE, Channel
from dataplaneapi.settings.roles import read_roles
from tests.app.client import CONFIG, Client, Got, bare_exchange, exchange, settings
from tests.app.handlers.sidecar.test_history import entered

BACKENDS = f"{CONFIG}/backends"
SERVERS = f"{BACKENDS}/app/servers"
NEW = {"name": "new", "address": "127.0.0.9"}
TRANSACTIONS = "/v3/services/haproxy/transactions"
MAPS = "/v3/services/haproxy/storage/maps"


def keyed(key: str = "8e03978e-40d5-43dd-bc93-6894a57f9324") -> dict[str, str]:
    return {"Idempotency-Key": key}


def post(client: Client, path: str, body: Any = None, key: str = "k", **more: Any) -> Got:
    return client.post(path, body, headers=keyed(key), **more)


def calls(client: Client) -> list[Any]:
    """What is kept of each call."""
    return client.engine.database.read(lambda state: state.execute("SELECT * FROM call").fetchall())


def test_the_same_call_is_made_once(client: Client) -> None:
    first = post(client, f"{SERVERS}?version=1", NEW | {"colour": "red"})
    text = client.file.read_bytes()
    again = post(client, f"{SERVERS}?version=1", NEW | {"colour": "red"})
    assert (first.status, again.status, again.body) == (202, 202, first.body)
    assert (client.file.read_bytes(), client.engine.version()) == (text, 2)
    assert "Idempotent-Replayed" not in first.headers
    own = {"X-Request-Id": "", "Idempotent-Replayed": ""}
    assert again.headers | own == first.headers | own
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (again.headers["X-Ignored-Members"], "Reload-Id" in again.headers) == ("colour", True)


def test_what_has_no_body(client: Client) -> None:
    first, again = (post(client, f"{TRANSACTIONS}?version=1") for _ in range(2))
    assert (first.status, again.status, again.json) == (201, 201, first.json)
    assert [each["id"] for each in client.get(TRANSACTIONS).json] == [first.json["id"]]


def test_another_key_path_query_or_caller_is_another_call(tmp_path: Path) -> None:
    users = [{"name": name, "password": "adminpwd", "insecure": True} for name in ("admin", "other")]
    with Client(settings(tmp_path, users=users)) as client:
        for path, key, user in (
            (f"{TRANSACTIONS}?version=1", "a", "admin"),
            (f"{TRANSACTIONS}?version=1", "b", "admin"),
            (f"{TRANSACTIONS}?version=1&x=1", "a", "admin"),
            (f"{TRANSACTIONS}?version=1", "a", "other"),
        ):
            assert "Idempotent-Replayed" not in post(client, path, key=key, auth=f"{user}:adminpwd").headers
        assert len(client.get(TRANSACTIONS).json) == 4


def test_another_body_is_refused(client: Client) -> None:
    assert post(client, f"{SERVERS}?version=1", NEW).status == 202
    got = post(client, f"{SERVERS}?version=1", NEW | {"weight": 5})
    assert (got.status, "another body" in got.message, client.engine.version()) == (422, True, 2)


def test_a_refusal_leaves_the_key_free(client: Client) -> None:
    for path, body, status in (
        (f"{SERVERS}?version=9", NEW, 409),
        (f"{SERVERS}?version=1", {"name": "new", "weight": "x"}, 400),
        (SERVERS, NEW, 400),
    ):
        for _ in range(2):
            got = post(client, path, body)
            assert (got.status, "Idempotent-Replayed" in got.headers) == (status, False)
    assert calls(client) == []
    assert post(client, f"{SERVERS}?version=1", NEW).status == 202


def test_an_upload_is_compared_without_its_boundary(client: Client) -> None:
    (client.file.parent / "maps").mkdir(exist_ok=True)

    def upload(boundary: str, content: str) -> Got:
        form = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="file_upload"; filename="a.map"\r\n\r\n{content}\r\n--{boundary}--\r\n'
        )
        return client.post(MAPS, form.encode(), headers=keyed() | {"Content-Type": f"multipart/form-data; boundary={boundary}"})

    first, again = upload("one", "a 1\n"), upload("another", "a 1\n")
    assert (first.status, again.status, again.body) == (201, 201, first.body)
    assert upload("one", "a 2\n").status == 422
    assert (client.file.parent / "maps" / "a.map").read_text() == "a 1\n"


@pytest.mark.parametrize("key", ["", "x" * 256, "é", "a\tb"])
def test_what_is_no_key_is_refused(shared_client: Client, key: str) -> None:
    got = post(shared_client, f"{TRANSACTIONS}?version=1", key=key)
    assert (got.status, "1 to 255" in got.message) == (400, True)
    assert shared_client.get(TRANSACTIONS).json == []


def test_what_cannot_be_done_twice_needs_none(client: Client) -> None:
    for _ in range(2):
        assert (
            "Idempotent-Replayed"
            not in client.put(f"{SERVERS}/app1?version={client.engine.version()}", {**NEW, "name": "app1"}, headers=keyed()).headers
        )
        for path in (f"{CONFIG}/raw?only_validate=true", "/v3/sidecar/plan"):
            got = client.post(path, client.file.read_bytes(), headers=keyed() | {"Content-Type": "text/plain"})
            assert (got.status < 300, "Idempotent-Replayed" in got.headers) == (True, False), got.body
    assert calls(client) == []


def test_of_many_at_once_one_is_made(client: Client) -> None:
    credentials = b"Basic " + base64.b64encode(b"admin:adminpwd")
    sent = [(b"authorization", credentials), (b"content-type", b"application/json"), (b"idempotency-key", b"k")]

    async def all_at_once() -> list[Got]:
        return await asyncio.gather(
            *(exchange(client.app, "POST", f"{SERVERS}?version=1", list(sent), json.dumps(NEW).encode()) for _ in range(8))
        )

    got = client.runner.run(all_at_once())
    assert sorted(each.status for each in got) == [202, *[409] * 7]
    assert {each.headers.get("Retry-After") for each in got if each.status == 409} == {"1"}
    assert post(client, f"{SERVERS}?version=1", NEW).headers["Idempotent-Replayed"] == "true"
    assert client.engine.version() == 2


def test_a_call_goes_on_when_its_client_leaves(client: Client) -> None:
    """The client leaves while the call waits for a reload. The call was made, and is answered the same the next time."""
    path = f"{SERVERS}?version=1&wait=5m"
    credentials = b"Basic " + base64.b64encode(b"admin:adminpwd")
    sent = [(b"authorization", credentials), (b"content-type", b"application/json"), (b"idempotency-key", b"k")]
    messages = iter([{"type": "http.request", "body": json.dumps(NEW).encode(), "more_body": False}])

    async def receive() -> Any:
        return next(messages, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        pass

    where, _, query = path.partition("?")
    scope = {"type": "http", "method": "POST", "path": where, "raw_path": where.encode(), "query_string": query.encode(), "headers": sent}
    scope |= {"http_version": "1.1", "scheme": "http", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2), "root_path": ""}
    scope[EXCHANGE] = Channel(client.connection)

    async def leave() -> None:
        serving = asyncio.create_task(client.app(scope, receive, send))
        async with asyncio.timeout(60):
            while exchange_of(scope).when_gone is None:
                await asyncio.sleep(0.001)
            exchange_of(scope).when_gone()  # type: ignore[misc]
            await serving

    client.runner.run(leave())
    again = post(client, path, NEW)
    assert (again.status, again.headers.get("Idempotent-Replayed"), client.engine.version()) == (202, "true", 2)


def test_it_outlives_a_restart(tmp_path: Path) -> None:
    with Client(settings(tmp_path)) as client:
        first = post(client, f"{SERVERS}?version=1", NEW)
    with Client(settings(tmp_path)) as client:
        again = post(client, f"{SERVERS}?version=1", NEW)
        assert (again.status, again.body, again.headers["Idempotent-Replayed"]) == (first.status, first.body, "true")
        assert client.engine.version() == 2


def test_a_call_that_was_cut_off_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise KeyError("something")

    with Client(settings(tmp_path)) as client, monkeypatch.context() as patched:
        patched.setattr(client.engine, "commit", broken)
        assert post(client, f"{SERVERS}?version=1", NEW).status == 500
    with Client(settings(tmp_path)) as client:
        got = post(client, f"{SERVERS}?version=1", NEW)
        assert (got.status, "may or may not have been made" in got.message, "Retry-After" in got.headers) == (409, True, False)
        assert client.engine.version() == 1


def test_what_the_history_has_of_a_call_that_was_cut_off_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("something")

    with Client(settings(tmp_path)) as client, entered(client), monkeypatch.context() as patched:
        patched.setattr(CallStore, "end", broken)
        cut_off = post(client, f"{SERVERS}?version=1", NEW)
        assert (cut_off.status, client.engine.version()) == (500, 2)
    with Client(settings(tmp_path)) as client, entered(client):
        got = post(client, f"{SERVERS}?version=1", NEW)
        entry = client.get("/v3/sidecar/history").json[0]
        said = f"its request {cut_off.headers['X-Request-Id']} made entry {entry['id']} of /v3/sidecar/history"
        assert (got.status, said in got.message, client.engine.version()) == (409, True, 2), got.message
        assert client.get(f"/v3/sidecar/history/{entry['id']}").json["request_id"] == cut_off.headers["X-Request-Id"]


def test_secrets_are_not_kept_on_disk(tmp_path: Path) -> None:
    user = {"username": "x", "password": "secret-one", "secure_password": False}
    with Client(settings(tmp_path)) as client:
        assert client.post(f"{CONFIG}/userlists?version=1", {"name": "u"}).status in (201, 202)
        path = f"{CONFIG}/users?userlist=u&version=2"
        first, again = (post(client, path, user) for _ in range(2))
        assert (again.status, again.body, b"secret-one" in again.body) == (first.status, first.body, True)
        assert len(calls(client)) == 1
        assert "secret" not in repr(calls(client)[0])
    with Client(settings(tmp_path)) as client:
        got = post(client, path, user)
        assert (got.status, "was answered with" in got.message, client.engine.version()) == (409, True, 3)


def test_the_secret_of_a_token_is_in_memory_alone(client: Client) -> None:
    client.app.services.roles = read_roles({}, {}, [{"name": "admin", "role": "admin"}])
    first, again = (post(client, "/v3/sidecar/tokens", {"role": "viewer", "ttl": "60s"}) for _ in range(2))
    assert (first.status, again.status, again.json) == (201, 201, first.json)
    assert len(client.get("/v3/sidecar/tokens").json) == 1
    assert first.json["secret"] not in repr(calls(client)[0])


def test_an_answer_is_kept_for_the_rights_that_its_caller_had(client: Client) -> None:
    def give(*roles: str) -> None:
        rules = {"shop": [{"objects": "backend/*", "may": ["read", "create", "change"]}]}
        client.app.services.roles = read_roles(rules, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": list(roles)}])

    give("editor")
    first = post(client, f"{SERVERS}?version=1", NEW)
    assert (first.status, post(client, f"{SERVERS}?version=1", NEW).body) == (202, first.body)
    give("shop")
    other = post(client, f"{SERVERS}?version=1", NEW)
    assert other.status == 409 and "your permissions have changed" in other.message and b"127.0.0.9" not in other.body
    give()
    nobody = post(client, f"{SERVERS}?version=1", NEW)
    assert nobody.status == 403 and "has no role" in nobody.message
    give("editor")
    assert post(client, f"{SERVERS}?version=1", NEW).body == first.body
    assert client.engine.version() == 2


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_a_body_has_one_digest_in_whatever_pieces_it_arrives(size: int) -> None:
    def digest(boundary: bytes, size: int, key: bytes = b"k") -> str:
        body = b"--" + boundary + b"\r\nx\r\n--" + boundary + b"--\r\n"
        pieces = [body[start : start + size] for start in range(0, len(body), size)]
        messages = iter([{"type": "http.request", "body": each, "more_body": place < len(pieces) - 1} for place, each in enumerate(pieces)])

        async def receive() -> Any:
            return next(messages)

        exchange = bare_exchange((b"content-type", b"multipart/form-data; boundary=" + boundary))
        exchange.receive = receive
        return asyncio.run(HashedBody(exchange, key, is_read=True).digest())

    assert digest(b"abab", size) == digest(b"abab", 7) == digest(b"other", size)
    assert digest(b"abab", size) != digest(b"abab", size, b"l")
