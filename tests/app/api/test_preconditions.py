"""`If-None-Match` on reads, `If-Match` on writes."""

import asyncio
import base64
import json
from typing import Any

import pytest

from dataplaneapi.api.etags import tag_of
from dataplaneapi.settings.roles import read_roles
from tests.app.client import CONFIG, Client, Got, exchange

SERVERS = f"{CONFIG}/backends/app/servers"
APP1 = f"{SERVERS}/app1"
NEW = {"name": "new", "address": "127.0.0.9"}
ACL = {"acl_name": "other", "criterion": "src", "value": "127.0.0.2"}


def etag(client: Client, path: str) -> str:
    got = client.get(path)
    assert got.status == 200, got.body
    assert got.headers["ETag"] == tag_of(got.body)
    return got.headers["ETag"]


def matching(tag: str) -> dict[str, str]:
    return {"If-Match": tag}


def test_what_the_client_has_is_not_sent_again(client: Client) -> None:
    for path in (APP1, SERVERS, f"{CONFIG}/raw", "/v3/services/haproxy/transactions", "/v3/specification"):
        tag = etag(client, path)
        for known in (tag, f'"x", W/{tag}', "*"):
            got = client.get(path, headers={"If-None-Match": known})
            assert (got.status, got.body, got.headers["ETag"]) == (304, b"", tag)
            assert got.headers["Vary"] == "Origin"
            assert got.headers["Configuration-Version"] == "1"
            assert not {"Content-Type", "content-length"} & got.headers.keys()
        assert client.get(path, headers={"If-None-Match": '"other"'}).status == 200
        assert client.get(path, headers={"If-None-Match": "nonsense"}).status == 200


def test_a_file_has_one_too(client: Client) -> None:
    directory = client.file.parent / "maps"
    directory.mkdir(exist_ok=True)
    (directory / "a.map").write_text("a b\n")
    tag = etag(client, "/v3/services/haproxy/storage/maps/a.map")
    assert client.get("/v3/services/haproxy/storage/maps/a.map", headers={"If-None-Match": tag}).status == 304
    (directory / "a.map").write_text("a c\n")
    assert etag(client, "/v3/services/haproxy/storage/maps/a.map") != tag


def test_refusals_have_none(client: Client) -> None:
    got = client.get(f"{SERVERS}/none", headers={"If-None-Match": "*"})
    assert (got.status, "ETag" in got.headers) == (404, False)


def test_it_stands_for_the_version(client: Client) -> None:
    first = etag(client, APP1)
    got = client.put(APP1, {**client.get(APP1).json, "weight": 5}, headers=matching(first))
    assert (got.status, got.headers["Configuration-Version"]) == (202, "2")
    stale = client.put(APP1, {**client.get(APP1).json, "weight": 6}, headers=matching(first))
    assert (stale.status, client.get(APP1).json["weight"]) == (412, 5)
    assert f"GET {APP1} returns that state with its ETag" in stale.message
    assert client.put(APP1, client.get(APP1).json, headers=matching(f'{first}, "x"')).status == 412
    weak = client.put(APP1, client.get(APP1).json, headers=matching("W/" + etag(client, APP1)))
    assert (weak.status, "weak" in weak.message) == (412, True)
    assert client.delete(APP1, headers=matching(f"{first}, {etag(client, APP1)}")).status == 202


def test_others_may_change_something_else(client: Client) -> None:
    tag = etag(client, APP1)
    assert client.post(f"{SERVERS}?version=1", NEW).status == 202
    assert client.put(APP1, {**client.get(APP1).json, "weight": 5}, headers=matching(tag)).status == 202


def test_both_must_hold(client: Client) -> None:
    tag, body = etag(client, APP1), client.get(APP1).json
    assert client.put(f"{APP1}?version=9", body, headers=matching(tag)).status == 409
    assert client.put(f"{APP1}?version=1", body, headers=matching('"x"')).status == 412
    assert client.put(f"{APP1}?version=1", {**body, "weight": 3}, headers=matching(tag)).status == 202


def test_of_collections(client: Client) -> None:
    for path, body in ((SERVERS, NEW), (f"{CONFIG}/backends", {"name": "b"}), (f"{CONFIG}/backends/app/acls", [ACL, ACL])):
        tag, write = etag(client, path), client.put if isinstance(body, list) else client.post
        assert write(path, body, headers=matching(tag)).status == 202
        again = [ACL] if isinstance(body, list) else {**body, "name": "again"}
        got = write(path, again, headers=matching(tag))
        assert (got.status, f"GET {path} returns" in got.message) == (412, True)


def test_an_element_that_is_added_is_compared_with_the_list(client: Client) -> None:
    rules = f"{CONFIG}/backends/app/acls"
    tag = etag(client, rules)
    assert client.post(f"{rules}/0", ACL, headers=matching(tag)).status == 202
    got = client.post(f"{rules}/0", ACL, headers=matching(tag))
    assert (got.status, f"GET {rules} returns" in got.message) == (412, True)


def test_a_section_by_itself_or_with_all_below_it(client: Client) -> None:
    path = f"{CONFIG}/backends/app"
    alone, whole = etag(client, path), etag(client, f"{path}?full_section=true")
    assert client.post(SERVERS + "?version=1", NEW).status == 202
    assert client.delete(path, headers=matching(whole)).status == 412
    body = client.get(f"{path}?full_section=true").json
    assert client.put(f"{path}?full_section=true", body, headers=matching(etag(client, f"{path}?full_section=true"))).status in (200, 202)
    assert client.delete(path, headers=matching(alone)).status == 202


def test_in_a_transaction_its_text_counts(client: Client) -> None:
    id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    inside, tag = f"{APP1}?transaction_id={id_}", etag(client, APP1)
    body = client.get(inside).json
    assert client.put(inside, {**body, "weight": 5}, headers=matching(tag)).status == 202
    got = client.put(inside, {**body, "weight": 6}, headers=matching(tag))
    assert (got.status, f"GET {inside} returns" in got.message, client.get(inside).json["weight"]) == (412, True, 5)
    assert client.put(inside, {**body, "weight": 6}, headers=matching(etag(client, inside))).status == 202
    assert etag(client, APP1) == tag


def test_of_a_whole_text(client: Client) -> None:
    raw, plain = f"{CONFIG}/raw", {"Content-Type": "text/plain"}
    tag, text = etag(client, raw), client.get(raw).body
    assert client.post(raw, text + b"# more\n", headers=plain | matching(tag)).status == 202
    got = client.post(raw, text, headers=plain | matching(tag))
    assert (got.status, f"GET {raw} returns" in got.message) == (412, True)
    tag = etag(client, raw)
    client.file.write_text(client.file.read_text() + "# by hand\n")
    assert client.post(raw, text, headers=plain | matching(tag)).status == 412
    assert client.post(f"{raw}?version=1", text, headers=plain | matching(etag(client, raw))).status == 409


def test_anything_that_is_there(client: Client) -> None:
    assert client.put(APP1, client.get(APP1).json, headers=matching("*")).status in (200, 202)
    assert client.put(f"{SERVERS}/none", NEW | {"name": "none"}, headers=matching("*")).status == 404


@pytest.mark.parametrize(
    ("method", "path", "headers", "words"),
    [
        ("PUT", APP1, matching("abc"), "quotes"),
        ("PUT", APP1, matching(""), "quotes"),
        ("PUT", f"{APP1}?version=1", {"If-None-Match": "*"}, "by GET only"),
        ("POST", "/v3/services/haproxy/transactions?version=1", matching("*"), "is not supported by this operation"),
        ("DELETE", "/v3/services/haproxy/storage/maps/a.map", matching("*"), "is not supported by this operation"),
    ],
)
def test_a_condition_that_nothing_looks_at_is_refused(
    shared_client: Client, method: str, path: str, headers: dict[str, str], words: str
) -> None:
    got = shared_client(method, path, NEW if method == "PUT" else None, headers=headers)
    assert (got.status, words in got.message) == (400, True)


def test_of_many_at_once_one_is_made(client: Client) -> None:
    tag, body = etag(client, APP1), client.get(APP1).json
    credentials = b"Basic " + base64.b64encode(b"admin:adminpwd")
    sent = [(b"authorization", credentials), (b"content-type", b"application/json"), (b"if-match", tag.encode())]

    async def all_at_once() -> list[Got]:
        def put(weight: int) -> Any:
            return exchange(client.app, "PUT", APP1, sent, json.dumps({**body, "weight": weight}).encode())

        return await asyncio.gather(*map(put, range(1, 21)))

    assert sorted(got.status for got in client.runner.run(all_at_once())) == [202, *[412] * 19]
    assert client.engine.version() == 2


def test_callers_who_see_no_secrets_have_their_tag(client: Client) -> None:
    path = f"{CONFIG}/userlists/u/users"
    assert client.post(f"{CONFIG}/userlists?version=1", {"name": "u"}).status in (201, 202)
    user = {"username": "x", "password": "secret-one", "secure_password": False}
    assert client.post(f"{CONFIG}/users?userlist=u&version=2", user).status in (201, 202), path
    one = f"{CONFIG}/users/x?userlist=u"
    plain = etag(client, one)
    rule = {"objects": "userlist/**", "may": ["read", "change"], "reload": "any"}
    client.app.services.roles = read_roles({"some": [rule]}, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "some"}])
    masked = etag(client, one)
    assert masked != plain
    assert b"secret-one" not in client.get(one).body
    assert client.put(one, user, headers=matching(plain)).status == 412
    assert client.put(one, {**user, "password": "secret-two"}, headers=matching(masked)).status in (200, 202)
    assert etag(client, one) == masked, "a tag is that of what is shown, and says nothing of a secret"


def test_who_may_not_read_learns_nothing_from_a_comparison(client: Client) -> None:
    tag, body = etag(client, APP1), client.get(APP1).json
    rule = {"objects": "backend/**", "may": ["change"], "reload": "any"}
    client.app.services.roles = read_roles({"some": [rule]}, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "some"}])
    for each in (tag, '"x"'):
        assert client.put(APP1, {**body, "weight": 3}, headers=matching(each)).status == 403
