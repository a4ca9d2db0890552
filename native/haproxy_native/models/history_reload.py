# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictStr


class HistoryReload(Model):
    """The last reload that was to load the change."""

    id: StrictStr
    """Its id; another than that which the change needed, where that has failed and kept the change."""
    outcome: Literal['kept', 'taken_back'] | None = None
    """After a failure: whether the change stayed in the configuration."""
    status: Literal['succeeded', 'failed']
    """The outcome."""
    time: AwareDatetime
    """When it was over."""
