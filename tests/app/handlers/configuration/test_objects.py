"""What the kinds of resources share: parameters of writes, status codes, reads that follow writes."""

from pathlib import Path
from typing import Any

import pytest

from tests.app.client import CONFIG, Client, Got, serving

BACKENDS = f"{CONFIG}/backends"
SERVERS = f"{BACKENDS}/app/servers"
BODY = {"name": "be1"}


def transaction(client: Client) -> str:
    return str(client.post("/v3/services/haproxy/transactions?version=1").json["id"])


@pytest.mark.parametrize(
    ("method", "target", "body", "shown", "done"),
    [
        ("POST", BACKENDS, BODY, {**BODY, "from": "base"}, 201),
        ("PUT", f"{BACKENDS}/app", {"name": "app"}, {"name": "app", "from": "base"}, 200),
        ("DELETE", f"{SERVERS}/app1", None, None, 204),
    ],
)
def test_statuses(tmp_path: Path, method: str, target: str, body: Any, shown: Any, done: int) -> None:
    for query, status, reload in (
        ("version=1", 202, True),
        ("version=1&force_reload=true", done, False),
        ("transaction_id={}", 202, False),
    ):
        directory = tmp_path / str(status) / query
        directory.mkdir(parents=True)
        with serving(directory) as client:
            got = client(method, f"{target}?{query.format(transaction(client))}", body)
            assert (got.status, "Reload-Id" in got.headers) == (status, reload)
            assert got.body == b"" if body is None else got.json == shown
            assert ("Content-Type" in got.headers) == (body is not None)


def test_a_write_that_changes_nothing_needs_no_reload(client: Client) -> None:
    body = client.get(f"{SERVERS}/app1").json
    got = client.put(f"{SERVERS}/app1?version=1", body)
    assert (got.status, got.headers["Configuration-Version"], "Reload-Id" in got.headers) == (200, "2", False)


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        (
            "",
            400,
            "version or transaction not specified: add ?version=1, the result of GET /v3/services/haproxy/configuration/version, or ?trans",
        ),
        ("?version=0", 400, "version or transaction not specified: "),
        (
            "?versoin=1",
            400,
            'versoin in query is not known; did you mean "version"? Nothing has been changed.',
        ),
        ("?version=9", 409, "version mismatch: version in configuration file is 1, given version is 9"),
        ("?version=-1", 409, "version mismatch: version in configuration file is 1, given version is -1"),
        ("?version=1&transaction_id=x", 400, "both version and transaction specified, specify only one"),
        ("?transaction_id=none", 400, "transaction does not exist: none"),
        ("?version=0&transaction_id=none", 400, "transaction does not exist: none"),
    ],
)
def test_version_or_transaction(shared_client: Client, query: str, status: int, said: str) -> None:
    for got in (shared_client.post(BACKENDS + query, BODY), shared_client.delete(f"{BACKENDS}/app{query}")):
        assert (got.status, got.message[: len(said)]) == (status, said)


def test_existence_first_where_the_reference_looks_first(client: Client) -> None:
    for target, body, said in (
        (f"{SERVERS}/none", {"name": "none", "address": "a"}, "missing object: server none does not exist in app backend"),
        (f"{CONFIG}/frontends/none", {"name": "none"}, "missing object: Frontend none does not exist"),
    ):
        got = client.put(f"{target}?version=9", body)
        assert (got.status, got.message) == (404, said)
    assert client.put(f"{BACKENDS}/none?version=9", {"name": "none"}).status == 409


def test_reads_follow_writes_although_answers_are_kept(client: Client) -> None:
    def names() -> list[str]:
        return [each["name"] for each in client.get(BACKENDS).json]

    assert names() == names() == ["app"]
    client.post(f"{BACKENDS}?version=1", BODY)
    assert names() == names() == ["app", "be1"]
    id_ = str(client.post("/v3/services/haproxy/transactions?version=2").json["id"])
    client.post(f"{BACKENDS}?transaction_id={id_}", {"name": "be2"})
    assert [each["name"] for each in client.get(f"{BACKENDS}?transaction_id={id_}").json] == ["app", "be1", "be2"]
    assert names() == ["app", "be1"]
    assert client.get(f"{SERVERS}/app1").json["name"] == "app1"
    client.delete(f"{SERVERS}/app1?version=2")
    assert client.get(f"{SERVERS}/app1").status == 404


def test_what_is_quoted_for_the_client_is_shown_quoted(client: Client) -> None:
    got = client.post(f"{BACKENDS}/app/acls/0?version=1", {"acl_name": "a", "criterion": "path", "value": "/x"})
    assert got.json == {"acl_name": "a", "criterion": "path", "value": "/x"}
    rule = {"type": "set-header", "hdr_name": "X-Why", "hdr_format": "two words"}
    got = client.post(f"{BACKENDS}/app/http_request_rules/0?version=2", rule)
    assert got.json == rule | {"hdr_format": '"two words"'}
    assert client.get(f"{BACKENDS}/app/http_request_rules/0").json == got.json


def test_lines_that_are_no_objects_are_told(tmp_path: Path) -> None:
    text = (
        "defaults base\n  mode http\n\nbackend app from base\n  http-request deny\n  http-request no-such-action x\n  http-request allow\n"
    )
    (tmp_path / "haproxy.cfg").write_text(text)
    with serving(tmp_path) as client:
        got = client.get(f"{BACKENDS}/app/http_request_rules")
        assert [rule["type"] for rule in got.json] == ["deny", "allow"]
        assert got.headers["X-Unparsed-Lines"] == "1"


def test_children_of_a_missing_parent(client: Client) -> None:
    got: Got = client.get(f"{BACKENDS}/none/servers")
    assert (got.status, got.json) == (200, [])


def test_filters(client: Client) -> None:
    acls = f"{BACKENDS}/app/acls"
    assert len(client.get(f"{acls}?acl_name=local").json) == 1
    assert client.get(f"{acls}?acl_name=other").json == []
    assert len(client.get(f"{acls}?acl_name=").json) == 1


@pytest.mark.parametrize(
    ("method", "path", "body", "shown", "line"),
    [
        (
            "POST",
            "backends/app/http_request_rules/0",
            {"type": "set-header", "hdr_name": "X", "hdr_format": "two words"},
            {"hdr_format": '"two words"'},
            'http-request set-header X "two words"',
        ),
        (
            "PUT",
            "backends/app/acls/0",
            {"acl_name": "x", "criterion": "path", "value": '"/a b" # c'},
            {"value": '"/a b" "#" c'},
            'acl x path "/a b" "#" c',
        ),
        ("POST", "backends/app/servers", {"name": "a#b", "address": "127.0.0.1"}, {"name": '"a#b"'}, 'server "a#b" 127.0.0.1'),
        ("POST", "frontends/web/binds", {"name": "it's", "address": "127.0.0.1"}, {"name": '"it\'s"'}, 'bind 127.0.0.1 name "it\'s"'),
        ("PUT", "global", {"description": "my #1"}, {"description": 'my "#1"'}, 'description my "#1"'),
        ("POST", "backends", {"name": "new", "description": "it's"}, {"from": "base", "description": '"it\'s"'}, 'description "it\'s"'),
        (
            "POST",
            "backends?full_section=true",
            {"name": "new", "servers": {"a#b": {"name": "a#b", "address": "127.0.0.1"}}},
            {"from": "base", "servers": {'"a#b"': {"name": '"a#b"', "address": "127.0.0.1"}}},
            'server "a#b" 127.0.0.1',
        ),
    ],
)
def test_what_was_quoted_is_shown_as_it_stands(
    shared_client: Client, method: str, path: str, body: Any, shown: dict[str, Any], line: str
) -> None:
    query = f"{'&' if '?' in path else '?'}transaction_id={transaction(shared_client)}"
    got = shared_client(method, f"{CONFIG}/{path}{query}", body)
    assert (got.status, got.json) == (202, {**body, **shown})
    lines = [text.strip() for text in shared_client.get(f"{CONFIG}/raw{query.replace('&', '?')}").body.decode().splitlines()]
    assert line in lines


def test_a_list_is_shown_as_it_stands(client: Client) -> None:
    rows = [{"type": "set-header", "hdr_name": "X", "hdr_format": text} for text in ("one", "two words")]
    got = client.put(f"{BACKENDS}/app/http_request_rules?version=1", rows)
    assert [row["hdr_format"] for row in got.json] == ["one", '"two words"']


def test_a_quoted_name_is_found_with_and_without_its_quotes(client: Client) -> None:
    id_ = transaction(client)
    body = {"name": "a#b", "address": "127.0.0.1"}
    assert client.post(f"{SERVERS}?transaction_id={id_}", body).status == 202
    for name in ("a%23b", "%22a%23b%22"):
        assert client.get(f"{SERVERS}/{name}?transaction_id={id_}").json["name"] == '"a#b"'
        assert client.post(f"{SERVERS}?transaction_id={id_}", {**body, "name": name.replace("%22", '"').replace("%23", "#")}).status == 409
    assert client.put(f"{SERVERS}/a%23b?transaction_id={id_}", {**body, "weight": 5}).json == {**body, "name": '"a#b"', "weight": 5}
    assert client.delete(f"{SERVERS}/a%23b?transaction_id={id_}").status == 202
