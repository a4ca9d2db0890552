"""From a request to its operation: the route of an operation is made when it is first called."""

from fastapi.routing import APIRoute
from starlette.types import Receive, Scope, Send

from dataplaneapi.api import asked
from dataplaneapi.api.abandon import while_there
from dataplaneapi.api.access import limited, require_role
from dataplaneapi.api.exchange import exchange_of
from dataplaneapi.api.operations import Operation
from dataplaneapi.api.place import with_known_names
from dataplaneapi.api.read_only import admitted, is_read
from dataplaneapi.api.services import Services
from dataplaneapi.api.write_options import with_options


class Dispatch:
    """Serves the operations of `services.index`."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._routes: dict[Operation, APIRoute] = {}

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises 404 and 405 for what no operation is for, and 403 for who has no role, and where nothing is to be changed."""
        exchange = exchange_of(scope)
        operation, values = self._services.index.find(exchange.method, exchange.raw_path, exchange.query)
        values = with_known_names(operation, values, self._services)
        exchange.operation, exchange.path_values = operation, values
        asked.note(exchange, values, self._services)
        assert exchange.author is not None
        require_role(exchange.author, operation)
        route = self._routes.get(operation)
        if route is None:
            handler = asked.naming(operation, limited(operation, with_options(operation)))
            route = self._routes[operation] = APIRoute(operation.path, handler, methods=[operation.method], response_model=None)
        serving = self._admitted(operation, scope, receive, send, route)
        await (while_there(exchange, serving) if is_read(operation, exchange.query) else serving)

    async def _admitted(self, operation: Operation, scope: Scope, receive: Receive, send: Send, route: APIRoute) -> None:
        if not self._services.settings.read_only:
            await self._services.idempotency.serve(operation, scope, receive, send, route.app)
            return
        async with admitted(operation, exchange_of(scope).query):
            await self._services.idempotency.serve(operation, scope, receive, send, route.app)
