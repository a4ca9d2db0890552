"""Whether the doctor sees that the audit log cannot be written."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from dataplaneapi.doctor import checks
from dataplaneapi.doctor.checks import audit_failure
from dataplaneapi.settings.audit import AuditSettings
from dataplaneapi.settings.table import Settings


def test_a_file_that_is_there_or_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("{}\n")
    assert audit_failure(AuditSettings(tmp_path / "log")) == audit_failure(AuditSettings(tmp_path / "a" / "b" / "log")) == ""
    assert not (tmp_path / "a").exists()


def _directory(path: Path) -> None:
    path.mkdir()


def _link(path: Path) -> None:
    path.symlink_to("/dev/null")


def _in_a_file(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("")


@pytest.mark.parametrize(
    ("made", "said"),
    [(_directory, "is not a regular file"), (_link, "is not a regular file"), (_in_a_file, "Not a directory")],
    ids=["directory", "link", "in_a_file"],
)
def test_a_file_that_cannot_be(tmp_path: Path, made: Callable[[Path], None], said: str) -> None:
    (tmp_path / "log").mkdir()
    made(tmp_path / "log" / "audit.log")
    assert said in audit_failure(AuditSettings(tmp_path / "log" / "audit.log"))


def test_syslog(tmp_path: Path) -> None:
    place = str(tmp_path / "log")
    assert "No such file" in audit_failure(AuditSettings(None), place)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind(place)
        assert audit_failure(AuditSettings(None), place) == ""
    assert "refused" in audit_failure(AuditSettings(None), place)


def test_the_doctor_says_so(tmp_path: Path) -> None:
    def found(file: Path) -> list[str]:
        return [each.level for each in checks.check_audit(Settings(audit={"target": "file", "file": str(file)}))]

    (tmp_path / "file").write_text("")
    assert (found(tmp_path / "file"), found(tmp_path)) == (["ok"], ["error"])
    assert list(checks.check_audit(Settings())) == []
