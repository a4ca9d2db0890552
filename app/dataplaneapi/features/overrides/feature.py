"""The feature `overrides`."""

from dataplaneapi.api.feature import Feature
from dataplaneapi.api.services import Services
from haproxy_native.features.overrides.overrides import Overrides


class OverridesFeature(Feature):
    """The feature `overrides`, which stores overrides and sets them again in each new worker."""

    only_changes = True

    def __init__(self, services: Services) -> None:
        self.overrides = Overrides(services.engine, services.editor)
        self.runs, self.followers = (self.overrides,), (self.overrides,)
