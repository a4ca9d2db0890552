"""Read the declared checks, and encode findings as text, as JSON and as SARIF 2.1.0. Pure.

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
    """A violation with its place in a file, as clients see it."""

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


def encode_findings(found: Sequence[Finding], form: str) -> bytes:
    """Encode findings as text, JSON or SARIF (`form`), with a final line end. Blocks, but lets other threads run between findings."""
    if form == TEXT_FORM:
        return "".join(map(_line, found)).encode("utf-8", "backslashreplace")
    if form == JSON_FORM:
        return b"[" + b", ".join(_json(as_dict(finding)) for finding in found) + b"]\n"
    before, rest = _json(sarif(())).split(_RESULTS)
    names = list(checks())
    return before + _RESULTS[:-1] + b", ".join(_json(_result(finding, names.index(finding.id))) for finding in found) + b"]" + rest + b"\n"


def _json(value: Any) -> bytes:
    """Encode a value as JSON. No other thread runs meanwhile, so callers encode findings one by one."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _line(found: Finding) -> str:
    """Return a finding in the form of a compiler's message, followed by the line, the remedy and the replacement."""
    new = f"    try: {found.new_line}\n" if found.new_line else ""
    text = f"    {found.text}\n" if found.text else ""
    return f"{found.file}:{found.line}: {found.severity}: {found.what} [{found.id}]\n{text}    {found.mend}\n{new}"


def as_dict(found: Finding) -> dict[str, Any]:
    """Return a finding as JSON, without empty members."""
    names = ("id", "severity", "object", "file", "line", "section", "text", "what", "reason", "mend", "new_line")
    return {name: value for name in names if (value := getattr(found, name))}


def sarif(found: Sequence[Finding]) -> dict[str, Any]:
    """Return a SARIF log with these findings, and with the checks as its rules."""
    names = list(checks())
    run = {
        "tool": {"driver": {"name": _TOOL, "rules": [_rule(check) for check in checks().values()]}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, names.index(finding.id)) for finding in found],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(check: Check) -> dict[str, Any]:
    return {
        "id": check.id,
        "shortDescription": {"text": check.title},
        "fullDescription": {"text": check.reason},
        "help": {"text": f"{check.mend} (HAProxy Configuration Manual, {check.manual})"},
        "defaultConfiguration": {"level": check.severity},
    }


def _result(found: Finding, index: int) -> dict[str, Any]:
    artifact = {"uri": _uri(found.file)}
    region = {"startLine": found.line, "snippet": {"text": found.text}}
    result: dict[str, Any] = {
        "ruleId": found.id,
        "ruleIndex": index,
        "level": found.severity,
        "message": {"text": f"{found.what}. {found.mend}"},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
    }
    if found.new_line:
        replacement = {"deletedRegion": {"startLine": found.line}, "insertedContent": {"text": found.new_line}}
        change = {"artifactLocation": artifact, "replacements": [replacement]}
        result["fixes"] = [{"description": {"text": found.mend}, "artifactChanges": [change]}]
    return result


def _uri(path: str) -> str:
    """Return the URI of a path, with `file://` if the path is absolute."""
    text = quote(posixpath.normpath(path or "-").encode("utf-8", "surrogateescape"))
    return f"file://{text}" if path.startswith("/") else text
