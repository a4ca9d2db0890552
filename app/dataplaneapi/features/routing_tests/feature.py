"""Tests of where requests go, which changes may have to pass."""

from dataplaneapi.api.feature import Feature
from dataplaneapi.api.services import Services
from dataplaneapi.features.explain.feature import ExplainFeature
from dataplaneapi.features.routing_tests.option import PassTests
from haproxy_native.features.routing_tests.gate import RoutingGate
from haproxy_native.features.routing_tests.routing_tests import RoutingTests
from haproxy_native.features.routing_tests.table import KIND, TestTable


class RoutingTestsFeature(Feature):
    """`tests` are those that are kept, and runs of them."""

    def __init__(self, services: Services) -> None:
        self._services, engine = services, services.engine
        table = TestTable(engine.context, engine.database)
        self.tests = RoutingTests(table, ExplainFeature.of(services).explain)
        services.returning.add_kind(KIND, table, table.content)
        self.write_options = (PassTests(self.is_required),)
        engine.context.observers.add(RoutingGate(self.tests, engine.settings.file.parent, self.is_required))

    def is_required(self) -> bool:
        """Return whether the settings require tests of every change that clients ask for."""
        return self._services.settings.tests == "require"
