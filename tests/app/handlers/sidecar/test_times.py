"""Times as they are told."""

from dataplaneapi.handlers.sidecar.times import rfc3339


def test_utc_with_milliseconds() -> None:
    assert rfc3339(0) == "1970-01-01T00:00:00.000Z" and rfc3339(1_700_000_000.1239) == "2023-11-14T22:13:20.123Z"
