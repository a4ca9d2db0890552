"""Levels as syslog numbers them."""

import logging

import pytest

from dataplaneapi.telemetry.syslog import severity


@pytest.mark.parametrize(("level", "number"), [(logging.DEBUG, 7), (logging.INFO, 6), (25, 5), (logging.WARNING, 4), (logging.CRITICAL, 2)])
def test_every_level_has_its_number(level: int, number: int) -> None:
    assert severity(logging.makeLogRecord({"levelno": level})) == number
