"""Stick tables of a real HAProxy."""

import socket
from typing import Any
from urllib.parse import quote

import pytest

from tests.app.handlers.conftest import RUNTIME, Beside

TABLES = f"{RUNTIME}/stick_tables"
COUNTERS, ADDRESSES = f"{TABLES}/counters/entries", f"{TABLES}/addresses/entries"


@pytest.fixture(autouse=True)
def emptied(beside: Beside) -> None:
    for table in ("counters", "addresses", "long_addresses", "lines", "bytes"):
        beside.haproxy.ask(f"clear table {table}")


def put(beside: Beside, path: str, key: str, **data: Any) -> Any:
    return beside.client.post(path, {"key": key, "data_type": data})


def keys(beside: Beside, query: str) -> list[str]:
    return sorted(entry["key"] for entry in beside.client.get(f"{COUNTERS}?{query}").json)


def test_tables(beside: Beside) -> None:
    shown = beside.client.get(f"{TABLES}/counters").json
    assert (shown["name"], shown["type"], shown["size"], shown["used"]) == ("counters", "string", 1024, 0)
    assert shown["fields"] == [
        {"field": "http_req_cnt", "type": "counter"},
        {"field": "http_req_rate", "type": "rate", "period": 3_600_000},
        {"field": "gpc0", "type": "counter"},
        {"field": "gpt0", "type": "counter"},
        {"field": "conn_cur", "type": "counter"},
    ]
    arrays = beside.client.get(f"{TABLES}/arrays").json["fields"]
    assert arrays == [
        {"field": "gpc", "type": "counter", "idx": 2},
        {"field": "gpt", "type": "counter", "idx": 3},
        {"field": "gpc_rate", "type": "rate", "idx": 2, "period": 10_000},
    ]
    names = sorted(table["name"] for table in beside.client.get(TABLES).json)
    assert names == ["addresses", "arrays", "bytes", "counters", "lines", "long_addresses"]
    absent = beside.client.get(f"{TABLES}/none")
    assert (absent.status, absent.message) == (404, "Stick table none not found")


def test_entries(beside: Beside) -> None:
    assert beside.client.get(COUNTERS).json == []
    got = put(beside, COUNTERS, "alice", gpc0=5, gpt0=3)
    assert (got.status, got.body) == (204, b"")
    put(beside, COUNTERS, "alice", gpc0=2_000_000)
    put(beside, COUNTERS, "bob", gpc0=1, id="0x1", use=True)
    alice = beside.client.get(f"{COUNTERS}?key=alice").json
    assert [{**entry, "id": "", "exp": 0} for entry in alice] == [
        {"id": "", "key": "alice", "exp": 0, "gpc0": 2_000_000, "gpt0": 3, "http_req_cnt": 0, "http_req_rate": 0, "conn_cur": 0}
    ]
    assert beside.client.get(f"{TABLES}/counters").json["used"] == 2


@pytest.mark.parametrize(
    ("table", "sent", "held"),
    [
        ("long_addresses", "127.0.0.1", "::ffff:127.0.0.1"),
        ("long_addresses", "::FFFF:7f00:1", "::ffff:127.0.0.1"),
        ("long_addresses", "2001:DB8:0::1", "2001:db8::1"),
        ("addresses", "::ffff:10.0.0.9", "10.0.0.9"),
        ("addresses", "10.0.0.9", "10.0.0.9"),
    ],
)
def test_an_address_is_the_key_that_haproxy_gives_its_client(beside: Beside, table: str, sent: str, held: str) -> None:
    path = f"{TABLES}/{table}/entries"
    assert put(beside, path, sent, gpc0=3).status == 204
    for query in ("", f"key={quote(sent)}", f"key={quote(sent)}&filter=gpc0%20gt%201", f"key={quote(held)}"):
        assert [entry["key"] for entry in beside.client.get(f"{path}?{query}").json] == [held], query
    assert beside.client.get(f"{path}?key={quote(sent)}&filter=gpc0%20gt%209").json == []
    refused = beside.client.get(f"{path}?key=banana")
    assert (refused.status, "addresses, not 'banana'" in refused.message) == (400, True)


def test_filters_and_pages(beside: Beside) -> None:
    for number, name in enumerate(["a", "b", "c", "d"]):
        put(beside, COUNTERS, name, gpc0=number, gpt0=number % 2)
    rows = {
        "filter=gpc0%20gt%201": ["c", "d"],
        "filter=data.gpc0%20gt%201": ["c", "d"],
        "filter=gpc0%20gt%200,gpt0%20eq%201": ["b", "d"],
        "filter=gpc0%20gt%2099": [],
        "key=c": ["c"],
        "key=zz": [],
        "key=c&filter=gpc0%20gt%201": ["c"],
        "key=a&filter=gpc0%20gt%201": [],
    }
    assert {query: keys(beside, query) for query in rows} == rows
    assert [len(keys(beside, query)) for query in ("count=2", "offset=1", "offset=3&count=2", "count=0")] == [2, 3, 1, 4]
    beyond = beside.client.get(f"{COUNTERS}?offset=4")
    assert (beyond.status, beyond.message) == (400, "Offset 4 is larger than the slice size 4")
    assert beside.client.get(f"{COUNTERS}?offset=-1").status == 400
    assert beside.client.get(f"{ADDRESSES}?offset=9").json == []


def test_one_of_an_array(beside: Beside) -> None:
    """Older versions know the first only; what HAProxy refuses is answered with the command."""
    arrays = f"{TABLES}/arrays/entries"
    assert put(beside, arrays, "a", gpc={"value": 5}, gpt={"idx": 0, "value": 4}).status == 204
    second = put(beside, arrays, "a", gpc={"idx": 1, "value": 6})
    [entry] = beside.client.get(f"{arrays}?key=a").json
    assert (entry["gpc0"], entry["gpt0"]) == (5, 4)
    if second.status == 400:
        assert (
            "Unknown data type: this HAProxy can set only the first element of an array, HAProxy 3.2 and later any element"
            in second.message
        )
        assert second.message.endswith("[set table arrays key a data.gpc[1] 6]")
    else:
        assert (second.status, entry["gpc1"]) == (204, 6)


@pytest.mark.parametrize(
    "key", ["two  words", "tab\there", "semi;colon", "#hash", "a#b", "<<", "back\\slash", '"quo\'tes"', "x=y use=1", "ünï ☃", "k" * 190]
)
def test_any_key_survives(beside: Beside, key: str) -> None:
    assert put(beside, COUNTERS, key, gpc0=7).status == 204
    assert [(entry["key"], entry["gpc0"]) for entry in beside.client.get(COUNTERS).json] == [(key, 7)]
    assert keys(beside, f"key={quote(key)}") == [key]


def test_keys_that_no_command_can_name_are_found(beside: Beside) -> None:
    with socket.create_connection(("127.0.0.1", beside.port)) as client:
        client.sendall(b"GET /x HTTP/1.1\r\nHost: a\r\nX-Key: line%0Abreak\r\nConnection: close\r\n\r\n")
        while client.recv(1000):
            pass
    for table, key in (("lines", "line\nbreak"), ("bytes", "6C696E6500000000")):
        assert [entry["key"] for entry in beside.client.get(f"{TABLES}/{table}/entries").json] == [key]
        assert [entry["key"] for entry in beside.client.get(f"{TABLES}/{table}/entries?key={quote(key)}").json] == [key]
        assert beside.client.get(f"{TABLES}/{table}/entries?key=other").json == []


def test_what_is_refused(beside: Beside) -> None:
    master = str(beside.haproxy.master)
    for got, status, message in (
        (beside.client.get(f"{TABLES}/none/entries"), 404, f"{master} [3]  No such table [show table none]"),
        (beside.client.get(f"{COUNTERS}?filter=nonsense%20gt%201"), 400, f"{master} [3]  Filter entry #1: Unknown data type"),
        (put(beside, f"{TABLES}/none/entries", "a", gpc0=1), 404, f"{master} [3]  No such table [set table none key a data.gpc0 1]"),
        (
            put(beside, COUNTERS, "a", server_id=1),
            400,
            f"{master} [3]  Data type not stored in this table; the table has the key nevertheless, without this data",
        ),
        (put(beside, ADDRESSES, "banana", gpc0=1), 400, f"{master} bad request: the keys of this table are IPv4 addresses"),
        (put(beside, COUNTERS, "a", gpc0=2**33), 400, f"{master} bad request: gpc0 must be from 0 to 4294967295"),
        (put(beside, COUNTERS, "k" * 300, gpc0=1), 400, f"{master} bad request: the table would store the key"),
        (beside.client.post(COUNTERS, {"data_type": {"gpc0": 1}}), 422, 'Error at "/key": property "key" is missing'),
        (beside.client.post(COUNTERS, {"key": "erin"}), 422, 'Error at "/data_type": property "data_type" is missing'),
        (put(beside, COUNTERS, "a\nb", gpc0=1), 400, "key in body must not contain a line break"),
        (put(beside, COUNTERS, "a", gpc0="x"), 422, "failed to decode request body: data_type.gpc0 in body must be an integer"),
        (put(beside, COUNTERS, "a", gpc={"idx": 0}), 422, 'Error at "/data_type/gpc": property "value" is missing'),
    ):
        assert (got.status, got.message.startswith(message)) == (status, True), got
    assert [entry["key"] for entry in beside.client.get(COUNTERS).json if entry["key"] != "a"] == []
    assert beside.client.get(ADDRESSES).json == []
