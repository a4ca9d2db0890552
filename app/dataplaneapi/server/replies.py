"""Replies to whole requests, kept as the bytes that were sent, and sent again for the same bytes: HTTP is not even parsed.

A reply is given only on an equal connection (listener, client certificate), for the same document under the same version, while users and
their rights are the same, and with credentials that the gate still remembers. Date and request id, the two things that differ each time,
are put in their places.
"""

from dataclasses import dataclass

from dataplaneapi.api.exchange import Exchange
from dataplaneapi.server.connection import Connection, RecordingOutlet

MOST_BYTES = 4 << 20
_DATE = b"\r\ndate: "


def is_whole(data: bytes) -> bool:
    """Whether a packet may be one complete request without a body, and nothing else."""
    return data.startswith(b"GET ") and data.find(b"\r\n\r\n") == len(data) - 4


@dataclass(frozen=True, slots=True)
class KeptReply:
    """`exchange` is that of the request that was recorded; the access log reads it."""

    connection: Connection
    document: object
    version: int
    generation: int
    exchange: Exchange
    parts: tuple[bytes, bytes, bytes]

    def holds(self, connection: Connection, document: object, version: int, generation: int) -> bool:
        """Whether the request would be answered in the same way now; `generation` is that of users and rights."""
        return (
            self.document is document
            and self.version == version
            and self.generation == generation
            and self.connection.endpoint is connection.endpoint
            and (self.connection.name, self.connection.is_spiffe) == (connection.name, connection.is_spiffe)
        )

    def at(self, date: bytes, request_id: bytes) -> bytes:
        before, between, behind = self.parts
        return b"".join((before, date, between, request_id, behind))


class Replies:
    """Kept replies by the bytes of their request; cleared when they would exceed MOST_BYTES."""

    def __init__(self) -> None:
        self._size = 0
        self._replies: dict[bytes, KeptReply] = {}

    def get(self, packet: bytes) -> KeptReply | None:
        return self._replies.get(packet)

    def keep(self, recording: RecordingOutlet, document: object, version: int, generation: int, exchange: Exchange) -> None:
        """Keeps a reply that has been written, unless it closes the connection, is too large, or has no place for date and id."""
        reply = recording.written
        parts = _parts(reply, exchange.request_id.encode())
        known = self._replies.get(recording.packet)
        if parts is None or (known and known.document is document and known.generation == generation):
            return
        size = len(recording.packet) + 2 * len(reply) + 1000
        if self._size + size > MOST_BYTES:
            self._replies, self._size = {}, 0
        self._replies[recording.packet] = KeptReply(exchange.connection, document, version, generation, exchange, parts)
        self._size += size


def _parts(reply: bytes, request_id: bytes) -> tuple[bytes, bytes, bytes] | None:
    """Cuts a reply where the date and the request id stand."""
    end = reply.find(b"\r\n\r\n")
    date = reply.find(_DATE, 0, end) + len(_DATE)
    behind_date = reply.find(b"\r\n", date)
    id_ = reply.find(request_id, behind_date, end)
    closes = b"\r\nconnection: close" in reply[:end].lower()
    if end < 0 or date < len(_DATE) or id_ < 0 or closes:
        return None
    return reply[:date], reply[behind_date:id_], reply[id_ + len(request_id) :]
