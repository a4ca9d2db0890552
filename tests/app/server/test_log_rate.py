"""Lines that strangers can cause, and how many of them are written."""

import logging

import pytest

from dataplaneapi.server.log_rate import RateLimit


@pytest.fixture
def written() -> list[str]:
    return []


def test_so_many_of_each_line_in_a_period(written: list[str]) -> None:
    now = 0.0
    logger = logging.getLogger("tests.strangers")
    logger.addFilter(RateLimit(3, 10.0, lambda: now))
    handler = logging.Handler()
    handler.emit = lambda record: written.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    for number in range(10):
        logger.warning("bad request %d", number)
    logger.warning("another line")
    assert written == ["bad request 0", "bad request 1", "bad request 2", "another line"]
    now = 11.0
    for number in range(10, 20):
        logger.warning("bad request %d", number)
    assert written[4:] == ["bad request 10 (and 7 more since the last such line)", "bad request 11", "bad request 12"]
    now = 30.0
    logger.warning("bad request %d", 20)
    now = 50.0
    logger.warning("bad request %d", 21)
    assert written[7:] == ["bad request 20 (and 7 more since the last such line)", "bad request 21"]
