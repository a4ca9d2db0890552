"""Fixtures for every test: HAProxy binaries by version."""

import pytest

from tests.haproxy import binaries


@pytest.fixture(scope="session")
def haproxy_binary() -> str:
    """The binary that the suite runs against: the newest, 3.0 or later."""
    return binaries.of((3, 0))


@pytest.fixture(params=binaries.WANTED)
def haproxy_binaries(request: pytest.FixtureRequest) -> str:
    """One binary after the other, each supported version; a test that takes this runs once for each."""
    return binaries.exactly(request.param)
