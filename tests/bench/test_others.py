"""Measure how long other requests wait during a large request."""

import pytest

from bench import others


@pytest.mark.soak
def test_the_worst_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(others, "LARGE", others.LARGE[:2])
    monkeypatch.setattr(others, "LEAST", 0.1)
    rows = others.others_wait()
    assert list(rows) == [others.ROW] and 0 < rows[others.ROW] < 50
