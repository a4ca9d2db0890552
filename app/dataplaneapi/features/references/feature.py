"""Where an object is named, and its renaming by a call of its own. The core renames with a PUT."""

from dataplaneapi.api.feature import Feature


class ReferencesFeature(Feature):
    """Operations alone."""
