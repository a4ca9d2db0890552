"""Check that the paths in docs/architecture.md exist."""

import re
from pathlib import Path

import pytest

from tests.rules.sources import CHECKOUT

PAGE = (CHECKOUT / "docs" / "architecture.md").read_text()
# Words in code on the page that have a slash, or the suffix of a file.
PATHS = re.compile(r"`([\w./*-]+/[\w./*-]*|[\w-]+\.(?:py|md|yaml|toml))`|\]\(([\w./-]+)\)")
# In the diagram, a path begins its line.
DRAWN = re.compile(r"^    ([\w/]+/[\w*]+\.py)", re.MULTILINE)
SERVER, LIBRARY = CHECKOUT / "app" / "dataplaneapi", CHECKOUT / "native" / "haproxy_native"
PLACES = (CHECKOUT, CHECKOUT / "docs", CHECKOUT / "app", CHECKOUT / "native", SERVER, LIBRARY, CHECKOUT / "tests")
# The first cells of the rows of its tables.
ROWS = re.findall(r"^\| (`[^|]*) \|", PAGE, re.MULTILINE)
NAMED = sorted({path for found in PATHS.findall(PAGE) for path in found if path} | set(DRAWN.findall(PAGE)))


def test_paths_are_recognised() -> None:
    assert {"api/operations.py", "haproxy_native/planning/live.py", "decisions/README.md", "openapi/schemas/server.yaml"} <= set(NAMED)


@pytest.mark.parametrize("path", NAMED)
def test_what_is_named_is_there(path: str) -> None:
    assert any(list(place.glob(path.rstrip("/"))) for place in PLACES if path), path


def test_at_runtime_stands_where_the_page_says() -> None:
    line = next(line for line in PAGE.splitlines() if "`at_runtime`" in line)
    names = re.findall(r"`(openapi/\S+)`", line)
    assert names and all("at_runtime" in Path(CHECKOUT, name).read_text() for name in names)


@pytest.mark.parametrize("folder", [SERVER, LIBRARY], ids=["app", "native"])
def test_each_package_has_a_row(folder: Path) -> None:
    named = {name for row in ROWS for name in re.findall(r"`([\w.]+)`", row)}
    assert {path.parent.name for path in folder.glob("*/__init__.py")} - named == set()
