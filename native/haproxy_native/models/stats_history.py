# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictFloat

from . import stats_history_row


class StatsHistory(Model):
    """Samples of the same objects, taken at the same times. Between times more than two intervals apart nothing was measured."""

    interval: StrictFloat
    """Seconds between two samples."""
    times: list[StrictFloat]
    """When the samples were taken, in Unix time."""
    rows: list[stats_history_row.StatsHistoryRow]
    """The frontends, backends or servers."""
