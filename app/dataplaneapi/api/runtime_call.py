"""Send the runtime commands of a call, with a time limit for reads and with the error messages of the Data Plane API.

    async with use_runtime(call) as runtime:
        await runtime.execute("...")

If HAProxy refuses a command, the message is `<socket> [3]  <HAProxy's message> [<command>] <class>`. `haproxy_native.runtime.responses`
determines the class, and api/errors.py the status. If the socket does not answer, the status is 503, or 500 if no socket has answered since
the start.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from dataplaneapi.api.call import Call
from haproxy_native.errors import RuntimeAbsent, RuntimeExists, RuntimeMissing, RuntimeRefused
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.socket import AnswerSink

SECONDS = 5.0
_CLASSES = {RuntimeMissing: "not found", RuntimeExists: "already exists"}


@asynccontextmanager
async def use_runtime(call: Call, where: str = "", *, classed: bool = True, seconds: float | None = SECONDS) -> AsyncIterator[Runtime]:
    """Yield the runtime for the commands of a call, as a context manager. Raises RuntimeAbsent and RuntimeRefused.

    The message of a refusal begins with `where`, or with the socket if `where` is empty. If `classed`, it ends with the class of the error.

    `seconds` limits a read; None means no limit. A change is limited only by the socket, for each command, because a change also waits for
    other changes and for the disk.
    """
    runtime, is_change = call.services.engine.runtime, call.operation.method != "GET"
    try:
        async with asyncio.timeout(None if is_change else seconds):
            yield runtime
    except RuntimeAbsent as error:
        if is_change and error.sent:
            raise RuntimeAbsent(f"{error.detail}; the change may have been made", sent=True) from error
        raise
    except TimeoutError:
        raise RuntimeAbsent(f"{runtime.address}: no answer within {seconds or SECONDS:g} s") from None
    except RuntimeRefused as error:
        raise with_reference_message(error, where or runtime.address, classed=classed) from error


async def read_long(runtime: Runtime, command: str, head: str, sink: AnswerSink) -> None:
    """Read a dump of any length piece by piece. Only the wait for its beginning is limited. Use `use_runtime(..., seconds=None)`."""
    async with asyncio.timeout(SECONDS) as limit:
        await runtime.read_dump(command, head, _NotifyingSink(sink, lambda: limit.reschedule(None)))


class _NotifyingSink:
    """A sink that calls `on_begin` and then passes the data on to another sink."""

    def __init__(self, sink: AnswerSink, on_begin: Callable[[], None]) -> None:
        self.start, self._sink, self._on_begin = sink.start, sink, on_begin

    def take(self, data: bytes) -> None:
        self._on_begin()
        self._sink.take(data)


def with_reference_message(error: RuntimeRefused, where: str, *, classed: bool = True) -> RuntimeRefused:
    """Return the refusal with the message of the Data Plane API, in which `[3]` is the severity of an error."""
    kind = type(error)
    end = f" {_CLASSES.get(kind, 'general error')}" if classed else ""
    return kind(error.answer, error.command, f"{where} [3]  {error.answer} [{error.command}]{end}")
