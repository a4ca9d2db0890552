"""Generate docs/decisions/README.md: every decision with its number and title, from the files next to it."""

from pathlib import Path

DECISIONS = Path(__file__).parent.parent / "docs" / "decisions"
HEAD = """\
# Decisions

Made of the files by `make generate`; never edit it. Ten lines each: what was decided, and why. A number that is missing was
merged into another decision. `deviations` lists where recorded answers of the reference differ on purpose.

| number | decision |
|---|---|
"""


def page(directory: Path = DECISIONS) -> str:
    return HEAD + "".join(_row(path) for path in sorted(directory.glob("[0-9]*.md")))


def _row(path: Path) -> str:
    number = path.name.partition("-")[0]
    title = path.read_text().partition("\n")[0].removeprefix("# ").removeprefix(number).strip(" :.")
    return f"| [{number}]({path.name}) | {title} |\n"
