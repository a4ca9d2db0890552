"""What goes without saying about a definition."""

import pytest

from haproxy_native.discovery.definitions import complete_definition
from haproxy_native.errors import BadRequest

CONSUL = {"address": "a", "port": 1, "enabled": True, "retry_timeout": 5}
COMPLETE = {
    "health_check_policy": "none",
    "id": "7",
    "mode": "http",
    "server_slots_base": 10,
    "server_slots_growth_type": "exponential",
}


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ({}, {}),
        ({"server_slots_base": 3}, {}),
        ({"server_slots_base": 11}, {"server_slots_base": 11}),
        ({"server_slots_growth_type": "linear"}, {"server_slots_growth_type": "linear", "server_slots_growth_increment": 10}),
        ({"server_slots_growth_increment": 4}, {"server_slots_growth_increment": 4}),
        ({"id": "mine", "service_allowlist": [], "token": "", "status": {"state": "working"}}, {}),
        (
            {"health_check_policy": "min", "health_check_policy_min": 2, "mode": "https"},
            {"health_check_policy": "min", "health_check_policy_min": 2, "mode": "https"},
        ),
    ],
)
def test_defaults_and_floors(sent: dict, shown: dict) -> None:
    found = complete_definition({**CONSUL, **sent}, "7", consul=True)
    assert found == {**CONSUL, **COMPLETE, **shown}
    assert list(found) == sorted(found)


@pytest.mark.parametrize("sent", [{}, {"health_check_policy_min": 0}, {"health_check_policy_min": -1}])
def test_a_minimum_has_to_be_told(sent: dict) -> None:
    with pytest.raises(BadRequest, match="health_check_policy_min is required for 'min' health_check_policy"):
        complete_definition({**CONSUL, "health_check_policy": "min", **sent}, "7", consul=True)


def test_regions_have_no_health_checks() -> None:
    assert "health_check_policy" not in complete_definition({"region": "r", "enabled": False}, "7", consul=False)
