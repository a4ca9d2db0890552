# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt

from . import history_entry


class HistoryReturn(Model):
    """What has been taken back."""

    entry: history_entry.HistoryEntry | None = None
    version: StrictInt
    """That of the configuration now."""
    changes: StrictInt
    """How many commits it took, 0 where everything was as it should be."""
