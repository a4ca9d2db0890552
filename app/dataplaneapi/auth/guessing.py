"""Count wrong credentials for each pair of address and name, and for each address, and limit both.

Above a limit the gate refuses credentials without a check. The answer is then cheap, and is the same for correct and wrong credentials. The
failures of one address do not affect others: an address that tries many names only exceeds its own limit.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from ipaddress import IPv6Address

# The period in seconds, and the most failures in a period: for one name at one address, and for one address.
SECONDS, PER_NAME, PER_ADDRESS = 60.0, 5, 50
# The most stored failures and successful pairs. Beyond it, the failures of the address, or the pair, with the oldest last attempt are
# deleted.
MOST_FAILURES, MOST_SUCCESSES = 20_000, 4_096
LONGEST_NAME = 64
# The prefix length of an IPv6 network. A client can choose the rest of its address.
_NETWORK = 64
Pair = tuple[str, str]


class Guessing:
    """The recent failures, and the successes, of pairs of address and name. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # The time and name of each failure, by address. The address that failed most recently is the last.
        self._failures: OrderedDict[str, deque[tuple[float, str]]] = OrderedDict()
        self._number = 0
        self._successes: OrderedDict[Pair, None] = OrderedDict()

    def wait(self, pair: Pair) -> float:
        """Return the seconds until credentials of this pair may be checked; 0.0 if the limit is not exceeded."""
        address, name = pair
        now = self._clock()
        recent = [failure for failure in self._failures.get(address, ()) if failure[0] > now - SECONDS]
        own = [at for at, failed in recent if failed == name]
        over = [own[-PER_NAME]] if len(own) >= PER_NAME else []
        if len(recent) >= PER_ADDRESS:
            over.append(recent[-PER_ADDRESS][0])
        return max(over) + SECONDS - now if over else 0.0

    def fail(self, pair: Pair) -> None:
        """Count an attempt as failed. Call this before the check, and `succeed` if the credentials are correct."""
        address, name = pair
        # Delete failures older than SECONDS: all but the last of this address, and addresses that have only such failures.
        oldest_time = self._clock() - SECONDS
        own = self._failures.get(address)
        while own and len(own) > 1 and own[0][0] <= oldest_time:
            own.popleft()
            self._number -= 1
        while self._failures and next(iter(self._failures.values()))[-1][0] <= oldest_time:
            self._number -= len(self._failures.popitem(last=False)[1])
        self._failures.setdefault(address, deque()).append((self._clock(), name))
        self._failures.move_to_end(address)
        self._number += 1
        while self._number > MOST_FAILURES:
            self._number -= len(self._failures.popitem(last=False)[1])

    def succeed(self, pair: Pair) -> None:
        """Remove the failures of a pair, and record that it has succeeded."""
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
        """Return the number of stored failures."""
        return self._number


def pair(address: str, name: str) -> Pair:
    """Return the pair for which failures are counted.

    It consists of the address, or the network of an IPv6 address, and the first LONGEST_NAME characters of the name.
    """
    if ":" in address:
        address = str(IPv6Address((int(IPv6Address(address.partition("%")[0])) >> _NETWORK) << _NETWORK))
    return address, name[:LONGEST_NAME]
