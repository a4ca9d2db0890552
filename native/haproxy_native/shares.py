"""Divide shared resources so that no caller can use them up: check slots, shadows, threads, connections, transactions, stored plans.

A caller is a user, a client certificate or the creator of a token; a caller without a name is identified by its address. Callers without
roles, and those with all rights, may use a whole pool. The others are limited: one of them may hold half of a pool, and all of them
together leave an eighth of it to callers with all rights. In a small pool, half and eighth are at least one slot each. Work of the server
itself belongs to no caller: it is not counted, refused or delayed.

Three kinds of pools follow these rules:

- `check_room` refuses a slot that a caller may not have at once (transactions, operations, requests).
- `Turns` makes callers wait. A free slot goes to the caller that has been served least recently, so that a long queue of one caller
  delays no other; the queue of a limited caller has MOST_WAITING entries at most.
- `surplus` selects what is deleted from a full store: always the oldest item of the caller that holds the most.
"""

import asyncio
import base64
import hashlib
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Self, TypeVar
from weakref import WeakKeyDictionary

from haproxy_native.errors import ShareExceeded
from haproxy_native.request_context import Author

MOST_WAITING = 32
# The number of callers whose last turn is remembered.
_REMEMBERED = 1000
# The group of callers that are tokens; their names are `token ID of CREATOR`.
_TOKENS = "tokens"
Item = TypeVar("Item")


@dataclass(frozen=True)
class Account:
    """The caller to whom a use of a pool is charged."""

    # Empty for the server itself.
    name: str = ""
    # Whether the caller has roles that do not permit everything.
    is_limited: bool = False

    @classmethod
    def from_author(cls, author: Author | None) -> Self:
        """Return the account of an author. If there is no author, or no client requested the work, return the account of the server."""
        if author is None or author.request is None:
            return cls()
        name = account_name(author.identity) or author.address or "unknown"
        return cls(name, author.rights is not None and not author.rights.are_all)

    @property
    def holder(self) -> str:
        """Eight characters that identify the caller in the name of a file."""
        return base64.urlsafe_b64encode(hashlib.blake2b(self.name.encode(), digest_size=6).digest()).decode()


def account_name(identity: str) -> str:
    """Return the name of the account for a caller's identity. Tokens use the account of their creator."""
    group, _, name = identity.partition("/")
    return name.partition(" of ")[2] if group == _TOKENS else name


def share(total: int) -> int:
    """Return how many slots of a pool of this size one limited caller may hold."""
    return max(1, total // 2)


def _share_of_all(total: int) -> int:
    """Return how many slots all limited callers together may hold."""
    return max(1, total - max(1, total // 8))


def check_room(caller: Account, total: int, held: int, held_by_all: int, what: str, wanted: int = 1) -> None:
    """Raise ShareExceeded if a limited caller would exceed its share of `total` slots. If `total` is 0, there is no limit.

    `held`: the slots that the caller holds. `held_by_all`: the slots that all limited callers hold. `wanted`: the slots that the caller
    requests. `what` names the slots in the error.
    """
    if not caller.is_limited or not total:
        return
    if held + wanted > share(total):
        raise ShareExceeded(f"{caller.name} has {held} {what}, one caller may have {share(total)} of {total}; try again later")
    if held_by_all + wanted > _share_of_all(total):
        raise ShareExceeded(f"there are {held_by_all} {what}, the rest of {total} is for callers with all rights; try again later")


@dataclass
class Holding:
    """The part of a pool that one request occupies."""

    # What the slots are, for error messages, and how many each limited caller holds.
    what: str
    held: Counter[str]
    caller: Account
    size: int = 0

    def add(self, size: int, total: int) -> None:
        """Add slots of a pool with `total` slots. Raises ShareExceeded."""
        if self.caller.is_limited:
            check_room(self.caller, total, self.held[self.caller.name], self.held.total(), self.what, size)
            self.held[self.caller.name] += size
            self.size += size


class Pool:
    """Counts what limited callers hold during a request. `what` names it in error messages."""

    def __init__(self, what: str) -> None:
        self._what, self._held = what, Counter[str]()

    @contextmanager
    def hold(self, caller: Account) -> Iterator[Holding]:
        """Yield an empty holding of a caller, and release all that was added to it at the end."""
        holding = Holding(self._what, self._held, caller)
        try:
            yield holding
        finally:
            self._held[caller.name] -= holding.size
            self._held += Counter[str]()


@dataclass(eq=False)
class Slot:
    """A slot in a pool, which its caller holds until it is released."""

    caller: Account


class Turns:
    """A pool of `total` slots in which callers wait for their turn. Bound to one event loop.

    `what` names the uses in error messages. `most_waiting` limits the queue of each limited caller.
    """

    def __init__(self, total: int, what: str, most_waiting: int = MOST_WAITING) -> None:
        self._total, self._what, self._most_waiting = total, what, most_waiting
        self._held: list[Slot] = []
        self._waiting: dict[Account, deque[tuple[Slot, asyncio.Future[None]]]] = {}
        self._turn, self._turns = 0, dict[Account, int]()

    @property
    def held(self) -> Sequence[Account]:
        """The callers that hold a slot, one for each slot."""
        return [slot.caller for slot in self._held]

    async def acquire(self, caller: Account) -> Slot:
        """Wait for a slot. Raises ShareExceeded if too many uses of a limited caller wait already."""
        slot = Slot(caller)
        if self._has_room(caller):
            self._assign(slot)
            return slot
        queue = self._waiting.setdefault(caller, deque())
        if caller.is_limited and len(queue) >= self._most_waiting:
            raise ShareExceeded(
                f"{self._most_waiting} {self._what} of {caller.name} are waiting, as many as may; try again when one has ended"
            )
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append((slot, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if slot in self._held:
                self.release(slot)
            else:
                self._leave_queue(caller, slot, turn)
            raise
        return slot

    def release(self, slot: Slot) -> None:
        self._held.remove(slot)
        self._serve()

    def pass_on(self, slot: Slot, caller: Account) -> None:
        """Charge a slot to another caller, which continues to use it."""
        slot.caller = caller
        self._serve()

    @asynccontextmanager
    async def turn(self, caller: Account) -> AsyncIterator[None]:
        """Wait for a slot and hold it while the body runs. Raises ShareExceeded."""
        slot = await self.acquire(caller)
        try:
            yield
        finally:
            self.release(slot)

    def _has_room(self, caller: Account) -> bool:
        if not caller.name:
            return True
        held = [slot.caller for slot in self._held if slot.caller.name]
        if len(held) >= self._total:
            return False
        limited = [each for each in held if each.is_limited]
        return not caller.is_limited or (limited.count(caller) < share(self._total) and len(limited) < _share_of_all(self._total))

    def _assign(self, slot: Slot) -> None:
        self._held.append(slot)
        self._turn += 1
        self._turns[slot.caller] = self._turn
        if len(self._turns) > _REMEMBERED:
            del self._turns[min(self._turns, key=self._turns.__getitem__)]

    def _serve(self) -> None:
        """Assign free slots to waiting callers, first to the one that was served least recently."""
        while ready := [caller for caller in self._waiting if self._has_room(caller)]:
            caller = min(ready, key=lambda each: self._turns.get(each, 0))
            slot, turn = self._waiting[caller][0]
            self._leave_queue(caller, slot, turn)
            if not turn.done():
                self._assign(slot)
                turn.set_result(None)

    def _leave_queue(self, caller: Account, slot: Slot, turn: "asyncio.Future[None]") -> None:
        queue = self._waiting.get(caller, deque())
        if (slot, turn) in queue:
            queue.remove((slot, turn))
        if not queue:
            self._waiting.pop(caller, None)


_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Turns]] = WeakKeyDictionary()


def turns(what: str, total: int, most_waiting: int = MOST_WAITING) -> Turns:
    """Return the pool of this name in the running event loop. The first call creates it."""
    pools = _pools.setdefault(asyncio.get_running_loop(), {})
    return pools.get(what) or pools.setdefault(what, Turns(total, what, most_waiting))


def surplus(items: Iterable[tuple[str, float, int, Item]], most: int, most_bytes: int, holder: str) -> list[Item]:
    """Return the items to delete from a store before `holder` adds an item. Each is the oldest item of the holder with the most items.

    `items` are tuples of holder, age, size in bytes, and the item to return. The store may have `most` items, and `most_bytes` in total. If
    only the bytes are too many, the holder with the most bytes loses its oldest item.
    """
    by_age = sorted(items, key=lambda item: item[1])
    queues: dict[str, list[tuple[str, float, int, Item]]] = {}
    numbers, sizes, deleted = Counter({holder: 1}), Counter[str](), list[Item]()
    for item in by_age:
        queues.setdefault(item[0], []).append(item)
        numbers[item[0]] += 1
        sizes[item[0]] += item[2]
    while queues and (numbers.total() > most or sizes.total() > most_bytes):
        counted = numbers if numbers.total() > most else sizes
        name = max(queues, key=lambda each: (counted[each], queues[each][-1][1]))
        _, _, size, what = queues[name].pop()
        if not queues[name]:
            del queues[name]
        numbers[name] -= 1
        sizes[name] -= size
        deleted.append(what)
    return deleted
