"""A call that is made to learn whether it may be made: it goes as far as its first change, and no further.

What changes anything asks `would_change` first, when all that can be refused has been.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Rehearsal:
    """`reloads`: whether a change of it would reload HAProxy, as far as that is known. `goes_on`: past a change, since others follow."""

    reloads: bool | None = None
    goes_on: bool = False


class Rehearsed(BaseException):
    """The call has come to its change. No failure, which others may handle, so no Exception."""


wanted: ContextVar[Rehearsal | None] = ContextVar("wanted", default=None)


def would_change(reloads: bool | None = None) -> None:
    """Returns where changes are to be made. Raises Rehearsed where they are not."""
    if (rehearsal := wanted.get()) is None:
        return
    known = [sink for sink in (rehearsal.reloads, reloads) if sink is not None]
    rehearsal.reloads = any(known) if known else None
    if not rehearsal.goes_on:
        raise Rehearsed


@contextmanager
def several() -> Iterator[None]:
    """Rehearses several changes that do not depend on each other. Raises Rehearsed at the end."""
    if (rehearsal := wanted.get()) is None:
        yield
        return
    rehearsal.goes_on = True
    try:
        yield
    finally:
        rehearsal.goes_on = False
    raise Rehearsed
