"""Measure the longest wait of other requests during a large request."""

from pathlib import Path

import pytest

from bench.__main__ import OURS
from bench.farm import farm
from bench.stalls import stalls
from bench.subject import running
from tests.haproxy import binaries


@pytest.mark.soak
def test_each_has_a_ratio(tmp_path: Path) -> None:
    site = farm(20, tmp_path, binaries.newest())
    with site.haproxy, running(f"{OURS.partition('=')[2]} -f {site.settings()}", site.port, site.directory) as subject:
        rows = dict(stalls(subject, site))
    # A request may be over before the first read.
    assert all(value >= 0 for value in rows.values())
    assert len(rows) == 6 and all(name == f"longest wait during {kind} / {kind}" for name in rows for kind in [name.rpartition(" / ")[2]])
