"""Give the application access to a connection: the name in the client's certificate, and control over the response.

A `Connection` is computed once for each connection. A `Channel` belongs to one request.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dataplaneapi.server.endpoint import URI, Endpoint, spiffe_id

# The longest reply in bytes that is recorded.
LARGEST = 1 << 16


class Outlet:
    """A wrapper of a connection's transport, through which uvicorn writes responses.

    After the last response of a connection, uvicorn calls the wrapper's `close`, which is the function `close`, and not the transport's.
    """

    def __init__(self, transport: asyncio.Transport, close: Callable[[], None]) -> None:
        self.write, self.is_closing, self.close = transport.write, transport.is_closing, close


class RecordingOutlet:
    """An outlet that also records the reply to a request. `packet`: the request, which arrived as one packet."""

    def __init__(self, outlet: Outlet, packet: bytes) -> None:
        self.packet, self.is_closing, self.close = packet, outlet.is_closing, outlet.close
        self._write, self._size = outlet.write, 0
        self._written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self._size += len(data)
        if self._size <= LARGEST:
            self._written.append(data)
        else:
            self._written.clear()
        self._write(data)

    def discard(self) -> None:
        """Discard the recorded bytes, and stop recording."""
        self._size = LARGEST + 1
        self._written.clear()

    @property
    def written(self) -> bytes:
        """The recorded reply. Empty if the reply has more than LARGEST bytes."""
        return b"".join(self._written)


# The order of alternative names by their kind. The first name of a certificate identifies the client. A SPIFFE id is a URI.
_ORDER = (URI, "DNS", "email", "IP Address")


@dataclass(frozen=True)
class Connection:
    """A client's connection to an endpoint, and the identity of the client according to its certificate."""

    endpoint: Endpoint
    # The first name in the certificate of the client. Empty without a certificate.
    name: str = ""
    # Why all requests on the connection are refused. Empty if they are not.
    refused: str = ""
    # Whether the name is a SPIFFE id, and not another kind of name that looks like one.
    is_spiffe: bool = False


UNKNOWN = Connection(Endpoint())
# The key of the Channel of a request in its ASGI scope. This server adds no other key to a scope.
EXCHANGE = "exchange"
WritePart = Callable[[bytes], bool]


def no_deadline(seconds: float) -> None:
    """Do nothing. Used as `answer_within` of a channel that has no connection."""


class Channel:
    """What one request may do with its connection. The protocol creates it, and the application extends it (api/exchange.py)."""

    __slots__ = ("answer_within", "at_end", "connection", "recording", "when_gone", "write_part")

    def __init__(
        self,
        connection: Connection = UNKNOWN,
        answer_within: Callable[[float], None] = no_deadline,
        write_part: WritePart | None = None,
        recording: RecordingOutlet | None = None,
    ) -> None:
        self.connection = connection
        # Sets a deadline in seconds for the beginning of the response, and after each part for the next one.
        self.answer_within = answer_within
        # Writes a chunk between two parts of a response without waiting. Returns False if the client has not yet read earlier data.
        self.write_part = write_part
        # The recorder of the reply, if the request arrived as one packet.
        self.recording = recording
        # Called when the client disconnects, to cancel the work on a response that nobody will read.
        self.when_gone: Callable[[], None] | None = None
        # Called when the client disconnects or the server stops, to end a response that does not end by itself.
        self.at_end: Callable[[], None] | None = None


def connection(endpoint: Endpoint, certificate: Mapping[str, Any] | None) -> Connection:
    """Return the Connection of a client. `certificate` is what `ssl.SSLSocket.getpeercert()` returns."""
    if not certificate:
        return Connection(endpoint)
    client_names = names(certificate)
    name = client_names[0][1] if client_names else str(certificate.get("serialNumber", ""))
    refused = "" if endpoint.allows(client_names) else f"client certificate {name!r} is not among tls_client_names"
    # The name identifies the caller and appears in logs.
    if not name.isprintable():
        refused = f"client certificate {name!r} has a name with characters that cannot be printed"
    return Connection(endpoint, name, refused, bool(spiffe_id(client_names)))


def names(certificate: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return (kind, value) of each name in a certificate: the alternative names, URIs first, then the common name."""
    alternative_names = certificate.get("subjectAltName", ())
    result = [(kind, value) for next_kind in _ORDER for kind, value in alternative_names if kind == next_kind]
    result += [(kind, value) for part in certificate.get("subject", ()) for kind, value in part if kind == "commonName"]
    return tuple(dict.fromkeys(result))
