"""The declared checks, their findings, and findings as text, as JSON and as SARIF 2.1.0. Pure.

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
# The place of the findings in a SARIF log without any.
_RESULTS = b'"results": []'


@dataclass(frozen=True)
class Check:
    """A row of checks.toml. A function of `module` with the name of the check finds its mistakes."""

    id: str
    module: str
    severity: str
    title: str
    # Why it matters.
    reason: str
    # What to do about it.
    mend: str
    # Section and keyword of the HAProxy Configuration Manual.
    manual: str


@cache
def checks() -> Mapping[str, Check]:
    """Return the checks by id, in the order of their declaration."""
    rows = tomllib.loads(Path(__file__).with_name("checks.toml").read_text())["check"]
    return {row["id"]: Check(**row) for row in rows}


@dataclass(frozen=True)
class Violation:
    """What a check finds: a statement, or a line of another file."""

    # None for a file that no statement names.
    statement: Statement | None
    what: str
    # The indices of other sections that the finding names.
    also: Sequence[int] = ()
    # A replacement for the line.
    line: str = ""
    # The other file, and its line from 1.
    path: str = ""
    number: int = 0


@dataclass(frozen=True)
class Finding:
    """A finding as clients see it."""

    id: str
    severity: str
    file: str
    # From 1.
    line: int
    section: str
    text: str
    what: str
    reason: str
    mend: str
    # The object of the line.
    object: str
    # A replacement for the line.
    new_line: str = ""
    # The other objects that the finding names.
    others: Sequence[str] = ()


def encode_findings(found: Sequence[Finding], form: str) -> bytes:
    """Return the findings as text, JSON or SARIF, with a final line end."""
    if form == TEXT_FORM:
        return "".join(map(_line, found)).encode("utf-8", "backslashreplace")
    if form == JSON_FORM:
        return b"[" + b", ".join(_json(as_dict(finding)) for finding in found) + b"]\n"
    before, rest = _json(sarif(())).split(_RESULTS)
    names = list(checks())
    return before + _RESULTS[:-1] + b", ".join(_json(_result(finding, names.index(finding.id))) for finding in found) + b"]" + rest + b"\n"


def _json(value: Any) -> bytes:
    """Encode one finding. Callers encode long lists piece by piece, because no other thread runs during a call."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _line(found: Finding) -> str:
    """Return a finding as compilers print it, followed by the remedy."""
    new = f"    try: {found.new_line}\n" if found.new_line else ""
    text = f"    {found.text}\n" if found.text else ""
    return f"{found.file}:{found.line}: {found.severity}: {found.what} [{found.id}]\n{text}    {found.mend}\n{new}"


def as_dict(found: Finding) -> dict[str, Any]:
    """Return a finding as the API shows it, without empty members."""
    names = ("id", "severity", "object", "file", "line", "section", "text", "what", "reason", "mend", "new_line")
    return {name: value for name in names if (value := getattr(found, name))}


def sarif(found: Sequence[Finding]) -> dict[str, Any]:
    """Return a SARIF log with the checks as its rules."""
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
    """Return the URI of a path: with `file://` if it is absolute, else relative. A surrogate becomes the byte that it represents."""
    text = quote(posixpath.normpath(path or "-").encode("utf-8", "surrogateescape"))
    return f"file://{text}" if path.startswith("/") else text
