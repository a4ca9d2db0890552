"""A server that is read-only: the one door at which all writes are refused, before anything of a request is looked at."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dataplaneapi.api.operations import READING, Operation
from dataplaneapi.api.parameters import query_values
from haproxy_native.disk.aside import drafts_aside
from haproxy_native.errors import READ_ONLY, Forbidden

_READS = ("GET", "HEAD")
_TRUE = ("true", "1")


@asynccontextmanager
async def admitted(operation: Operation, query: bytes) -> AsyncIterator[None]:
    """Admits a request on a server that changes nothing, if its query makes it a dry run. Raises Forbidden."""
    if operation.writes and not is_dry(operation, query):
        raise Forbidden(READ_ONLY)
    async with drafts_aside(wanted=operation.method not in ("GET", "HEAD")):
        yield


def is_read(operation: Operation, query: bytes) -> bool:
    """Whether a request changes nothing."""
    return operation.method in _READS or operation.access == READING or operation.asks or is_dry(operation, query)


def is_dry(operation: Operation, query: bytes) -> bool:
    """Whether a write is only tried."""
    values = query_values(query) if query and operation.dry_runs else {}
    return any(values.get(name, [""])[-1].lower() in _TRUE for name in operation.dry_runs)
