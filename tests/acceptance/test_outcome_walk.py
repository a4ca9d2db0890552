"""Walk at random over the outcomes of reloads, with few or many faults. `OUTCOME_SEED` repeats the walk of a failed seed."""

import os
import time
from pathlib import Path

import pytest

from tests.acceptance.outcome_walk import STRATEGIES, walking
from tests.haproxy import binaries

SEED = int(os.environ.get("OUTCOME_SEED", "0"))
STRETCH = 6
# The walks of `make test`. Each has a seed, so that every run is the same.
SMALL = [
    ("3.2", "command", 0, STRETCH, 1),
    ("2.6", "command beside a master", 1, STRETCH, 2),
    ("3.2", "manager", 0, STRETCH, 3),
    ("3.4", "master", 1, STRETCH, 4),
]
LARGE = [
    (version, strategy, chaos, 500 // len(STRATEGIES) // 2 + 1, time.time_ns() % 1_000_000)
    for version in ("2.6", "2.8", "3.0", "3.2", "3.4")
    for strategy in STRATEGIES
    for chaos in (0, 1)
]


@pytest.mark.parametrize(
    ("version", "strategy", "chaos", "steps", "seed"),
    [pytest.param(*each, marks=() if each in SMALL else pytest.mark.soak, id="-".join(map(str, each[:4]))) for each in [*SMALL, *LARGE]],
)
def test_record_file_and_process_agree(tmp_path: Path, version: str, strategy: str, chaos: int, steps: int, seed: int) -> None:
    print(f"OUTCOME_SEED={SEED or seed}")
    with walking(tmp_path, binaries.exactly(version), strategy, SEED or seed, chaos=bool(chaos)) as walk:
        for number in range(steps):
            walk.step()
            if number % STRETCH == STRETCH - 1:
                walk.settle()
        walk.settle()
