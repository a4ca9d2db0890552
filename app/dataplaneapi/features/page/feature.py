"""The page of operators at /ui/."""

from collections.abc import Awaitable

from dataplaneapi.api.exchange import Exchange
from dataplaneapi.api.feature import Feature
from dataplaneapi.api.responses import Response
from dataplaneapi.api.services import Services
from dataplaneapi.features.page import files


class PageFeature(Feature):
    """Its files are public: what they show they ask of the API."""

    def __init__(self, services: Services) -> None:
        self._services, self.public = services, (self._answer,)

    def _answer(self, exchange: Exchange) -> Response | Awaitable[Response] | None:
        return files.page(exchange, is_on=not self._services.settings.disable_ui)
