"""What a request's connection is to the application: its peer, by the client certificate, and what can be done with the response.

The peer is computed once for each connection, and used by every request.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dataplaneapi.server.endpoint import URI, Endpoint, spiffe_id

# A longer reply is not recorded.
LARGEST = 1 << 16


class Outlet:
    """Wraps the transport of a response: all that it writes and closes goes through here.

    `close` is called in the place of the transport's own, by the answer that is the last.
    """

    def __init__(self, transport: asyncio.Transport, close: Callable[[], None]) -> None:
        self.write, self.is_closing, self.close = transport.write, transport.is_closing, close


class RecordingOutlet:
    """One that remembers what was written in reply to a request that arrived as one packet."""

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

    def forget(self) -> None:
        """Remembers nothing, whatever is written."""
        self._size = LARGEST + 1
        self._written.clear()

    @property
    def written(self) -> bytes:
        """Empty when it is more than LARGEST."""
        return b"".join(self._written)


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
# The key of a scope of ASGI with the Channel of its request, and the only one that ASGI does not define.
EXCHANGE = "exchange"
WritePart = Callable[[bytes], bool]


def no_deadline(seconds: float) -> None:
    """Set no deadline: no connection waits for the response."""


class Channel:
    """The connection of one request, as the application uses it. The protocol makes it; the application extends it (api/exchange.py)."""

    __slots__ = ("answer_within", "at_end", "connection", "recording", "when_gone", "write_part")

    def __init__(
        self,
        connection: Connection = UNKNOWN,
        answer_within: Callable[[float], None] = no_deadline,
        write_part: WritePart | None = None,
        recording: RecordingOutlet | None = None,
    ) -> None:
        self.connection = connection
        # Gives a handler so many seconds until its answer begins, and again from each part of it.
        self.answer_within = answer_within
        # Writes a chunk between two parts of a response without a wait. Returns False if the client has yet to take those before.
        self.write_part = write_part
        # What is written in reply to a request that arrived as one packet.
        self.recording = recording
        # Called when the client leaves, for a response that need not be made without it.
        self.when_gone: Callable[[], None] | None = None
        # Called when the client leaves or the server stops, for a response that does not end by itself.
        self.at_end: Callable[[], None] | None = None


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
