"""Decide when to reload: a state machine whose inputs have times, and whose outputs are actions. It has no clock and performs no action.

A request waits until no other request has arrived for `quiet` seconds, but at most `delay` seconds. Between the beginnings of two scheduled
reloads there are at least `delay` seconds. So a single change is soon live, and a stream of changes causes one reload in each period.

There is at most one pending reload and one in progress. A request that arrives while HAProxy reads the file goes into the next reload.
"""

from dataclasses import dataclass

QUIET_SHARE = 0.2


@dataclass(frozen=True)
class Requested:
    """A change needs a reload. `id` is used if no reload is pending; `forced` means without a delay."""

    id: str
    at: float
    forced: bool = False


@dataclass(frozen=True)
class Tick:
    at: float


@dataclass(frozen=True)
class Loading:
    """HAProxy begins to read the file. The reload in progress covers earlier requests; later ones need another reload."""

    at: float


@dataclass(frozen=True)
class Finished:
    """The reload in progress has ended, with any outcome."""

    at: float


@dataclass(frozen=True)
class Withdrawn:
    """The pending reload is no longer needed: its changes have taken effect without it."""

    at: float


@dataclass(frozen=True)
class Begin:
    """Reload now. The reload covers every request up to `Loading`."""

    id: str


@dataclass(frozen=True)
class Wake:
    """Send a Tick at this time."""

    at: float


Input = Requested | Tick | Loading | Finished | Withdrawn
Action = Begin | Wake


@dataclass(frozen=True)
class _Pending:
    id: str
    first: float
    last: float
    forced: bool


class Debounce:
    """Decides when to reload. Times are those of one monotonic clock, in seconds."""

    def __init__(self, delay: float) -> None:
        self.delay, self.quiet = delay, delay * QUIET_SHARE
        self.running: str | None = None
        self._loading = False
        self._pending: _Pending | None = None
        self._began: float | None = None

    @property
    def pending(self) -> str | None:
        """The id of the reload that another request would join; None if no reload is pending."""
        if self.running is not None and not self._loading:
            return self.running
        return self._pending.id if self._pending else None

    def handle(self, event: Input) -> list[Action]:
        """Process an input, and return what to do: begin a reload, or send a Tick later."""
        if isinstance(event, Loading):
            self._loading = True
        elif isinstance(event, Requested):
            if event.id == self.running:
                return []
            former = self._pending or _Pending(event.id, event.at, event.at, False)
            self._pending = _Pending(former.id, former.first, event.at, former.forced or event.forced)
        elif isinstance(event, Finished):
            self.running, self._loading = None, False
        elif isinstance(event, Withdrawn):
            self._pending = None
        pending = self._pending
        if pending is None or self.running is not None:
            return []
        due = pending.last
        if not pending.forced:
            due += self.quiet
            if self._began is not None:
                due = max(due, self._began + self.delay)
            due = min(due, pending.first + self.delay)
        if event.at < due:
            return [Wake(due)]
        self.running, self._pending, self._began = pending.id, None, event.at
        return [Begin(pending.id)]
