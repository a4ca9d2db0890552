"""Measure the figures of the page. The test asserts no limit."""

import pytest

from bench.page import ROWS, of_page
from bench.plan import effort
from tests.haproxy import binaries


@pytest.mark.soak
def test_there_is_every_row() -> None:
    binaries.program("chromium")
    rows = of_page(effort(100, transactions=1, quick=True))
    assert set(rows) == set(ROWS) and all(value >= 0 for value in rows.values())
