"""The feature `apply`."""

from dataplaneapi.api.feature import Feature
from dataplaneapi.api.services import Services
from haproxy_native.features.apply.apply import Apply
from haproxy_native.features.apply.owners import OwnerTable
from haproxy_native.features.apply.plans import Plans


class ApplyFeature(Feature):
    """The feature `apply`: its attribute `apply` carries out declarations, and `plans` stores plans that calls may carry out later."""

    def __init__(self, services: Services) -> None:
        engine = services.engine
        self.plans = Plans(engine.database)
        self.apply = Apply(engine, services.editor, OwnerTable(engine.database), engine.context.is_confirmed)
        self.followers = (self.apply,)
