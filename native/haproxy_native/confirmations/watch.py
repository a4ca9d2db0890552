"""`Watch`: looks at the traffic of the sections that a change touches, from before the change on, and judges it."""

import time
from collections import deque
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from haproxy_native.background import Background
from haproxy_native.confirmations.guard import INCONCLUSIVE, STEADY, Count, Guard, Seen, Verdict, judge
from haproxy_native.confirmations.ledger import Confirmation
from haproxy_native.confirmations.traffic import Look, Traffic, between
from haproxy_native.errors import RuntimeFailure

# An older look is not counted.
STALE_SECONDS = 5.0


class Watch:
    """Nothing is asked until `begin`, and HAProxy once a second from then on."""

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic
        self._works = Background("the guard of changes")
        self._begun = False
        # Of the confirmation that is watched: its id, the first look since its change, and the last ones.
        self._id = ""
        self._looks: deque[Look] = deque(maxlen=STEADY + 1)
        self._start: Look | None = None

    def begin(self) -> None:
        """Again is harmless."""
        if not self._begun:
            self._begun = True
            self._works.begin(self._traffic.look_on())

    async def stop(self) -> None:
        await self._works.stop()

    async def before(self) -> tuple[Look, Look]:
        """The looks before a change: a minute ago, or the beginning where that is later, and now. Raises RuntimeFailure."""
        self.begin()
        now = await self._traffic.look()
        return self._traffic.looks[0], now

    async def started(self, id_: str) -> None:
        """The change is in effect."""
        self._id, self._start = id_, None
        self._looks.clear()
        with suppress(RuntimeFailure):
            self._start = await self._traffic.look()

    def verdict(self, confirmation: Confirmation, seconds: float) -> Verdict:
        """`seconds` since the change. After a restart of the server counting begins anew."""
        assert confirmation.guard is not None
        self.begin()
        if self._id != confirmation.id:
            self._id, self._start = confirmation.id, None
            self._looks.clear()
        latest, baseline = self._traffic.looks[-1], confirmation.baseline
        if baseline is None:
            return Verdict(INCONCLUSIVE, ["what was before the change is not known"], {}, {})
        if time.monotonic() - latest.time > STALE_SECONDS:
            return Verdict(INCONCLUSIVE, ["HAProxy does not answer"], {}, {})
        self._start = self._start or latest
        if latest.time > self._start.time and (not self._looks or self._looks[-1] is not latest):
            self._looks.append(latest)
        before = {kind: Count(**count) for kind, count in baseline["counts"].items()}
        after = between(self._start, latest, baseline["sections"])
        seen = Seen(before, after, baseline["ready"], [look.ready for look in self._looks], seconds)
        return judge(Guard(**confirmation.guard), seen)


def baseline(looks: tuple[Look, Look], sections: Collection[str]) -> dict[str, Any]:
    """What is kept of the time before a change that touches these sections."""
    counts: Mapping[str, Count] = between(*looks, sections)
    return {
        "sections": sorted(sections),
        "counts": {kind: asdict(count) for kind, count in counts.items()},
        "ready": {name: count for name, count in looks[1].ready.items() if name in sections},
    }
