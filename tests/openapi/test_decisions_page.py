"""Check the list of decisions: each is listed once, by its number, and no page refers to a missing decision."""

import re
from pathlib import Path

from openapi.decisions_page import DECISIONS, page
from tests.rules.sources import CHECKOUT


def test_a_row_for_each_file(tmp_path: Path) -> None:
    (tmp_path / "0002-b.md").write_text("# Second\n\ntext\n")
    (tmp_path / "0001-a.md").write_text("# 0001 First\n")
    (tmp_path / "README.md").write_text("# Old\n")
    assert page(tmp_path).splitlines()[-2:] == ["| [0001](0001-a.md) | First |", "| [0002](0002-b.md) | Second |"]


def test_no_number_is_used_twice() -> None:
    numbers = [path.name[:4] for path in DECISIONS.glob("[0-9]*.md")]
    assert len(set(numbers)) == len(numbers)


def test_every_link_to_a_decision_leads_to_one() -> None:
    pages = [CHECKOUT / "README.md", *(CHECKOUT / "docs").glob("*.md"), *DECISIONS.glob("*.md")]
    linked = {name for path in pages for name in re.findall(r"\b([0-9]{4}-[a-z0-9-]+\.md)", path.read_text())}
    assert {name for name in linked if not (DECISIONS / name).exists()} == set()
