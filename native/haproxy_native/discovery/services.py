"""The services of a source, each with its endpoints."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Definition = dict[str, Any]


class Endpoint(NamedTuple):
    """The address of a service; without a port HAProxy connects to the client's."""

    address: str
    port: int | None


@dataclass(frozen=True)
class Found:
    """Endpoints by service; `unknown` are services that exist and whose endpoints could not be learnt, each with the reason."""

    services: Mapping[str, tuple[Endpoint, ...]]
    unknown: Mapping[str, str] = field(default_factory=dict)


class SourceFailed(Exception):
    """The source gave no answer that can be trusted; nothing may be concluded from it. The text is for the operator."""
