"""PATCH: some members of an object, merged with what stands in the very text that is edited."""

import asyncio
import base64
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dataplaneapi.api.operations import PATCH, Operation
from dataplaneapi.settings.roles import read_roles
from tests.acceptance.bodies import Bodies
from tests.acceptance.objects import CHILDREN
from tests.acceptance.targets import target
from tests.acceptance.test_fuzz import CONFIGURATION
from tests.app.client import CONFIG, Client, Got, exchange, serving, settings

BACKEND = f"{CONFIG}/backends/app"
SERVERS = f"{BACKEND}/servers"
APP1 = f"{SERVERS}/app1"
ACL = f"{BACKEND}/acls/0"
# Of the law: how many objects are drawn for one that can be written.
TRIES = 2
MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}


def patch(client: Client, path: str, body: Any, **headers: str) -> Got:
    return client(
        "PATCH", path, json.dumps(body).encode(), headers=MERGE_PATCH | {name.replace("_", "-"): value for name, value in headers.items()}
    )


def text(client: Client) -> bytes:
    return client.file.read_bytes()


def roles(client: Client, *may: str, objects: str = "backend/**") -> None:
    rule = {"objects": objects, "may": list(may), "reload": "any"}
    client.app.services.roles = read_roles({"some": [rule]}, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "some"}])


def test_members_that_are_left_out_stay(client: Client) -> None:
    got = patch(client, APP1, {"weight": 5})
    assert (got.status, got.headers["Configuration-Version"], "Reload-Id" in got.headers) == (202, "2", True)
    assert got.json == client.get(APP1).json == {"name": "app1", "address": "127.0.0.1", "port": 8081, "weight": 5}
    assert b"server app1 127.0.0.1:8081 weight 5\n" in text(client)


def test_null_removes_a_member(client: Client) -> None:
    patch(client, APP1, {"weight": 5, "backup": "enabled"})
    assert patch(client, APP1, {"weight": None, "check": None}).json == client.get(APP1).json
    assert client.get(APP1).json.keys() == {"name", "address", "port", "backup"}


def test_nested_objects_merge_and_lists_are_replaced(client: Client) -> None:
    whole = f"{BACKEND}?full_section=true"
    client.put(f"{BACKEND}?version=1", {"name": "app", "balance": {"algorithm": "uri", "uri_depth": 3}})
    patch(client, BACKEND, {"balance": {"uri_depth": 4}})
    assert client.get(BACKEND).json["balance"] == {"algorithm": "uri", "uri_depth": 4}
    assert client.get(SERVERS).json
    new = {"name": "new", "address": "127.0.0.9"}
    patch(client, whole, {"servers": {"app1": {"weight": 7}, "new": new}})
    assert [(each["name"], each.get("weight")) for each in client.get(SERVERS).json] == [("app1", 7), ("new", None)]
    acl = {"acl_name": "other", "criterion": "src", "value": "127.0.0.2"}
    assert patch(client, whole, {"servers": {"app1": None}, "acl_list": [acl]}).json == client.get(whole).json
    assert (client.get(SERVERS).json, client.get(f"{BACKEND}/acls").json) == ([new], [acl])


def test_json_is_taken_for_it_as_well_and_nothing_else(client: Client) -> None:
    assert client.patch(APP1, {"weight": 5}).status == 202
    got = client.patch(APP1, b"{}", headers={"Content-Type": "application/json-patch+json"})
    assert (got.status, got.headers["Accept-Patch"]) == (415, "application/json, application/merge-patch+json")
    assert client.patch(SERVERS, {}).headers["Allow"] == "GET, POST"


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        (APP1, {"name": None}, 422, "name in body is required"),
        (APP1, {"address": None}, 422, "address in body is required"),
        (APP1, {"weight": "x"}, 400, "weight in body must be an integer"),
        (APP1, {"port": 70000}, 422, "port in body should be less than or equal to 65535"),
        (APP1, {"init_addr": "none"}, 422, 'did you mean "init-addr"?'),
        (APP1, {"cookie": "a\nb"}, 422, "cookie in body must not contain a line break"),
        (APP1, [], 422, "value must be an object"),
        (APP1, None, 422, "Value is not nullable"),
        (f"{SERVERS}/none", {}, 404, "missing object: server none does not exist"),
        (f"{CONFIG}/traces", {}, 404, "missing object"),
        (f"{APP1}?version=9", {"weight": 5}, 409, "version mismatch"),
        (f"{APP1}?versoin=1", {"weight": 5}, 400, 'did you mean "version"?'),
        (f"{APP1}?strict=true", {"wieght": None}, 422, 'did you mean "weight"?'),
        (f"{APP1}?transaction_id=none", {}, 400, "none"),
        (ACL, {"value": "127.0.0.2"}, 400, "version or transaction not specified"),
        (f"{BACKEND}/acls/7?version=1", {}, 404, "missing object"),
    ],
)
def test_refused_with_nothing_changed(shared_client: Client, path: str, body: Any, status: int, words: str) -> None:
    before = text(shared_client)
    got = patch(shared_client, path, body)
    assert (got.status, words in got.message) == (status, True), got.body
    assert text(shared_client) == before


def test_unknown_members_are_named(client: Client) -> None:
    got = patch(client, APP1, {"wieght": None, "Weight": 5})
    assert got.headers["X-Ignored-Members"] == "wieght (weight?)"
    assert client.get(APP1).json["weight"] == 5
    assert patch(client, BACKEND, {"servers": None}).headers["X-Ignored-Members"] == "servers (full_section=true?)"


def test_a_position_needs_a_version(client: Client) -> None:
    assert patch(client, f"{ACL}?version=1", {"value": "127.0.0.2"}).status == 202
    assert patch(client, ACL, {"value": "127.0.0.3"}, If_Match=client.get(ACL).headers["ETag"]).status == 202
    assert client.get(ACL).json == {"acl_name": "local", "criterion": "src", "value": "127.0.0.3"}


def test_what_changes_nothing_writes_nothing(client: Client) -> None:
    before = text(client)
    for body in ({}, {"port": 8081}, {"weight": None}, client.get(APP1).json):
        got = patch(client, APP1, body)
        assert (got.status, got.headers["Configuration-Version"], got.json) == (200, "1", client.get(APP1).json)
    assert text(client) == before
    first = patch(client, APP1, {"weight": 5})
    again = patch(client, APP1, {"weight": 5})
    assert (again.status, again.headers["Reload-Id"], again.headers["Configuration-Version"]) == (202, first.headers["Reload-Id"], "2")
    assert patch(client, f"{APP1}?version=1", {"weight": 5}).status == 409
    assert patch(client, f"{APP1}?force_reload=true", {}).headers["Configuration-Version"] == "3"


def test_in_a_transaction_its_text_counts(client: Client) -> None:
    id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    before, inside = text(client), f"{APP1}?transaction_id={id_}"
    assert patch(client, inside, {"weight": 5}).status == 202
    assert patch(client, inside, {"backup": "enabled"}).json == client.get(inside).json
    assert (client.get(inside).json["weight"], text(client)) == (5, before)


def test_only_where_the_client_has_seen_what_is_there(client: Client) -> None:
    tag = client.get(APP1).headers["ETag"]
    assert patch(client, APP1, {"weight": 5}, If_Match=tag).status == 202
    assert patch(client, APP1, {"weight": 6}, If_Match=tag).status == 412
    assert patch(client, APP1, {"weight": 5}, If_Match=tag).status == 412


def test_a_zero_that_stands_there_stays(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        client.file.write_text(client.file.read_text().replace(":8081", ":8081 inter 0 weight 0"))
        client.runner.run(client.engine.notice())
        assert patch(client, APP1, {"backup": "enabled"}).json["weight"] == 0
        assert b"inter 0 weight 0" in text(client)


def test_of_many_at_once_none_is_lost(client: Client) -> None:
    credentials = b"Basic " + base64.b64encode(b"admin:adminpwd")
    sent = [(b"authorization", credentials), (b"content-type", MERGE_PATCH["Content-Type"].encode())]
    parts = {"weight": 5, "backup": "enabled", "inter": 1000, "rise": 3, "fall": 4, "cookie": "c", "maxconn": 9, "check": "enabled"}

    async def all_at_once() -> list[Got]:
        return await asyncio.gather(
            *(exchange(client.app, "PATCH", APP1, list(sent), json.dumps({name: value}).encode()) for name, value in parts.items())
        )

    assert {got.status for got in client.runner.run(all_at_once())} == {202}
    assert client.get(APP1).json == {"name": "app1", "address": "127.0.0.1", "port": 8081, **parts}


def test_who_may_not_read_may_not_change_a_part(client: Client) -> None:
    roles(client, "change")
    for path in (APP1, f"{SERVERS}/none"):
        assert patch(client, path, {"weight": 5}).status == 403
    roles(client, "read")
    assert patch(client, APP1, {"weight": 5}).status == 403
    roles(client, "read", "change")
    assert patch(client, APP1, {"weight": 5}).status == 202
    assert patch(client, f"{CONFIG}/frontends/web", {"mode": "tcp"}).status == 403


def test_secrets_stay_and_are_not_shown(client: Client) -> None:
    assert client.post(f"{CONFIG}/userlists?version=1", {"name": "u"}).status in (201, 202)
    user = {"username": "x", "password": "secret-one", "secure_password": False}
    assert client.post(f"{CONFIG}/users?userlist=u&version=2", user).status in (201, 202)
    one = f"{CONFIG}/users/x?userlist=u"
    roles(client, "read", "change", objects="userlist/**")
    got = patch(client, one, {"groups": "g"})
    assert (got.status, b"secret-one" in got.body) in ((202, False), (200, False)), got.body
    assert b"user x insecure-password secret-one groups g\n" in text(client)
    refused = patch(client, one, {"password": client.get(one).json["password"], "groups": None})
    assert refused.status == 422 and refused.message.startswith("password has <masked>"), refused.message
    assert patch(client, one, {"groups": None}).status in (200, 202)
    assert b"user x insecure-password secret-one\n" in text(client)


def difference(old: Any, new: Any) -> Any:
    """The merge patch that makes one of the other."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    changed = {name: difference(old.get(name), value) for name, value in new.items() if name not in old or old[name] != value}
    return changed | {name: None for name in old if name not in new}


def patches(client: Client) -> list[Operation]:
    return [each for each in client.app.services.index.operations if each.action == PATCH]


def is_there(client: Client, operation: Operation, path: str, samples: list[dict[str, Any]]) -> None:
    """Creates what is patched where the configuration has none of it."""
    if samples and client.get(path).status != 200:
        collection, _, rest = path.rpartition("/")
        for where in (path, f"{collection}?{rest.partition('?')[2]}"):
            got = client.post(f"{where}&version={client.engine.version()}", samples[0])
            if got.status != 405:
                break
        assert got.status < 300, (path, got.body)


def replaced(client: Client, operation: Operation, path: str, candidates: list[dict[str, Any]]) -> Any:
    """What GET answers after a PUT of the first candidate that can be written; None where none can be."""
    resource = client.app.services.editor.resources[operation.resource or ""]
    own = {resource.key: "one"} if resource.kind in ("section", "named", "view") else {}
    if any(client.put(f"{path}&version={client.engine.version()}", {**body, **own}).status < 300 for body in candidates):
        return client.get(path).json
    return None


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("full", [False, True], ids=["plain", "full_section"])
def test_a_patch_of_the_difference_is_a_put_of_the_whole(tmp_path: Path, full: bool, step: int) -> None:
    """Of every third resource, or of each, with objects that its schema allows: the same answers to GET, and the same text."""
    done, asked = set(), 0
    with Client(settings(tmp_path), CONFIGURATION) as client:
        bodies = Bodies(client.app.services.bundle["components"]["schemas"], random := Random(20261123))
        operations = [each for each in patches(client) if not full or any(given.name == "full_section" for given in each.parameters)]
        for operation in operations[min(step - 1, 1) :: step]:
            path = target(operation, random, sane=True) + ("&full_section=true" if full else "")
            asked, row = asked + 1, client.app.services.editor.resources[operation.resource or ""]
            samples = [{**each, row.key: "one"} if row.kind == "named" else each for each in CHILDREN.get(row.name, [])]
            is_there(client, operation, path, samples)
            assert operation.body is not None
            drawn = [[bodies.valid(operation.body.schema) for _ in range(TRIES)] + [sample] for sample in samples[:2] or [{}] * 2]
            wanted, now = (replaced(client, operation, path, candidates) for candidates in drawn)
            if wanted is not None and now is not None:
                assert_same(client, path, now, wanted)
                done.add(operation)
        assert len(done) > asked * 0.9, "most resources are to be reached in fact"


def assert_same(client: Client, path: str, now: Any, wanted: Any) -> None:
    ids = [client.post(f"/v3/services/haproxy/transactions?version={client.engine.version()}").json["id"] for _ in range(2)]
    put, patched = (f"{path}&transaction_id={id_}" for id_ in ids)
    whole, part = client.put(put, wanted), patch(client, patched, difference(now, wanted))
    assert whole.status == part.status or (whole.status, part.status) == (200, 202), (path, now, wanted, whole.body, part.body)
    if part.status < 300:
        assert client.get(patched).json == client.get(put).json == part.json, (path, now, wanted)
        texts = [client.get(f"{CONFIG}/raw?transaction_id={id_}").body for id_ in ids]
        assert texts[0] == texts[1], (path, now, wanted)
    for id_ in ids:
        client.delete(f"/v3/services/haproxy/transactions/{id_}")
