"""Definitions of sources: what clients send, completed with defaults, minimums and an id."""

from collections.abc import Mapping
from typing import Any

from haproxy_native.discovery.services import Definition
from haproxy_native.errors import BadRequest, BadValue

FEWEST_SLOTS = LEAST_INCREMENT = 10
# Added by the server to a definition, never part of it: clients send back what they were shown.
STATUS = "status"
REQUIRED = {
    "consuls": ("address", "port", "enabled", "retry_timeout"),
    "aws_regions": ("name", "region", "enabled", "retry_timeout", "ipv4_address"),
}


def check_required(definition: Mapping[str, Any], member: str) -> None:
    """Checks a required member of `consuls` or `aws_regions`. Raises BadValue."""
    if missing := [name for name in REQUIRED[member] if name not in definition]:
        raise BadValue(f"a definition has no {missing[0]}")


def completed(body: Mapping[str, Any], identity: str, *, consul: bool) -> Definition:
    """Members in alphabetical order; those that say nothing are left out. Raises BadRequest."""
    definition = {name: value for name, value in body.items() if value not in (None, "", []) and name != STATUS} | {"id": identity}
    definition.setdefault("server_slots_growth_type", "exponential")
    definition["server_slots_base"] = max(definition.get("server_slots_base", 0), FEWEST_SLOTS)
    if definition["server_slots_growth_type"] == "linear":
        definition["server_slots_growth_increment"] = max(definition.get("server_slots_growth_increment", 0), LEAST_INCREMENT)
    if consul:
        definition.setdefault("mode", "http")
        definition.setdefault("health_check_policy", "none")
        if definition["health_check_policy"] == "min" and definition.get("health_check_policy_min", 0) <= 0:
            raise BadRequest("health_check_policy_min is required for 'min' health_check_policy")
    return dict(sorted(definition.items()))
