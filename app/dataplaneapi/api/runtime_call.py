"""Runtime calls of handlers: reads with a time limit, and HAProxy's refusals in the words of the reference.

    async with asking(call) as runtime:
        await runtime.execute("...")

A refusal has the message `<socket> [3]  <HAProxy's message> [<command>] <class>`. `haproxy_native.runtime.responses` determines the class,
api/errors.py the status. If the socket does not answer, the status is 503, or 500 if no socket has answered since the start.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from dataplaneapi.api.call import Call
from haproxy_native.errors import RuntimeAbsent, RuntimeMissing, RuntimeRefused, RuntimeTaken
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.socket import AnswerSink

SECONDS = 5.0
_CLASSES = {RuntimeMissing: "not found", RuntimeTaken: "already exists"}


@asynccontextmanager
async def asking(call: Call, where: str = "", *, classed: bool = True, seconds: float | None = SECONDS) -> AsyncIterator[Runtime]:
    """Yield the runtime for the commands of a call. Raises RuntimeAbsent and RuntimeRefused.

    In the message of a refusal, `where` replaces the socket, and `classed` adds the class at the end. `seconds` limits a read; None is for
    a read that may take longer. A change has no limit, because it also waits for its turn and for the disk: only the socket's limit for
    each command applies.
    """
    runtime, is_change = call.services.engine.runtime, call.operation.method != "GET"
    try:
        async with asyncio.timeout(None if is_change else seconds):
            yield runtime
    except RuntimeAbsent as error:
        if is_change and error.sent:
            raise RuntimeAbsent(f"{error.detail}; the change may have been carried out", sent=True) from error
        raise
    except TimeoutError:
        raise RuntimeAbsent(f"{runtime.address}: no answer within {seconds or SECONDS:g} s") from None
    except RuntimeRefused as error:
        raise worded(error, where or runtime.address, classed=classed) from error


async def read_long(runtime: Runtime, command: str, head: str, sink: AnswerSink) -> None:
    """Read a dump of any length piece by piece; only its beginning has a time limit. Use this within `asking(..., seconds=None)`."""
    async with asyncio.timeout(SECONDS) as limit:
        await runtime.read_dump(command, head, _Begun(sink, lambda: limit.reschedule(None)))


class _Begun:
    """A sink that calls `begun` before it passes data on to another sink."""

    def __init__(self, sink: AnswerSink, begun: Callable[[], None]) -> None:
        self.start, self._taker, self._begun = sink.start, sink, begun

    def take(self, data: bytes) -> None:
        self._begun()
        self._taker.take(data)


def worded(error: RuntimeRefused, where: str, *, classed: bool = True) -> RuntimeRefused:
    """Return the refusal in the words of the reference; `[3]` is the severity of an error."""
    kind = type(error)
    end = f" {_CLASSES.get(kind, 'general error')}" if classed else ""
    return kind(error.answer, error.command, f"{where} [3]  {error.answer} [{error.command}]{end}")
