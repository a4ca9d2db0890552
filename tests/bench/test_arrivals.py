"""Add a few tenants and services to a real HAProxy."""

from bench.arrivals import MEMORY_OF_TENANTS, ROWS, VERSION, arrivals
from bench.plan import effort
from tests.haproxy import binaries


def test_tenants_and_services_come() -> None:
    binaries.exactly(VERSION)
    rows = arrivals(effort(100, transactions=1, quick=True))
    assert set(rows) == set(ROWS)
    assert 0 < rows[MEMORY_OF_TENANTS] < 600
