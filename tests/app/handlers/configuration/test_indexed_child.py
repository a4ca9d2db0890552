"""Children with a position over HTTP."""

import pytest

from tests.app.client import CONFIG, Client

ACLS = f"{CONFIG}/frontends/web/acls"


def acl(name: str) -> dict[str, str]:
    return {"acl_name": name, "criterion": "path", "value": "/x"}


def names(client: Client) -> list[str]:
    return [each["acl_name"] for each in client.get(ACLS).json]


def test_a_list_at_once(client: Client) -> None:
    body = [acl("a"), acl("b")]
    assert client.put(f"{ACLS}?version=1", body).json == body
    assert names(client) == ["a", "b"]
    assert client.put(f"{ACLS}?version=2", []).json == []
    assert client.get(ACLS).json == []


@pytest.mark.parametrize(("index", "order"), [(0, ["n", "a", "b"]), (1, ["a", "n", "b"]), (2, ["a", "b", "n"]), (-1, ["a", "b", "n"])])
def test_inserting(client: Client, index: int, order: list[str]) -> None:
    client.put(f"{ACLS}?version=1", [acl("a"), acl("b")])
    got = client.post(f"{ACLS}/{index}?version=2", acl("n"))
    assert (got.status, got.json) == (202, acl("n"))
    assert names(client) == order


@pytest.mark.parametrize("sent", [{}, {"sc_id": 0, "sc_idx": 0}])
def test_the_first_sticky_counter_is_the_one_that_need_not_be_named(client: Client, sent: dict[str, int]) -> None:
    path, rule = f"{CONFIG}/frontends/web/http_request_rules", {"type": "sc-add-gpc", "sc_int": 0}
    assert client.post(f"{path}/0?version=1", rule | sent).json == rule
    assert client.get(f"{path}/0").json == rule
    assert client.put(f"{path}/0?version=2", rule | {"sc_idx": 2}).status == 202
    assert b"  http-request sc-add-gpc(2,0) 0\n" in client.get(f"{CONFIG}/raw").body


def test_replacing_and_deleting(client: Client) -> None:
    client.put(f"{ACLS}?version=1", [acl("a"), acl("b")])
    assert client.put(f"{ACLS}/1?version=2", acl("c") | {"index": "7"}).json == acl("c")
    assert client.delete(f"{ACLS}/0?version=3").status == 202
    assert names(client) == ["c"]
    assert client.get(f"{ACLS}/0").json == acl("c")


@pytest.mark.parametrize(
    ("method", "index", "status", "said"),
    [
        ("GET", 5, 404, "missing object: Object 5 does not exist in frontend web"),
        ("GET", -1, 404, "missing object: Object -1 does not exist in frontend web"),
        ("PUT", 5, 404, "missing object: Object 5 does not exist in frontend web"),
        ("DELETE", 5, 404, "missing object: Object 5 does not exist in frontend web"),
        ("POST", 5, 400, "index out of range: Object with id 5 in frontend web out of range"),
    ],
)
def test_out_of_range(shared_client: Client, method: str, index: int, status: int, said: str) -> None:
    got = shared_client(method, f"{ACLS}/{index}?version=1", acl("a") if method in ("PUT", "POST") else None)
    assert (got.status, got.message) == (status, said)


def test_an_unknown_parent(client: Client) -> None:
    got = client.post(f"{CONFIG}/frontends/none/acls/0?version=1", acl("a"))
    assert (got.status, got.message) == (400, "missing parent: frontend none does not exist")


def test_line_breaks_of_what_a_check_sends(client: Client) -> None:
    checks, body = f"{CONFIG}/backends/app/tcp_checks", {"action": "send", "data": "PING\r\n"}
    assert client.post(f"{checks}/0?version=1", body).status == 202
    assert client.get(checks).json == [{"action": "send", "data": "PING\\r\\n"}]
    assert client.post(f"{checks}/0?version=2", {**body, "check_comment": "a\nb"}).status == 422
    assert client.post(f"{checks}/0?version=2", {**body, "data": "a\0b"}).status == 422
