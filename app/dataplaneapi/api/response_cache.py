"""Answers to reads of the configuration as it is, kept while it stays so: most reads then cost no more than sending them."""

from dataplaneapi.api.responses import Answer

Key = tuple[bytes, bytes, bytes | None]


class AnswerCache:
    """Of one document at a time; dropped as a whole when it would hold more than `most` bytes."""

    def __init__(self, most: int = 16 << 20) -> None:
        self._most, self._size = most, 0
        self._document: object = None
        self._answers: dict[Key, Answer] = {}

    def get(self, document: object, key: Key) -> Answer | None:
        return self._answers.get(key) if document is self._document else None

    def keep(self, document: object, key: Key, answer: Answer) -> None:
        size = len(answer.body) + 1000
        if document is not self._document or self._size + size > self._most:
            self._document, self._answers, self._size = document, {}, 0
        if size <= self._most:
            self._answers[key] = answer
            self._size += size
