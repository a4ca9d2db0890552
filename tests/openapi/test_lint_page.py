"""Generate the page of checks."""

from pathlib import Path

from haproxy_native.features.lint.finding import checks
from openapi.lint_page import BEGIN, END, page


def test_the_table_stands_between_the_marks(tmp_path: Path) -> None:
    (tmp_path / "lint.md").write_text(f"# Lint\n\n{BEGIN}| stale |\n{END}\nafter\n")
    text = page(tmp_path / "lint.md")
    assert text.startswith("# Lint\n") and text.endswith("\nafter\n") and "stale" not in text
    assert all(f"| `{id_}` | {check.severity} |" in text for id_, check in checks().items())
