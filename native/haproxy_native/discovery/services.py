"""What the modules of discovery exchange: definitions of sources, and the services that a source finds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import ValidationError

from haproxy_native.errors import BadRequest, BadValue
from haproxy_native.models import model

Definition = dict[str, Any]


class ServiceEndpoint(NamedTuple):
    """The address of an instance. Without a port HAProxy connects to the port that the client used."""

    address: str
    port: int | None


@dataclass(frozen=True)
class ServiceCatalog:
    """The answer of a source."""

    # Endpoints by service.
    services: Mapping[str, tuple[ServiceEndpoint, ...]]
    # Services whose endpoints could not be queried, each with the reason.
    unknown: Mapping[str, str] = field(default_factory=dict)


class SourceFailed(Exception):
    """The source gave no valid answer, so nothing changes. The text is for the operator."""


FEWEST_SLOTS = LEAST_INCREMENT = 10
# Added by the server to a definition and never stored: clients send back what they received.
STATUS = "status"
REQUIRED = {
    "consuls": ("address", "port", "enabled", "retry_timeout"),
    "aws_regions": ("name", "region", "enabled", "retry_timeout", "ipv4_address"),
}
_MODELS = {"consuls": "consul", "aws_regions": "aws_region"}


def check_definition(definition: Mapping[str, Any], member: str) -> None:
    """Raise BadValue for a definition in `consuls` or `aws_regions` (`member`) that lacks a required value, or has one of another type."""
    if missing := [name for name in REQUIRED[member] if name not in definition]:
        raise BadValue(f"a definition has no {missing[0]}")
    try:
        model(_MODELS[member]).model_validate(definition)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            if detail["type"].endswith("_type"):
                raise BadValue(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}") from None


def completed(body: Mapping[str, Any], identity: str, *, consul: bool) -> Definition:
    """Return a definition with defaults, minimums and its id, sorted and without empty members. Raises BadRequest."""
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
