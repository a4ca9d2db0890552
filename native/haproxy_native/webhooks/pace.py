"""What an answer to a delivery means, and when the next attempt is. Pure; in seconds."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

FIRST, LONGEST = 1.0, 300.0
# A receiver may ask for so long a pause.
LONGEST_ASKED = 3600.0
# By these a receiver refuses the event itself, which others must not wait behind for ever.
REFUSALS, ATTEMPTS = frozenset((400, 413, 422)), 5
GONE = 410


@dataclass(frozen=True)
class Answer:
    """What came of one attempt. `status` is 0 without an answer, and `error` says why; `retry_after` is what the receiver asks for."""

    status: int = 0
    error: str = ""
    retry_after: float = 0.0

    @property
    def is_taken(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_refusal(self) -> bool:
        return self.status in REFUSALS


def until_retry(failures: int, asked: float, random: Callable[[], float]) -> float:
    """Returns the seconds until a retry: doubled with each failure from a second to five minutes, of which a random part between half and
    all; not before the receiver's Retry-After, up to an hour. `random` returns from 0 to 1.
    """
    doubled = min(FIRST * 2.0 ** min(failures - 1, 16), LONGEST)
    return max(doubled * (0.5 + random() / 2), min(asked, LONGEST_ASKED))


def retry_after(text: str, now: float) -> float:
    """The value of a header `Retry-After`, seconds or a date (RFC 9110, section 10.2.3); 0 for one that is neither."""
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    try:
        asked = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    return max(0.0, (asked if asked.tzinfo else asked.replace(tzinfo=UTC)).timestamp() - now)
