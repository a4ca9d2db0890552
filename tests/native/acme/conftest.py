"""Fixtures with a name server for all tests of this directory."""

from collections.abc import Iterator

import pytest

from tests.haproxy.acme import NameServer


@pytest.fixture(scope="session")
def name_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NameServer]:
    with NameServer(tmp_path_factory.mktemp("dns") / "knot") as running:
        yield running


@pytest.fixture
def resolver(name_server: NameServer):
    """Return a resolver that queries the name server for every name."""
    import dns.asyncresolver

    found = dns.asyncresolver.Resolver(configure=False)
    found.nameservers, found.port, found.lifetime = ["127.0.0.1"], name_server.port, 5
    return found
