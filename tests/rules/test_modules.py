"""What every module owes its reader: a name that is a noun of the domain, and a docstring that tells the idea."""

import ast
import re
from pathlib import Path

import pytest

from tests.rules.sources import CHECKOUT, lines, sources, tree

NO_NAMES = {"util", "utils", "misc", "helper", "helpers", "common", "base", "core", "tools"}
# The project stands alone: it names neither what it was written from nor the way it was written.
NO_WORDS = re.compile(r"\.\./shared|/work/shared|\bissue #?\d|\b[Ss]ub-?agent")
TEXTS = ("*.py", "*.md", "*.yaml", "*.toml", "Makefile", "*.service", "*.cfg", "*.yml")


@pytest.mark.parametrize("path", [path for path in sources() if lines(path)], ids=str)
def test_module_tells_its_idea(path: Path) -> None:
    assert ast.get_docstring(tree(path))


def test_no_module_is_a_drawer() -> None:
    assert [path for path in sources() if path.stem in NO_NAMES] == []


def test_the_project_stands_alone() -> None:
    parts = [path for path in CHECKOUT.iterdir() if not path.name.startswith(".")]
    files = [path for part in parts for pattern in TEXTS for path in (part.rglob(pattern) if part.is_dir() else [part])]
    named = [path for path in set(files) if NO_WORDS.search(path.read_text(errors="replace"))]
    assert [path for path in named if path != Path(__file__)] == []
