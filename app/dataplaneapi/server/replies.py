"""Cache replies by the bytes of their request, so that an equal request is answered without being parsed.

A cached reply is sent only under these conditions: the listener, the client certificate, the document, the version, the users and their
permissions are the same as before, and the gate admits the credentials without a check. The date and the request id are replaced each time.
"""

from dataclasses import dataclass

from dataplaneapi.api.exchange import Exchange
from dataplaneapi.server.connection import Connection, RecordingOutlet

MOST_BYTES = 4 << 20
_DATE = b"\r\ndate: "


def is_whole(data: bytes) -> bool:
    """Return whether a packet may be exactly one complete GET request."""
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
        """Return whether the reply may be sent on a connection.

        `document`, `version` and `generation`: the present configuration, its version, and the present generation of the users.
        """
        return (
            self.document is document
            and self.version == version
            and self.generation == generation
            and self.connection.endpoint is connection.endpoint
            and (self.connection.name, self.connection.is_spiffe) == (connection.name, connection.is_spiffe)
        )

    def with_date_and_id(self, date: bytes, request_id: bytes) -> bytes:
        """Return the reply with this date and request id."""
        begin, middle, end = self.parts
        return b"".join((begin, date, middle, request_id, end))


class Replies:
    """The cached replies, by the bytes of their request. `add` clears the cache first if it would otherwise exceed MOST_BYTES."""

    def __init__(self) -> None:
        self._size = 0
        self._replies: dict[bytes, CachedReply] = {}

    def get(self, packet: bytes) -> CachedReply | None:
        return self._replies.get(packet)

    def add(self, recording: RecordingOutlet, document: object, version: int, generation: int, exchange: Exchange) -> None:
        """Cache the recorded reply. Replies that close the connection, are too large, or lack the date or the request id are not cached."""
        former = self._replies.get(recording.packet)
        if former and former.document is document and former.generation == generation:
            return
        reply, id_ = recording.written, exchange.request_id.encode()
        head_end = reply.find(b"\r\n\r\n")
        date_begin = reply.find(_DATE, 0, head_end) + len(_DATE)
        date_end = reply.find(b"\r\n", date_begin)
        id_begin = reply.find(id_, date_end, head_end)
        closes = b"\r\nconnection: close" in reply[:head_end].lower()
        if head_end < 0 or date_begin < len(_DATE) or id_begin < 0 or closes:
            return
        parts = reply[:date_begin], reply[date_end:id_begin], reply[id_begin + len(id_) :]
        size = len(recording.packet) + 2 * len(reply) + 1000
        if self._size + size > MOST_BYTES:
            self._replies, self._size = {}, 0
        self._replies[recording.packet] = CachedReply(exchange.connection, document, version, generation, exchange, parts)
        self._size += size
