"""Write the report: ratios to the first server, and whether figures are within their limits."""

import pytest

from bench.report import FIGURES, readable, tables, verdicts

FLOORS = {"import": 0.5, "haproxy -c": 0.4}


@pytest.mark.parametrize(("start", "said"), [(0.7, "held"), (0.8, "NOT HELD")])
def test_a_figure_is_a_ratio_to_its_floor(start: float, said: str) -> None:
    (line,) = verdicts(100, FLOORS, {"start": start})
    assert line.split(maxsplit=4)[-1].endswith(f"<= 1.50      {said}")


@pytest.mark.parametrize(("answers", "said"), [(1200, "held"), (1000, "NOT HELD")])
def test_a_figure_may_be_a_least(answers: float, said: str) -> None:
    (line,) = verdicts(50_000, {"uvicorn, readers": 1000}, {"many readers": answers})
    assert line.endswith(f">= 1.10      {said}")


def test_a_figure_may_be_held_against_another_row() -> None:
    (line,) = verdicts(50_000, {}, {"read one server": 0.001, "read all backends": 0.07})
    assert line.endswith("70.00 <= 60.00     NOT HELD")


def test_what_was_not_measured_is_not_judged() -> None:
    assert list(verdicts(100, {}, {"start": 1.0})) == []


def test_servers_stand_beside_the_first() -> None:
    table = tables(100, FLOORS, {"ours": {"start": 0.5, "read one server": 0.0002}, "theirs": {"start": 1.0}})
    rows = {line.split("  ")[1]: line.split() for line in table.splitlines() if line.startswith("  ")}
    assert rows["start"][-3:] == ["1.00", "s", "2.00"]
    assert rows["read one server"][-3:] == ["200", "us", "-"]


@pytest.mark.parametrize(
    ("row", "value", "text"),
    [
        ("memory at rest", 44.04, "44.0 MiB"),
        ("1000 transactions", 3, "3.0 MiB"),
        ("tenants, KiB each", 19.64, "19.6 KiB"),
        ("many readers", 12345.6, "12,346/s"),
        ("start", 2, "2.00 s"),
        ("five pages, of a core: map", 0.041, "4.1%"),
    ],
)
def test_values_have_their_unit(row: str, value: float, text: str) -> None:
    assert readable(row, value) == text


def test_every_figure_names_one_limit() -> None:
    assert all(("at_most" in figure) != ("at_least" in figure) for figure in FIGURES)
