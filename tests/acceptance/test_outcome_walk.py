"""Random walks over the outcomes of reloads, quiet and with chaos; a seed that failed can be walked again with `OUTCOME_SEED`."""

import os
import time
from pathlib import Path

import pytest

from tests.acceptance.outcome_walk import STRATEGIES, walking
from tests.haproxy import binaries

SEED = int(os.environ.get("OUTCOME_SEED", "0")) or time.time_ns() % 1_000_000
STRETCH = 6
SMALL = [("3.2", "command", 0, 12), ("2.6", "command beside a master", 1, 12), ("3.2", "manager", 0, 12), ("3.4", "master", 1, 12)]
LARGE = [
    (version, strategy, chaos, 500 // len(STRATEGIES) // 2 + 1)
    for version in ("2.6", "2.8", "3.0", "3.2", "3.4")
    for strategy in STRATEGIES
    for chaos in (0, 1)
]


@pytest.mark.parametrize(
    ("version", "strategy", "chaos", "steps"), [*SMALL, *(pytest.param(*each, marks=pytest.mark.soak) for each in LARGE)]
)
def test_record_file_and_process_agree(tmp_path: Path, version: str, strategy: str, chaos: int, steps: int) -> None:
    print(f"OUTCOME_SEED={SEED}")
    with walking(tmp_path, binaries.exactly(version), strategy, SEED, chaos=bool(chaos)) as walk:
        for number in range(steps):
            walk.step()
            if number % STRETCH == STRETCH - 1:
                walk.settle()
        walk.settle()
