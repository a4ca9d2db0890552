"""Audit the locked packages: it finds faults, and fails for packages that it could not check."""

import json
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

from tests.rules.sources import CHECKOUT

GOOD, OTHER = "a" * 64, "b" * 64


@pytest.fixture(scope="module")
def audit() -> Any:
    loader = SourceFileLoader("audit", str(CHECKOUT / "packaging/audit"))
    spec = spec_from_loader("audit", loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_every_locked_package_is_looked_at(audit: Any) -> None:
    for name in audit.LOCKS:
        text = (CHECKOUT / f"requirements/{name}.txt").read_text()
        found = audit.locked(text)
        assert len(found) == text.count("==") - text.count("'==") - text.count(" == ")
        assert sum(len(each.digests) for each in found) == text.count("--hash=")


@pytest.mark.parametrize(
    ("files", "finding"),
    [
        ([{"hashes": {"sha256": GOOD}, "yanked": False}], None),
        ([{"hashes": {"sha256": GOOD}, "yanked": False}, {"hashes": {"sha256": OTHER}, "yanked": True}], None),
        ([{"hashes": {"sha256": GOOD}, "yanked": "leaks"}], "one 1.0: yanked: leaks"),
        ([{"hashes": {"sha256": GOOD}, "yanked": True}], "one 1.0: yanked"),
        ([{"hashes": {"sha256": OTHER}, "yanked": False}], "one 1.0: the index has none of the files with the locked hashes"),
        ([], "one 1.0: the index has none of the files with the locked hashes"),
    ],
)
def test_what_the_index_says(audit: Any, files: list[dict[str, Any]], finding: str | None) -> None:
    (package,) = audit.locked(f"one==1.0 \\\n    --hash=sha256:{GOOD}\n")
    assert audit.withdrawn(package, files) == ([finding] if finding else [])


def test_what_pip_audit_says(audit: Any) -> None:
    answer = {
        "dependencies": [
            {"name": "fine", "version": "1", "vulns": []},
            {"name": "bad", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["3"]}, {"id": "CVE-2", "fix_versions": []}]},
            {"name": "lost", "skip_reason": "could not be audited: lost (4)"},
        ]
    }
    report = audit.vulnerabilities(json.dumps(answer))
    assert report.findings == ["bad 2: CVE-1, mended in 3", "bad 2: CVE-2, mended in no version"]
    assert report.unchecked == [("lost", "vulnerabilities: could not be audited")]


def test_nothing_checked_is_no_success(audit: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = tmp_path / "empty.txt"
    lock.write_text("")
    assert audit.main("false", [lock]) == 3
    assert "NOT CHECKED for 1 packages: vulnerabilities: no answer\n  empty.txt" in capsys.readouterr().out
