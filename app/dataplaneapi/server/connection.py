"""The peer of a connection, by its client certificate: computed once, used by every request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.types import Scope

from dataplaneapi.server.endpoint import URI, Endpoint, spiffe_id
from dataplaneapi.settings.proxies import UNIX

# In a certificate without a common name, what an allow list and the log go by; a SPIFFE id is a URI.
_ORDER = (URI, "DNS", "email", "IP Address")


@dataclass(frozen=True)
class Connection:
    """`name` is that of the client's certificate, empty without one; `refused` tells why nothing may be asked.

    `is_spiffe`: the name is a SPIFFE id, and not another name that looks like one.
    """

    endpoint: Endpoint
    name: str = ""
    refused: str = ""
    is_spiffe: bool = False


UNKNOWN = Connection(Endpoint())


def connection(endpoint: Endpoint, certificate: Mapping[str, Any] | None) -> Connection:
    """`certificate` as ssl.SSLSocket.getpeercert() tells it."""
    if not certificate:
        return Connection(endpoint)
    known = names(certificate)
    name = known[0][1] if known else str(certificate.get("serialNumber", ""))
    refused = "" if endpoint.allows(known) else f"client certificate {name!r} is not among tls_client_names"
    # It identifies the caller, and stands in logs.
    if not name.isprintable():
        refused = f"client certificate {name!r} has a name with characters that cannot be printed"
    return Connection(endpoint, name, refused, bool(spiffe_id(known)))


def names(certificate: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Kind and value of the alternative names, URIs first, then of the common name."""
    others = certificate.get("subjectAltName", ())
    known = [(kind, value) for wanted in _ORDER for kind, value in others if kind == wanted]
    known += [(kind, value) for part in certificate.get("subject", ()) for kind, value in part if kind == "commonName"]
    return tuple(dict.fromkeys(known))


def of(scope: Scope) -> Connection:
    """The one a request came over."""
    connection: Connection = scope.get("connection", UNKNOWN)
    return connection


def peer(scope: Scope) -> str:
    """The address at the other end of the connection; a word for one of a unix socket, which has none."""
    client = scope.get("client")
    return str(client[0]) if client else UNIX


def address(scope: Scope) -> str:
    """Returns the client's address, as the middleware has determined it (settings/proxies.py)."""
    return str(scope.get("address") or peer(scope))
