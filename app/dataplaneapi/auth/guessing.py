"""How often credentials may be wrong: by address and name, and by address. Pure.

What is over its limit is refused before the password is looked at, so the answer is cheap and the same for a right and a wrong one. An
address counts for itself alone: one that tries many names is over its own limit, and forgets none of the failures of others.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from ipaddress import IPv6Address

# Wrong ones within so many seconds: of one name at one address, and of one address.
SECONDS, PER_NAME, PER_ADDRESS = 60.0, 5, 50
# What is remembered at most: failures, of which those of the address that has failed the longest ago go first, and pairs that were right.
MOST_FAILURES, MOST_SUCCESSES = 20_000, 4_096
LONGEST_NAME = 64
# An IPv6 client chooses the rest of its address.
_NETWORK = 64
Pair = tuple[str, str]


class Guessing:
    """Failures and successes by pairs of address and name, in the time of `clock`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # By address, the one that failed last at the end: when, and with which name.
        self._failures: OrderedDict[str, deque[tuple[float, str]]] = OrderedDict()
        self._number = 0
        self._successes: OrderedDict[Pair, None] = OrderedDict()

    def wait(self, pair: Pair) -> float:
        """Seconds until it may be tried; 0.0 for now."""
        address, name = pair
        now = self._clock()
        recent = [failure for failure in self._failures.get(address, ()) if failure[0] > now - SECONDS]
        own = [at for at, failed in recent if failed == name]
        over = [own[-PER_NAME]] if len(own) >= PER_NAME else []
        if len(recent) >= PER_ADDRESS:
            over.append(recent[-PER_ADDRESS][0])
        return max(over) + SECONDS - now if over else 0.0

    def fail(self, pair: Pair) -> None:
        """Counts a try as wrong; `succeed` takes that back, so it is counted before it is known."""
        address, name = pair
        self._forget_old(address)
        self._failures.setdefault(address, deque()).append((self._clock(), name))
        self._failures.move_to_end(address)
        self._number += 1
        while self._number > MOST_FAILURES:
            self._number -= len(self._failures.popitem(last=False)[1])

    def succeed(self, pair: Pair) -> None:
        """Forgets the failures of the pair, and remembers that it was right once."""
        address, name = pair
        before = self._failures.get(address, deque())
        left = deque(failure for failure in before if failure[1] != name)
        self._number -= len(before) - len(left)
        if left:
            self._failures[address] = left
        else:
            self._failures.pop(address, None)
        self._successes[pair] = None
        self._successes.move_to_end(pair)
        if len(self._successes) > MOST_SUCCESSES:
            self._successes.popitem(last=False)

    def has_succeeded(self, pair: Pair) -> bool:
        return pair in self._successes

    def __len__(self) -> int:
        """The number of failures that are remembered."""
        return self._number

    def _forget_old(self, address: str) -> None:
        """Forgets the old failures of this address, and of all addresses without later ones."""
        limit = self._clock() - SECONDS
        own = self._failures.get(address)
        while own and len(own) > 1 and own[0][0] <= limit:
            own.popleft()
            self._number -= 1
        while self._failures and next(iter(self._failures.values()))[-1][0] <= limit:
            self._number -= len(self._failures.popitem(last=False)[1])


def pair(address: str, name: str) -> Pair:
    """What failures are counted by; of a long name the beginning, of an IPv6 address its network."""
    if ":" in address:
        address = str(IPv6Address((int(IPv6Address(address.partition("%")[0])) >> _NETWORK) << _NETWORK))
    return address, name[:LONGEST_NAME]
