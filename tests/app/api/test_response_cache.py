"""Kept answers."""

from dataplaneapi.api.response_cache import Key, ResponseCache
from dataplaneapi.api.responses import Response

KEY: Key = (b"/v3/x", b"", None)


def test_an_answer_lasts_as_long_as_the_document() -> None:
    cache, first, second = ResponseCache(), object(), object()
    response = Response(200, b"x")
    assert cache.get(first, KEY) is None
    cache.add(first, KEY, response)
    assert cache.get(first, KEY) is response
    assert cache.get(first, (b"/v3/x", b"full_section=true", None)) is None
    assert cache.get(second, KEY) is None
    cache.add(second, KEY, Response(200, b"y"))
    assert cache.get(first, KEY) is None


def test_its_size_is_bounded() -> None:
    cache, document = ResponseCache(most=5000), object()
    for number in range(4):
        cache.add(document, (b"%d" % number, b"", None), Response(200, b"x" * 500))
    assert [cache.get(document, (b"%d" % number, b"", None)) is not None for number in range(4)] == [False, False, False, True]
    cache.add(document, KEY, Response(200, b"x" * 5000))
    assert cache.get(document, KEY) is None
