"""Kept answers."""

from dataplaneapi.api.response_cache import AnswerCache, Key
from dataplaneapi.api.responses import Answer

KEY: Key = (b"/v3/x", b"", None)


def test_an_answer_lasts_as_long_as_the_document() -> None:
    cache, first, second = AnswerCache(), object(), object()
    answer = Answer(200, b"x")
    assert cache.get(first, KEY) is None
    cache.keep(first, KEY, answer)
    assert cache.get(first, KEY) is answer
    assert cache.get(first, (b"/v3/x", b"full_section=true", None)) is None
    assert cache.get(second, KEY) is None
    cache.keep(second, KEY, Answer(200, b"y"))
    assert cache.get(first, KEY) is None


def test_its_size_is_bounded() -> None:
    cache, document = AnswerCache(most=5000), object()
    for number in range(4):
        cache.keep(document, (b"%d" % number, b"", None), Answer(200, b"x" * 500))
    assert [cache.get(document, (b"%d" % number, b"", None)) is not None for number in range(4)] == [False, False, False, True]
    cache.keep(document, KEY, Answer(200, b"x" * 5000))
    assert cache.get(document, KEY) is None
