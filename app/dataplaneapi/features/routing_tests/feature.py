"""The feature `routing_tests`, with the option `tests` of writes."""

from collections.abc import Callable
from urllib.parse import quote

from dataplaneapi.api.access import readable_tests, reader
from dataplaneapi.api.call import Call
from dataplaneapi.api.feature import Feature, WriteOption
from dataplaneapi.api.operations import Handler
from dataplaneapi.api.responses import HeaderName, Response
from dataplaneapi.api.services import Services
from dataplaneapi.features.explain.feature import ExplainFeature
from haproxy_native.errors import BreaksTests
from haproxy_native.features.routing_tests.routing_tests import RoutingGate, RoutingTests
from haproxy_native.features.routing_tests.table import KIND, TestTable

FAILING = HeaderName(b"Failing-Tests")
# The most tests that the header Failing-Tests names.
MOST_NAMED = 10


class PassTests(WriteOption):
    """The option `tests` of a write: the write is refused if it breaks a test.

    A header of the response names the tests that failed before the write and still fail.
    """

    names = ("tests",)

    def __init__(self, is_required: Callable[[], bool]) -> None:
        """`is_required` returns whether every change has to pass the tests."""
        self._is_required = is_required

    def is_asked(self, call: Call) -> bool:
        """Return whether a call requires that its change passes the tests."""
        return super().is_asked(call) or self._is_required()

    def of_commits(self, call: Call) -> list[str]:
        """Return the parameters of this option that the call has and that are valid only for a write.

        Empty for a call that is not a write.
        """
        return self.given(call) if call.operation.writes else []

    async def serve(self, call: Call, next: Handler) -> Response:
        """Make the write and return its response. Raises BreaksTests, without details that the caller may not read."""
        request = call.author.request
        if request:
            request.requires_tests = "tests" in call.values
        try:
            response = await next(call)
        except BreaksTests as error:
            if reader(call.author) is None:
                raise
            detail, failed = error.detail.partition("\n")[0], readable_tests(call.author, error.failed)
            raise BreaksTests(detail, failed=failed, failed_before=error.failed_before) from None
        if request and request.failing_tests:
            named = [quote(name, safe=" /:,") for name in request.failing_tests[:MOST_NAMED]]
            more = [f"and {len(request.failing_tests) - MOST_NAMED} more"] if len(request.failing_tests) > MOST_NAMED else []
            response.raw_headers.append((FAILING, "; ".join([*named, *more]).encode()))
        return response


class RoutingTestsFeature(Feature):
    """The feature `routing_tests`. Its attribute `tests` stores tests and runs them. A gate refuses commits that break required tests."""

    def __init__(self, services: Services) -> None:
        self._services, engine = services, services.engine
        table = TestTable(engine.context, engine.database)
        self.tests = RoutingTests(table, ExplainFeature.of(services).explain)
        services.reverter.add_kind(KIND, table, table.content)
        self.write_options = (PassTests(self.is_required),)
        engine.context.observers.append(RoutingGate(self.tests, engine.settings.file.parent, self.is_required, engine.context.base))

    def is_required(self) -> bool:
        """Return whether the settings require tests for each change that a client requests."""
        return self._services.settings.tests == "require"
