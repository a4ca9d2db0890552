"""The feature `drift`."""

from dataplaneapi.api.feature import Feature
from dataplaneapi.api.services import Services
from dataplaneapi.features.overrides.feature import OverridesFeature
from haproxy_native.features.drift.drift import Drift


class DriftFeature(Feature):
    """The feature `drift`, which finds differences. It needs the feature `overrides`, because overrides cause differences."""

    def __init__(self, services: Services) -> None:
        self.drift = Drift(services.engine, OverridesFeature.of(services).overrides)
