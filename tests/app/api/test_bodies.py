"""Bodies are read with limits and decoded without surprises."""

import asyncio
import json
from typing import Any

import pytest

from dataplaneapi.api import bodies
from dataplaneapi.api.bodies import DEEPEST, decode, read
from dataplaneapi.api.errors import ApiError
from haproxy_native.errors import ShareExceeded
from haproxy_native.shares import Account, Pool


class Sender:
    """A client that sends chunks, and remembers how many were taken from it."""

    def __init__(self, *chunks: bytes, ends: bool = True) -> None:
        self.chunks, self.taken, self.ends = list(chunks), 0, ends

    async def __call__(self) -> dict[str, Any]:
        if self.taken == len(self.chunks):
            await asyncio.Event().wait()
        self.taken += 1
        return {"type": "http.request", "body": self.chunks[self.taken - 1], "more_body": self.taken < len(self.chunks) or not self.ends}


def taken(sender: Sender, limit: int = 0, seconds: float = 0, headers: list[tuple[bytes, bytes]] | None = None) -> bytes:
    return asyncio.run(read(sender, headers or [], limit, seconds))


def test_chunks_are_joined() -> None:
    assert taken(Sender(b"a", b"", b"b")) == b"ab"
    assert taken(Sender(b"ab"), limit=2) == b"ab"


def test_an_announced_size_is_refused_unread() -> None:
    sender = Sender(b"x" * 10)
    with pytest.raises(ApiError, match="request body exceeds the maximum allowed size of 9 bytes") as error:
        taken(sender, 9, headers=[(b"content-length", b"10")])
    assert (error.value.status, sender.taken) == (413, 0)


def test_chunks_over_the_limit_are_not_collected() -> None:
    sender = Sender(*[b"xxxx"] * 100)
    with pytest.raises(ApiError) as error:
        taken(sender, 9)
    assert (error.value.status, sender.taken) == (413, 3)


def test_bodies_of_one_caller_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of it is for one caller: two bodies of the largest size here."""
    monkeypatch.setattr(bodies, "_memory", lambda: 0)
    pool, ann, limit, third = Pool("bytes"), Account("ann", is_limited=True), 100, Sender(b"x", b"x")

    with pool.hold(ann) as holding:
        for sender in (Sender(b"x" * 90, b"x" * 10), Sender(b"x" * 100)):
            asyncio.run(read(sender, [], limit, 0, holding))
        with pytest.raises(ShareExceeded, match="ann has 200 bytes, one caller may have 200 of 400"):
            asyncio.run(read(third, [], limit, 0, holding))
    assert (third.taken, pool._held.total()) == (1, 0)


def test_a_body_that_never_ends_is_given_up() -> None:
    with pytest.raises(ApiError, match="within 0.01 seconds") as error:
        taken(Sender(b"x", ends=False), seconds=0.01)
    assert error.value.status == 408


def test_a_client_that_leaves() -> None:
    async def gone() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    with pytest.raises(ApiError, match="the client disconnected"):
        asyncio.run(read(gone, [], 0, 0))


def test_values() -> None:
    assert decode(b' {"a": [1, "\xc3\xbc", null]} ') == {"a": [1, "ü", None]}
    assert decode(b'{"a": 1, "a": 2}') == {"a": 2}
    assert decode(b"null") is None
    assert decode(b'{"a": 1} {"b": 2} and so on') == {"a": 1}


@pytest.mark.parametrize(
    "data",
    [b"{", b"name: x", b"\xff", b'{"a": NaN}', b"[Infinity]", b"1" * 5000, b"[" * 100_000, b" ", b'{"a": "\n"}'],
    ids=lambda data: repr(data[:12]),
)
def test_no_json(data: bytes) -> None:
    with pytest.raises(ApiError, match="^failed to decode request body: ") as error:
        decode(data)
    assert error.value.status == 400


def nested(depth: int) -> bytes:
    value: Any = 1
    for _ in range(depth):
        value = {"a": [value]}
    return json.dumps(value).encode()


def test_depth() -> None:
    assert decode(nested(DEEPEST // 2))
    with pytest.raises(ApiError, match=f"nested deeper than {DEEPEST} levels"):
        decode(nested(DEEPEST // 2 + 1))
    assert len(decode(json.dumps([{}] * 1000).encode())) == 1000


@pytest.mark.parametrize(
    "value",
    [
        {f"s{i}": {"name": f"s{i}", "nested": [[i, None, True, 1.5, "\u20ac\n"]]} for i in range(10_000)},
        ["", 1, {}, []] * 100_000,
        [[["x" * 300_000]], {"long": "y" * 300_000}],
    ],
    ids=["objects", "scalars", "long texts"],
)
def test_a_large_value_is_read_as_a_small_one(value: Any) -> None:
    text = json.dumps(value)
    assert decode(text.encode()) == value
    for cut in (1, 2, len(text) // 2):
        with pytest.raises(ApiError, match="^failed to decode request body: "):
            decode(text[:-cut].encode())


def test_a_large_value_without_an_end() -> None:
    for data in (b"[" * 1_000_000, b'{"a":' * 200_000, b"[1," + b" " * 400_000 + b"]", b'["' + b"x" * 400_000):
        with pytest.raises(ApiError, match="^failed to decode request body: "):
            decode(data)
