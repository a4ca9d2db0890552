# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import lint_finding


class LintFindings(RootModel[list[lint_finding.LintFinding]]):
    """What is probably a mistake."""

    root: list[lint_finding.LintFinding]
