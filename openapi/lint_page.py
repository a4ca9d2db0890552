"""Write the table of checks in docs/lint.md, from native/haproxy_native/features/lint/checks.toml, and keep the rest of the page."""

from pathlib import Path

from haproxy_native.features.lint.finding import Check, checks

PAGE = Path(__file__).parent.parent / "docs" / "lint.md"
BEGIN, END = "<!-- checks: made by `make generate` -->\n", "<!-- end of checks -->\n"


def page(path: Path = PAGE) -> str:
    text = path.read_text()
    before, rest = text.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END)[1]


def table() -> str:
    rows = "".join(map(_row, checks().values()))
    return f"| id | severity | what, and why | what to do | manual |\n|---|---|---|---|---|\n{rows}"


def _row(check: Check) -> str:
    cells = (f"`{check.id}`", check.severity, f"{check.title}. {check.reason}", check.mend, check.manual)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
