"""ACLs of a real HAProxy, whatever their patterns hold."""

import asyncio
import base64
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.app.client import exchange
from tests.app.handlers.conftest import RUNTIME, Beside

HEADERS = [(b"authorization", b"Basic " + base64.b64encode(b"admin:adminpwd")), (b"content-type", b"application/json")]
ACLS = f"{RUNTIME}/acls"
ODD = ["two words", "semi;colon", "back\\slash", '"quo\'tes"', "#hash", "<less", "a,b=c", "a&{b}$*", "ünïcode ☃", "trailing\\", "x" * 9000]


@pytest.fixture
def ids(beside: Beside) -> Iterator[dict[str, str]]:
    """Name to number; both lists are put back."""
    found = {acl["storage_name"]: acl["id"] for acl in beside.client.get(ACLS).json}
    yield {"nets": found[str(beside.nets)], "path": found["path"]}
    for name, values in ((found[str(beside.nets)], ["10.0.0.0/8", "192.0.2.1"]), (found["path"], ["/a", "/b"])):
        assert beside.client.put(f"{ACLS}/{name}/entries", [{"value": value} for value in values]).status == 201


def entries(beside: Beside, id_: str) -> dict[str, str]:
    got = beside.client.get(f"{ACLS}/{id_}/entries")
    return {entry["value"]: entry["id"] for entry in got.json} if got.status == 200 else {}


def refused(got: Any, status: int, message: str) -> None:
    assert (got.status, got.message) == (status, message)


def test_lists(beside: Beside, ids: dict[str, str]) -> None:
    one = beside.client.get(f"{ACLS}/{ids['nets']}").json
    assert (one["id"], one["storage_name"]) == (ids["nets"], str(beside.nets))
    assert str(beside.haproxy.file) in one["description"]
    assert one in beside.client.get(ACLS).json
    refused(beside.client.get(f"{ACLS}/99"), 404, "cannot retrieve ACL file for 99: #99 not found")
    refused(beside.client.get(f"{ACLS}/nets"), 404, "cannot retrieve ACL file for nets: #nets not found")


def test_entries(beside: Beside, ids: dict[str, str]) -> None:
    nets = ids["nets"]
    found = entries(beside, nets)
    assert list(found) == ["10.0.0.0/8", "192.0.2.1"]
    for name in ("10.0.0.0%2F8", found["10.0.0.0/8"]):
        assert beside.client.get(f"{ACLS}/{nets}/entries/{name}").json == {"value": "10.0.0.0/8"}
    absent = beside.client.get(f"{ACLS}/{nets}/entries/10.1.1.1")
    refused(absent, 404, f"cannot retrieve ACL file entry for {nets}: 10.1.1.1 not found")
    words = "[3]  Unknown ACL identifier. Please use #<id> or <file>. [show acl #99] not found"
    refused(beside.client.get(f"{ACLS}/99/entries"), 404, f"cannot retrieve ACL files entries for 99: {words}")
    refused(beside.client.get(f"{ACLS}/99/entries/x"), 404, f"cannot retrieve ACL file entry for 99: {words}")


def test_an_entry_comes_and_goes(beside: Beside, ids: dict[str, str]) -> None:
    path = f"{ACLS}/{ids['nets']}/entries"
    covered = beside.client.post(path, {"value": "10.1.2.3"})
    assert (covered.status, covered.json) == (201, {"value": "10.1.2.3"})
    again = f"cannot add ACL files entry for {ids['nets']}: already exists"
    refused(beside.client.post(path, {"value": "10.1.2.3"}), 409, again)
    assert beside.client.delete(f"{path}/{entries(beside, ids['nets'])['10.1.2.3']}").status == 204
    assert "10.1.2.3" not in entries(beside, ids["nets"])
    where = f"cannot delete ACL files entry for {ids['nets']}: [3]  Key not found. [del acl #{ids['nets']}"
    refused(beside.client.delete(f"{path}/0x1234"), 404, f"{where} #0x1234] not found")
    refused(beside.client.delete(f"{path}/192.0.2.1"), 404, f"{where} #192.0.2.1] not found")
    assert beside.nets.read_text() == "10.0.0.0/8\n192.0.2.1\n", "the file is not concerned"


@pytest.mark.parametrize("value", ODD, ids=lambda value: value[:12])
def test_any_pattern_survives(beside: Beside, ids: dict[str, str], value: str) -> None:
    path = f"{ACLS}/{ids['path']}/entries"
    assert beside.client.post(path, {"value": value}).status == 201
    assert beside.client.post(path, {"value": value}).status == 409
    assert value in entries(beside, ids["path"])
    reference = entries(beside, ids["path"])[value]
    assert beside.client.get(f"{path}/{reference}").json == {"value": value}
    if not set(value) & set('<>*;$#&{}"'):
        assert beside.client.get(f"{path}/{quote(value, safe='')}").json == {"value": value}
    assert beside.client.put(path, [{"value": value}, {"value": "/z"}]).status == 201
    assert list(entries(beside, ids["path"])) == [value, "/z"]


def test_what_is_refused(beside: Beside, ids: dict[str, str]) -> None:
    path = f"{ACLS}/{ids['nets']}/entries"
    words = f"'not-an-address' is not a valid IPv4 or IPv6 address. [add acl #{ids['nets']} not-an-address] general error"
    refused(beside.client.post(path, {"value": "not-an-address"}), 400, f"cannot add ACL files entry for {ids['nets']}: [3]  {words}")
    unknown = "[3]  Unknown ACL identifier. Please use #<id> or <file>. [add acl #99 10.0.0.1] not found"
    refused(beside.client.post(f"{ACLS}/99/entries", {"value": "10.0.0.1"}), 404, f"cannot add ACL files entry for 99: {unknown}")
    refused(beside.client.post(path, {}), 422, "value in body is required and must not be empty")
    refused(beside.client.post(path, {"value": "a\nb"}), 400, "value in body must not contain a line break")
    refused(beside.client.put(path, [{"value": "1.2.3.4"}, {}]), 422, "1.value in body is required and must not be empty")


def test_a_whole_list_is_replaced_or_stays(beside: Beside, ids: dict[str, str]) -> None:
    by_number, by_name = f"{ACLS}/{ids['nets']}/entries", f"{ACLS}/{quote(str(beside.nets), safe='')}/entries"
    many = [{"value": f"10.{number // 256}.{number % 256}.0/24"} for number in range(3000)]
    for path, body in ((by_name, many), (by_number, many[:2]), (by_name, many[:3])):
        got = beside.client.put(path, body)
        assert (got.status, got.json) == (201, body)
        assert list(entries(beside, ids["nets"])) == [entry["value"] for entry in body]
    got = beside.client.put(by_number, [{"value": "1.2.3.4"}, {"value": "bad.."}])
    words = "[3]  'bad..' is not a valid IPv4 or IPv6 address. [add acl @"
    assert (got.status, got.message.startswith(f"{beside.haproxy.master} {words}")) == (400, True), got
    assert len(entries(beside, ids["nets"])) == 3, "nothing of a refused list is there"
    unknown = beside.client.put(f"{ACLS}/99/entries", [])
    refused(unknown, 404, f"{beside.haproxy.master} [3]  Unknown ACL identifier. Please use #<id> or <file>. [prepare acl #99] not found")
    assert beside.client.put(by_number, []).json == []
    refused(beside.client.get(by_number), 404, f"cannot retrieve ACL files entries for {ids['nets']}: not found")


def test_lists_that_are_replaced_at_the_same_time(beside: Beside, ids: dict[str, str]) -> None:
    lists = [[{"value": f"10.{size}.{number // 256}.{number % 256}"} for number in range(size)] for size in (0, 3, 100, 2, 1)]
    # Long enough for several requests: the others are done before it.
    lists[0] = [{"value": f"10.200.{number // 256}.{number % 256}"} for number in range(2000)]

    async def all_at_once() -> list[Any]:
        path = f"{ACLS}/{ids['nets']}/entries"
        return await asyncio.gather(*(exchange(beside.client.app, "PUT", path, HEADERS, json.dumps(body).encode()) for body in lists))

    assert [got.status for got in beside.client.runner.run(all_at_once())] == [201] * 5
    assert [{"value": value} for value in entries(beside, ids["nets"])] in lists
