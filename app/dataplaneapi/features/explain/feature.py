"""The feature `explain`."""

from dataplaneapi.api.feature import Feature
from dataplaneapi.api.services import Services
from haproxy_native.features.explain.explain import Explain


class ExplainFeature(Feature):
    """The feature: `explain` explains requests with shadow HAProxy processes that it runs."""

    def __init__(self, services: Services) -> None:
        self.explain = Explain(services.engine, services.editor)
        self.runs = (self.explain,)
