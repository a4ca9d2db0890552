"""Add many tenants in one transaction, and delete them in another (HAProxy 3.4), without an effect on other clients."""

from pathlib import Path

import pytest

from tests.acceptance.tenants import tenants


@pytest.mark.parametrize(("count", "rate"), [(100, 200), pytest.param(1000, 500, marks=pytest.mark.soak)])
@pytest.mark.timeout(600)
def test_many_tenants_come_and_go(tmp_path: Path, count: int, rate: int) -> None:
    with tenants(tmp_path, count) as world:
        arrival = world.come_and_go(rate)
    print(arrival)
    assert arrival.requests
    assert arrival.memory < 60
