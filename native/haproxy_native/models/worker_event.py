# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt


class WorkerEvent(Model):
    """Another worker process is in service, of type worker."""

    pid: StrictInt
    """Its process id."""
    former: StrictInt | None = None
    """That of the worker before."""
