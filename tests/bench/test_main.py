"""Run all benchmarks once, without statistics. The report must have every row for each server."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.apply import FIRST, SECOND
from bench.arrivals import ROWS, VERSION
from bench.ctl import ROWS as ROWS_OF_CTL
from bench.effects import FLOOR as FLOOR_OF_EFFECTS
from bench.effects import ROW as ROW_OF_EFFECTS
from bench.farm import LARGE
from bench.fleet import ROWS as ROWS_OF_FLEET
from bench.history import ROW
from bench.others import ROW as ROW_OF_OTHERS
from bench.page import ROWS as ROWS_OF_PAGE
from bench.refusals import ROW as ROW_OF_REFUSALS
from bench.report import FIGURES
from bench.rights import ROW as ROW_OF_RIGHTS
from bench.statistics_history import ROW as ROW_OF_STATISTICS
from bench.subscribers import ROWS as ROWS_OF_READERS
from tests.haproxy import binaries
from tests.rules.sources import CHECKOUT

SERVER = Path(sys.executable).with_name("dataplaneapi")
# Floors that need socat.
BY_HAND = {"socat", "socat, statistics", "socat, list 100,000 entries", "socat, fill 10,000 entries"}
# Large enough for every row.
SIZE = LARGE + 10


pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, dict[str, float]]]:
    """Return the printed report, and the numbers."""
    file = tmp_path_factory.mktemp("bench") / "results.json"
    servers = [f"sidecar={SERVER}", f"again=env {SERVER}"]
    command = [sys.executable, "-m", "bench", "--quick", "--sizes", str(SIZE), "--transactions", "1000", "--json", str(file), *servers]
    run = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout, json.loads(file.read_text())[str(SIZE)]


def test_every_row_is_measured_for_each_server(report: tuple[str, dict[str, dict[str, float]]]) -> None:
    _, results = report
    single = {ROW, ROW_OF_RIGHTS, ROW_OF_OTHERS, ROW_OF_REFUSALS, FIRST, SECOND, ROW_OF_EFFECTS, FLOOR_OF_EFFECTS, ROW_OF_STATISTICS}
    ours = {"routing, slowest path", *single, *ROWS, *ROWS_OF_CTL, *ROWS_OF_READERS, *ROWS_OF_PAGE, *ROWS_OF_FLEET}
    assert set(results["sidecar"]) - ours == set(results["again"])
    assert all(value > 0 for row, value in results["again"].items() if not row.endswith("transactions"))


def test_every_figure_names_a_row_and_a_floor_of_the_run(report: tuple[str, dict[str, dict[str, float]]]) -> None:
    binaries.exactly(VERSION)
    _, results = report
    rows = set(results["sidecar"]) | {"1000 transactions"}
    assert [figure["row"] for figure in FIGURES if figure["row"] not in rows] == []
    assert [floor for figure in FIGURES if (floor := figure.get("floor")) and floor not in {*results["floors"], *rows, *BY_HAND}] == []


def test_servers_stand_side_by_side(report: tuple[str, dict[str, dict[str, float]]]) -> None:
    printed, _ = report
    (head,) = [line for line in printed.splitlines() if "sidecar" in line and "again" in line]
    assert head.split() == ["sidecar", "again", "ratio"]
