"""Measure the cost of permissions. The test asserts no limit."""

import pytest

from bench.__main__ import OURS
from bench.plan import effort
from bench.rights import ROW, of_rights


@pytest.mark.soak
def test_changes() -> None:
    rows = of_rights(OURS.partition("=")[2], effort(100, transactions=1, quick=True))
    assert list(rows) == [ROW] and 0 < rows[ROW] < 50
