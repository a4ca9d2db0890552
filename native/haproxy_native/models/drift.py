# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictBool, StrictStr

from . import drift_difference


class Drift(Model):
    """Where the file, the running document and the worker differ."""

    in_sync: StrictBool
    """Whether it is known that nothing differs."""
    running_known: StrictBool
    """Whether it is known what the worker has loaded. If not, the file was not compared."""
    worker_answers: StrictBool
    """Whether HAProxy answers. If not, the worker was not compared."""
    reload_pending: StrictStr | None = None
    """The reload that is scheduled."""
    differences: list[drift_difference.DriftDifference]
    """Those of the file, then those of the worker."""
    notes: list[StrictStr]
    """What was changed in the process and is no member of an object."""
