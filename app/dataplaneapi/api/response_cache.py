"""Responses to reads of the configuration as it is, kept while it stays so."""

from dataplaneapi.api.responses import Response

Key = tuple[bytes, bytes, bytes | None]


class ResponseCache:
    """Caches the responses of one document at a time; cleared when it would hold more than `most` bytes."""

    def __init__(self, most: int = 16 << 20) -> None:
        self._most, self._size = most, 0
        self._document: object = None
        self._responses: dict[Key, Response] = {}

    def get(self, document: object, key: Key) -> Response | None:
        return self._responses.get(key) if document is self._document else None

    def keep(self, document: object, key: Key, response: Response) -> None:
        size = len(response.body) + 1000
        if document is not self._document or self._size + size > self._most:
            self._document, self._responses, self._size = document, {}, 0
        if size <= self._most:
            self._responses[key] = response
            self._size += size
