"""Share resources between callers: no caller can exhaust them, or has to wait for the queue of another."""

import asyncio
from collections import Counter
from contextlib import suppress

import pytest

from haproxy_native import shares
from haproxy_native.access.rights import predefined, rights_of
from haproxy_native.errors import ShareExceeded
from haproxy_native.request_context import Author, Request
from haproxy_native.shares import MOST_WAITING, Account, Pool, Turns, check_room, surplus

ROLES = predefined(["backend"])
TOTALS = (1, 2, 3, 8, 20, 100)


def by(name: str, role: str = "viewer", group: str = "users") -> Account:
    """Return the account of a caller; without a name, that of the server itself."""
    asked = Author(name, "192.0.2.1", rights=rights_of([(role, ROLES[role])]), group=group, request=Request())
    return Account.from_author(asked if name else Author("discovery"))


def test_who_a_caller_is() -> None:
    assert by("ann") == by("token 7 of ann", group="tokens") == Account("ann", is_limited=True)
    assert by("root", "admin") == Account("root", is_limited=False)
    assert by("token 8 of ann", group="tokens").holder == by("ann").holder and len(by("ann").holder) == 8
    assert by("") == Account.from_author(None) == Account()
    assert Account.from_author(Author(address="192.0.2.1", request=Request())) == Account("192.0.2.1", is_limited=False)


@pytest.mark.parametrize("total", TOTALS)
def test_places_that_are_there_or_not(total: int) -> None:
    """A limited caller gets at most half, and leaves some to callers with all rights. Those and the server get all that is free."""
    held = Counter[str]()
    for name in [name for name in ("ann", "ben", "cid") for _ in range(total)]:
        with suppress(ShareExceeded):
            check_room(by(name), total, held[name], held.total(), "things")
            held[name] += 1
    assert held["ann"] == max(held.values()) == max(1, total // 2)
    assert held.total() == max(1, total - max(1, total // 8))
    for name in ("root", ""):
        check_room(by(name, "admin"), total, total, total, "things")


def test_no_limit_is_divided() -> None:
    check_room(by("ann"), 0, 1000, 1000, "things")


def test_what_a_request_holds_is_given_back() -> None:
    pool = Pool("bytes")
    with pool.hold(by("ann")) as one, pool.hold(by("ann")) as other:
        one.add(30, 100)
        other.add(20, 100)
        with pytest.raises(ShareExceeded, match="ann has 50 bytes, one caller may have 50 of 100"):
            one.add(1, 100)
    with pool.hold(by("ann")) as again:
        again.add(50, 100)
    with pool.hold(by("root", "admin")) as everything:
        everything.add(1000, 100)


async def asked(turns: Turns, name: str, role: str, served: list[str], done: asyncio.Event) -> None:
    async with turns.turn(by(name, role)):
        served.append(name)
        await done.wait()


@pytest.mark.parametrize("total", TOTALS[1:])
def test_a_caller_with_all_rights_waits_for_none_of_the_others(total: int) -> None:
    async def work() -> None:
        turns, served, done = Turns(total, "checks"), list[str](), asyncio.Event()
        others = [asyncio.create_task(asked(turns, name, "viewer", served, done)) for name in "abcdefgh" for _ in range(MOST_WAITING)]
        await asyncio.sleep(0)
        assert len(served) == total - max(1, total // 8)
        assert max(Counter(served).values()) <= total // 2
        for name in ("root", ""):
            await asyncio.sleep(0)
            task = asyncio.create_task(asked(turns, name, "admin", served, done))
            await asyncio.sleep(0)
            assert served[-1] == name
            others.append(task)
        done.set()
        await asyncio.gather(*others)
        assert not turns.held and not turns._waiting

    asyncio.run(work())


def test_callers_take_turns() -> None:
    """A new caller waits only for the running work, not for the queues of others."""

    async def work() -> None:
        turns, order, all_there = Turns(2, "checks"), list[str](), asyncio.Event()

        async def one(name: str) -> None:
            async with turns.turn(by(name)):
                order.append(name)
                await all_there.wait()

        tasks = [asyncio.create_task(one("ann")) for _ in range(9)]
        await asyncio.sleep(0)
        tasks += [asyncio.create_task(one(name)) for name in ("ben", "cid", "ben")]
        await asyncio.sleep(0)
        all_there.set()
        await asyncio.gather(*tasks)
        assert order[:5] == ["ann", "ben", "cid", "ann", "ben"] and set(order[5:]) == {"ann"}

    asyncio.run(work())


def test_a_queue_has_an_end() -> None:
    async def work() -> None:
        turns, served, done = Turns(2, "checks"), list[str](), asyncio.Event()
        tasks = [asyncio.create_task(asked(turns, "ann", "viewer", served, done)) for _ in range(1 + MOST_WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(ShareExceeded, match=f"{MOST_WAITING} checks of ann are waiting"):
            await asked(turns, "ann", "viewer", served, done)
        ended, admitted = tasks[:5], tasks[5:]
        for task in ended:
            task.cancel()
        await asyncio.wait(ended)
        done.set()
        await asyncio.gather(*admitted)
        assert not turns.held and not turns._waiting and len(served) == 1 + len(admitted)

    asyncio.run(work())


def test_one_that_is_given_a_place_as_it_leaves_returns_it() -> None:
    async def work() -> None:
        turns, served, done = Turns(2, "checks"), list[str](), asyncio.Event()
        first = asyncio.create_task(asked(turns, "ann", "viewer", served, done))
        await asyncio.sleep(0)
        second = asyncio.create_task(asked(turns, "ann", "viewer", served, asyncio.Event()))
        await asyncio.sleep(0)
        done.set()
        while not first.done():
            await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([first, second])
        assert not turns.held

    asyncio.run(work())


def test_a_place_that_another_goes_on_to_use() -> None:
    async def work() -> None:
        turns = Turns(2, "texts")
        slot = await turns.acquire(by("ann"))
        waits = asyncio.create_task(turns.acquire(by("ann")))
        await asyncio.sleep(0)
        assert not waits.done()
        turns.pass_on(slot, Account("root"))
        assert (await waits).caller.name == "ann" and [each.name for each in turns.held] == ["root", "ann"]

    asyncio.run(work())


def test_turns_are_those_of_the_loop() -> None:
    async def both() -> tuple[Turns, Turns]:
        return shares.turns("a", 1), shares.turns("a", 1)

    one, other = asyncio.run(both()), asyncio.run(both())
    assert one[0] is one[1] is not other[0]


@pytest.mark.parametrize(("most", "most_bytes"), [(5, 1000), (100, 40)])
def test_the_oldest_of_whoever_has_the_most_goes(most: int, most_bytes: int) -> None:
    items = [("flood", 100.0 - number, 10, f"flood {number}") for number in range(50)]
    items += [("ann", 500.0, 10, "ann's, which is older than all")]
    gone = surplus(items, most, most_bytes, "flood")
    assert gone == [f"flood {number}" for number in range(len(gone))] and 46 <= len(gone) <= 47
    assert surplus(items, 100, 1000, "ann") == []
