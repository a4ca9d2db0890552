"""`ObjectKind`: objects of one kind in the running process, read before and after a change, and made again as they were."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from haproxy_native.commit.change import Member, Outcome, Same
from haproxy_native.commit.commit import change_process
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.shown import Shown
from haproxy_native.errors import Conflict, Diverged, NativeError, RuntimeRefused
from haproxy_native.runtime.client import Runtime

Members = Mapping[str, Any] | None
RELOAD = "a reload makes HAProxy do what the files say"


class ObjectKind(ABC):
    def __init__(self, context: CommitContext) -> None:
        self.context = context

    @property
    def runtime(self) -> Runtime:
        return self.context.runtime

    @abstractmethod
    async def look(self, object_: str, given: bytes | None = None) -> Shown:
        """`given`: what the change that was just made has brought. Raises NativeError."""

    @abstractmethod
    async def make(self, object_: str, now: Shown, wanted: Shown) -> None:
        """Sends the commands. Raises RuntimeFailure, and Conflict for what no command can make."""

    def stays(self, member: str) -> bool:
        """Whether a member keeps its value until it is changed, so that it can be compared."""
        return True

    async def take_back(self, changed: Sequence[Member], held: bytes | None) -> Outcome | None:
        """Takes back a change among later ones; None where nothing of it is left.

        Raises RuntimeFailure, and Conflict with both sides or with what cannot be put back, with the process as it was.
        """
        object_ = changed[0].object
        if self.without(object_, (await self.look(object_)).members, changed) is None:
            return None

        async def apply() -> None:
            now = await self.look(object_)
            if (wanted := self.without(object_, now.members, changed)) is None:
                raise Same
            try:
                await self.make(object_, now, Shown(wanted.members, held))
                self._check(object_, (await self.look(object_, held)).members, wanted.members)
            except (Conflict, RuntimeRefused) as error:
                await self._undo(object_, now)
                why = f"{error.answer}; {RELOAD}" if isinstance(error, RuntimeRefused) else error.detail
                raise Diverged(f"{object_} cannot be put back: {why}") from error

        outcome = await change_process(self.context, object_, apply, given=held)
        # Another call has taken it back meanwhile, and the process was not changed.
        return None if outcome.lasting else outcome

    async def _undo(self, object_: str, former: Shown) -> None:
        with suppress(NativeError):
            if (now := await self.look(object_)).members != former.members:
                await self.make(object_, now, former)

    def without(self, object_: str, now: Members, changed: Sequence[Member]) -> Shown | None:
        """The members without a change; None where they are so. Raises Conflict with both sides."""
        old, new = _sides(changed)
        if self._differing(now, old) is None:
            return None
        if differing := self._differing(now, new):
            back = "it would go" if old is None else f"to come back: {_value(old.get(differing, ''))}"
            is_now, was = (_value(side.get(differing)) for side in (now or {}, new or {}))
            raise Diverged(f"{differing} of {object_} is {is_now} by now, not {was}; {back}")
        if differing is not None:
            raise Diverged(f"{object_} is {'gone' if now is None else 'there again'} by now, and has other members than before the change")
        left = old if changed[0].member == "" or now is None or old is None else {**now, **old}
        return Shown(left)

    def _differing(self, now: Members, side: Members) -> str | None:
        """The first member that is otherwise; empty where one of the two does not exist; None where they are the same."""
        if now is None or side is None:
            return None if now is side else ""
        return next((name for name, value in side.items() if self.stays(name) and now.get(name) != value), None)

    def _check(self, object_: str, now: Members, wanted: Members) -> None:
        """Raises Conflict where HAProxy shows something else than was to come back."""
        if (differing := self._differing(now, wanted)) is not None:
            shown, expected = (side and side.get(differing) if differing else side is not None for side in (now, wanted))
            what = differing or "whether it exists"
            raise Diverged(f"{what} would be {_value(shown)}, not {_value(expected)}")


def _sides(changed: Sequence[Member]) -> tuple[Members, Members]:
    """What the change found, and what it left."""
    if changed[0].member == "":
        return changed[0].old, changed[0].new
    return {each.member: each.old for each in changed}, {each.member: each.new for each in changed}


def _value(value: Any) -> str:
    return "none" if value is None else str(value)
