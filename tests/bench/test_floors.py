"""Measure every floor with the real component."""

from pathlib import Path

import pytest

from bench.farm import farm
from bench.floors import floors


@pytest.mark.soak
def test_every_floor_is_there(tmp_path: Path, haproxy_binary: str) -> None:
    site = farm(20, tmp_path, haproxy_binary)
    with site.haproxy:
        found = floors(site, b'{"weight":99}', clients=2, seconds=0.1)
    assert {name for name in found if not name.startswith("socat")} == {
        "haproxy -c", "import", "import's memory", "runtime command", "uvicorn", "uvicorn, readers"
    }  # fmt: skip
    assert min(found.values()) > 0
