"""Levels of log records as syslog and the journal number them (RFC 5424, section 6.2.1)."""

import logging

_SEVERITIES = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3, logging.CRITICAL: 2}
_NOTICE = 5


def severity(record: logging.LogRecord) -> int:
    return _SEVERITIES.get(record.levelno, _NOTICE)
