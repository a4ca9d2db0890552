"""Findings as text, JSON and SARIF."""

import json
from functools import cache

from haproxy_native.features.lint.finding import (
    JSON_FORM,
    SARIF_FORM,
    SEVERITIES,
    TEXT_FORM,
    Finding,
    as_dict,
    checks,
    encode_findings,
    sarif,
)
from haproxy_native.features.lint.lint import ConfigurationOrigin, findings
from haproxy_native.text.document import Document

TEXT = "frontend f\n  bind :80\n  acl admin path /x\n  http-request deny if admn\n"


@cache
def found() -> list[Finding]:
    return findings(Document.parse(TEXT), origin=ConfigurationOrigin("/etc/h a.cfg"))


def test_text_is_as_compilers_have_it() -> None:
    lines = encode_findings(found(), TEXT_FORM).decode().splitlines()
    assert "/etc/h a.cfg:4: error: frontend f has no ACL 'admn' [acl-undefined]" in lines and "    try: http-request deny if admin" in lines


def test_json_is_what_the_api_shows() -> None:
    assert json.loads(encode_findings(found(), JSON_FORM)) == [as_dict(each) for each in found()]
    assert all(each["line"] and each["object"] == "frontend/f" and "others" not in each for each in map(as_dict, found()))
    assert json.loads(encode_findings([], JSON_FORM)) == []


def test_sarif_has_what_its_schema_requires() -> None:
    """SARIF 2.1.0: version and runs; a tool's driver and its name; ids of rules; a message in every result; lines from 1; levels."""
    log = json.loads(encode_findings(found(), SARIF_FORM))
    assert set(log) == {"$schema", "version", "runs"} and log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] and [rule["id"] for rule in rules] == list(checks())
    assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in rules)
    for result, each in zip(run["results"], found(), strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == each.id
        assert result["message"]["text"] and result["level"] in SEVERITIES
        (place,) = result["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "file:///etc/h%20a.cfg"
        assert place["physicalLocation"]["region"]["startLine"] == each.line >= 1
        for fix in result.get("fixes", ()):
            (change,) = fix["artifactChanges"]
            assert change["artifactLocation"] and all(one["deletedRegion"] for one in change["replacements"])
    assert any("fixes" in result for result in run["results"])


def test_a_path_is_a_uri() -> None:
    found = findings(Document.parse(TEXT), origin=ConfigurationOrigin("conf/ü.cfg"))
    uris = {each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in sarif(found)["runs"][0]["results"]}
    assert uris == {"conf/%C3%BC.cfg"}
