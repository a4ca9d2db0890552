"""Counters of the server, as Prometheus reads them."""

from collections.abc import Awaitable

from dataplaneapi.api.exchange import Exchange
from dataplaneapi.api.feature import Feature
from dataplaneapi.api.responses import Response
from dataplaneapi.api.services import Services
from dataplaneapi.features.metrics.exposition import CONTENT_TYPE, exposition

PATH = "/metrics"


class MetricsFeature(Feature):
    """Answers without credentials, as the other probes do."""

    def __init__(self, services: Services) -> None:
        self._services, self.public = services, (self._answer,)

    def _answer(self, exchange: Exchange) -> Response | Awaitable[Response] | None:
        return self._exposition() if exchange.path == PATH else None

    async def _exposition(self) -> Response:
        return Response(200, await exposition(self._services), CONTENT_TYPE)
