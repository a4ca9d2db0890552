"""Subscribe to events of a real HAProxy with 5,000 servers with a few clients."""

import sys
from pathlib import Path

import pytest

from bench.plan import effort
from bench.subscribers import MEMORY, ROWS, VERSION, percentile, subscribers
from tests.haproxy import binaries


def test_a_percentile() -> None:
    assert percentile([1.0]) == 1 and 98 < percentile([float(each) for each in range(100)]) < 99.5


@pytest.mark.soak
def test_every_reader_gets_every_event() -> None:
    binaries.exactly(VERSION)
    rows = subscribers(str(Path(sys.executable).with_name("dataplaneapi")), effort(100, transactions=1, quick=True))
    assert set(rows) == set(ROWS)
    assert rows[MEMORY] < 30
