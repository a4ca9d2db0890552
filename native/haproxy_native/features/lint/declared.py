"""The checks as checks.toml declares them, and the words of HAProxy that they look for, in words.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

# From the least to the worst; those of SARIF.
SEVERITIES = ("note", "warning", "error")
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Check:
    """`module` has a function of the check's name. `reason`: why it matters. `manual`: where HAProxy's manual has it."""

    id: str
    module: str
    severity: str
    title: str
    reason: str
    mend: str
    manual: str


@cache
def checks() -> Mapping[str, Check]:
    """Returns the checks by id, in the order of their declaration."""
    rows = tomllib.loads((_HERE / "checks.toml").read_text())["check"]
    return {row["id"]: Check(**row) for row in rows}


@cache
def words() -> Mapping[str, Any]:
    return tomllib.loads((_HERE / "words.toml").read_text())
