"""Cache replies by the bytes of their request, so that an equal request is answered without being parsed.

A reply is sent again only if the connection is equal (listener, client certificate), the document, the version, the users and their
permissions are unchanged, and the gate admits the credentials without a check. The date and the request id are replaced each time.
"""

from dataclasses import dataclass

from dataplaneapi.api.exchange import Exchange
from dataplaneapi.server.connection import Connection, RecordingOutlet

MOST_BYTES = 4 << 20
_DATE = b"\r\ndate: "


def is_whole(data: bytes) -> bool:
    """Return whether a packet may be exactly one complete request without a body."""
    return data.startswith(b"GET ") and data.find(b"\r\n\r\n") == len(data) - 4


@dataclass(frozen=True, slots=True)
class CachedReply:
    """A cached reply, and the conditions under which it is valid."""

    connection: Connection
    document: object
    version: int
    # The generation of the users.
    generation: int
    # The exchange of the recorded request, for the access log.
    exchange: Exchange
    # The bytes before the date, between the date and the request id, and after the request id.
    parts: tuple[bytes, bytes, bytes]

    def is_valid_for(self, connection: Connection, document: object, version: int, generation: int) -> bool:
        """Return whether the reply is valid for a request on this connection now."""
        return (
            self.document is document
            and self.version == version
            and self.generation == generation
            and self.connection.endpoint is connection.endpoint
            and (self.connection.name, self.connection.is_spiffe) == (connection.name, connection.is_spiffe)
        )

    def with_date_and_id(self, date: bytes, request_id: bytes) -> bytes:
        """Return the reply with this date and request id."""
        before, between, behind = self.parts
        return b"".join((before, date, between, request_id, behind))


class Replies:
    """The cached replies by the bytes of their request. A reply that would exceed MOST_BYTES clears the cache first."""

    def __init__(self) -> None:
        self._size = 0
        self._replies: dict[bytes, CachedReply] = {}

    def get(self, packet: bytes) -> CachedReply | None:
        return self._replies.get(packet)

    def add(self, recording: RecordingOutlet, document: object, version: int, generation: int, exchange: Exchange) -> None:
        """Cache the recorded reply, unless it closes the connection, is too large, or lacks the date or the request id."""
        reply = recording.written
        parts = _parts(reply, exchange.request_id.encode())
        known = self._replies.get(recording.packet)
        if parts is None or (known and known.document is document and known.generation == generation):
            return
        size = len(recording.packet) + 2 * len(reply) + 1000
        if self._size + size > MOST_BYTES:
            self._replies, self._size = {}, 0
        self._replies[recording.packet] = CachedReply(exchange.connection, document, version, generation, exchange, parts)
        self._size += size


def _parts(reply: bytes, request_id: bytes) -> tuple[bytes, bytes, bytes] | None:
    """Return the parts of a reply around its date and its request id, or None if the reply cannot be cached."""
    end = reply.find(b"\r\n\r\n")
    date = reply.find(_DATE, 0, end) + len(_DATE)
    behind_date = reply.find(b"\r\n", date)
    id_ = reply.find(request_id, behind_date, end)
    closes = b"\r\nconnection: close" in reply[:end].lower()
    if end < 0 or date < len(_DATE) or id_ < 0 or closes:
        return None
    return reply[:date], reply[behind_date:id_], reply[id_ + len(request_id) :]
