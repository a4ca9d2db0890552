"""The feature `explain`."""

from dataplaneapi.api.feature import Feature
from dataplaneapi.api.services import Services
from haproxy_native.features.explain.explain import Explain


class ExplainFeature(Feature):
    """The feature `explain`, which sends requests to a separate HAProxy process (the shadow) and reports how this process handles them."""

    def __init__(self, services: Services) -> None:
        self.explain = Explain(services.engine, services.editor)
        self.runs = (self.explain,)
