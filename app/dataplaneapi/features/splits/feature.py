"""The feature `splits`."""

from dataplaneapi.api.feature import Feature
from dataplaneapi.api.services import Services
from haproxy_native.features.splits.splits import Splits


class SplitsFeature(Feature):
    """The feature `splits`. Its attribute `splits` writes the maps and the lines of splits."""

    def __init__(self, services: Services) -> None:
        self.splits = Splits(services.engine, services.editor, services.workers)
        self.users_of_names = (self.splits.uses,)
