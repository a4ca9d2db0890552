"""Read the declared checks, and encode findings as text, as JSON and as SARIF 2.1.0.

SARIF is the OASIS standard "Static Analysis Results Interchange Format".
"""

import json
import posixpath
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from haproxy_native.features.lint.view import Statement

# The severities of SARIF, the mildest first.
SEVERITIES = ("note", "warning", "error")
TEXT_FORM, JSON_FORM, SARIF_FORM = "text", "json", "sarif"
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_TOOL = "dataplaneapi lint"
# The members of an empty SARIF log that the findings are inserted into.
_RESULTS = b'"results": []'


@dataclass(frozen=True)
class Check:
    """A row of checks.toml. The function in `module` with the name of the check, in snake case, finds the mistakes."""

    id: str
    module: str
    severity: str
    title: str
    # Why the mistake matters.
    reason: str
    # What to do about it.
    mend: str
    # The section and keyword in the HAProxy Configuration Manual.
    manual: str


@cache
def checks() -> Mapping[str, Check]:
    """Return the checks of checks.toml by id, in their order."""
    rows = tomllib.loads(Path(__file__).with_name("checks.toml").read_text())["check"]
    return {row["id"]: Check(**row) for row in rows}


@dataclass(frozen=True)
class Violation:
    """A mistake that a check has found, in a statement or in another file."""

    # None if the mistake is about a file that no statement names.
    statement: Statement | None
    # What is wrong.
    what: str
    # The indices in the document of other sections that the text names.
    also: Sequence[int] = ()
    # A replacement for the line of the statement.
    line: str = ""
    # The other file, and its line number from 1. If they are set, the finding is reported there.
    path: str = ""
    number: int = 0


@dataclass(frozen=True)
class Finding:
    """A violation with its file and line, in the form that clients get."""

    # The id of the check.
    id: str
    severity: str
    file: str
    # The line number in the file, from 1.
    line: int
    # The header of the section.
    section: str
    # The line.
    text: str
    # What is wrong, why it matters, and what to do about it.
    what: str
    reason: str
    mend: str
    # The object that the line belongs to.
    object: str
    # A replacement for the line.
    new_line: str = ""
    # The other objects that the finding names. A client has to be permitted to read them, too.
    others: Sequence[str] = ()


def encode_findings(findings: Sequence[Finding], form: str) -> bytes:
    """Encode findings as text, JSON or SARIF (`form`), with a final line end. Blocks, but lets other threads run between findings."""
    if form == TEXT_FORM:
        return "".join(map(_as_text, findings)).encode("utf-8", "backslashreplace")
    if form == JSON_FORM:
        return b"[" + b", ".join(_json(as_dict(finding)) for finding in findings) + b"]\n"
    before, after = _json(sarif(())).split(_RESULTS)
    names = list(checks())
    results = b", ".join(_json(_sarif_result(finding, names.index(finding.id))) for finding in findings)
    return before + _RESULTS[:-1] + results + b"]" + after + b"\n"


def _json(value: Any) -> bytes:
    """Encode a value as JSON. No other thread runs meanwhile, so callers encode findings one by one."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _as_text(finding: Finding) -> str:
    """Return a finding in the form of a compiler's message, followed by the line, the remedy and the replacement."""
    new = f"    try: {finding.new_line}\n" if finding.new_line else ""
    text = f"    {finding.text}\n" if finding.text else ""
    return f"{finding.file}:{finding.line}: {finding.severity}: {finding.what} [{finding.id}]\n{text}    {finding.mend}\n{new}"


def as_dict(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON, without empty members."""
    names = ("id", "severity", "object", "file", "line", "section", "text", "what", "reason", "mend", "new_line")
    return {name: value for name in names if (value := getattr(finding, name))}


def sarif(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return a SARIF log with these findings, and with the checks as its rules."""
    names = list(checks())
    rules = [
        {
            "id": check.id,
            "shortDescription": {"text": check.title},
            "fullDescription": {"text": check.reason},
            "help": {"text": f"{check.mend} (HAProxy Configuration Manual, {check.manual})"},
            "defaultConfiguration": {"level": check.severity},
        }
        for check in checks().values()
    ]
    run = {
        "tool": {"driver": {"name": _TOOL, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(finding, names.index(finding.id)) for finding in findings],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _sarif_result(finding: Finding, index: int) -> dict[str, Any]:
    path = quote(posixpath.normpath(finding.file or "-").encode("utf-8", "surrogateescape"))
    artifact = {"uri": f"file://{path}" if finding.file.startswith("/") else path}
    region = {"startLine": finding.line, "snippet": {"text": finding.text}}
    result: dict[str, Any] = {
        "ruleId": finding.id,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": f"{finding.what}. {finding.mend}"},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
    }
    if finding.new_line:
        replacement = {"deletedRegion": {"startLine": finding.line}, "insertedContent": {"text": finding.new_line}}
        change = {"artifactLocation": artifact, "replacements": [replacement]}
        result["fixes"] = [{"description": {"text": finding.mend}, "artifactChanges": [change]}]
    return result
