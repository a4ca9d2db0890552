"""Findings as text, as JSON, and as SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"). Pure."""

import json
import posixpath
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from haproxy_native.features.lint.declared import Check, checks
from haproxy_native.features.lint.finding import Finding

TEXT_FORM, JSON_FORM, SARIF_FORM = "text", "json", "sarif"
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_TOOL = "dataplaneapi lint"
# Where the findings stand in a log without any.
_RESULTS = b'"results": []'


def written(found: Sequence[Finding], form: str) -> bytes:
    """Returns the findings in one of the forms, with a final line end."""
    if form == TEXT_FORM:
        return "".join(map(_line, found)).encode("utf-8", "backslashreplace")
    if form == JSON_FORM:
        return b"[" + b", ".join(_json(as_dict(finding)) for finding in found) + b"]\n"
    before, behind = _json(sarif(())).split(_RESULTS)
    names = list(checks())
    return (
        before + _RESULTS[:-1] + b", ".join(_json(_result(finding, names.index(finding.id))) for finding in found) + b"]" + behind + b"\n"
    )


def _json(value: Any) -> bytes:
    """Returns one finding as JSON: encoding a long list is one call, during which no other thread runs."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _line(found: Finding) -> str:
    """Returns a finding as compilers print it, followed by the remedy."""
    new = f"    try: {found.new_line}\n" if found.new_line else ""
    text = f"    {found.text}\n" if found.text else ""
    return f"{found.file}:{found.line}: {found.severity}: {found.what} [{found.id}]\n{text}    {found.mend}\n{new}"


def as_dict(found: Finding) -> dict[str, Any]:
    """Returns a finding as the API shows it, without absent members."""
    names = ("id", "severity", "object", "file", "line", "section", "text", "what", "reason", "mend", "new_line")
    return {name: value for name in names if (value := getattr(found, name))}


def sarif(found: Sequence[Finding]) -> dict[str, Any]:
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
    """Absolute paths as `file:`, others as they are; surrogates as the bytes that they stand for."""
    text = quote(posixpath.normpath(path or "-").encode("utf-8", "surrogateescape"))
    return f"file://{text}" if path.startswith("/") else text
