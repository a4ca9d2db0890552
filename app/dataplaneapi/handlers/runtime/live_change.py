"""Commit the runtime commands of a call that changes only the process, so that no other change comes between them.

Such a commit needs no configuration check and no reload.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from dataplaneapi.api.call import Call
from dataplaneapi.api.runtime_call import use_runtime
from haproxy_native.commit.change import MemberChange
from haproxy_native.commit.commit import change_process
from haproxy_native.errors import RefusedAtRuntime, RuntimeRefused
from haproxy_native.planning.touches import ANY, CHANGE, Touch, changed
from haproxy_native.runtime.client import Runtime

Work = Callable[[Runtime], Awaitable[Sequence[MemberChange] | None]]


def permit_change(call: Call, object_: str, members: Iterable[str] = ()) -> None:
    """Raise Forbidden unless the author may change the object in the process; if `members` is not empty, only these members."""
    call.author.permit(changed(object_, members) if members else Touch(object_, CHANGE, frozenset((ANY,))))


@contextmanager
def raising_refusal() -> Iterator[None]:
    """Raise HAProxy's refusal itself if it is the cause of a RefusedAtRuntime."""
    try:
        yield
    except RefusedAtRuntime as error:
        raise (error.__cause__ if isinstance(error.__cause__, RuntimeRefused) else error) from None


async def change(
    call: Call,
    object_: str,
    work: Work,
    *,
    members: Iterable[str] = (),
    classed: bool = True,
) -> None:
    """Commit `work` on an object, such as `backend/app/server/s1`, with the errors and the time limits of `use_runtime`.

    `work` changes only `members`, or the whole object if `members` is empty. Its result, if not None, is stored in the history. Raises
    Forbidden if the author may not change these members or the object.
    """

    async def apply() -> Sequence[MemberChange] | None:
        async with use_runtime(call, classed=classed) as runtime:
            return await work(runtime)

    touched = [changed(object_, members)] if members else ()
    await change_process(call.services.engine.context, object_, apply, touched, author=call.author)
