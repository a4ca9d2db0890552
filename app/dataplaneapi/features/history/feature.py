"""The views of the history: entries, differences, blame, revert and restore. The core keeps the history itself."""

from dataplaneapi.api.feature import Feature


class HistoryViews(Feature):
    """Operations alone."""
