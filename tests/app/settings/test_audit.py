"""The audit log as the settings file has it."""

from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.settings.audit import AuditSettings, read_audit


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, None),
        ({"target": "file"}, AuditSettings(Path("/var/log/dataplaneapi/audit.log"))),
        ({"target": "file", "file": "/a/b", "reads": True}, AuditSettings(Path("/a/b"), reads=True)),
        ({"target": "syslog"}, AuditSettings(None)),
    ],
)
def test_settings(given: dict[str, Any], wanted: AuditSettings | None) -> None:
    assert read_audit(given) == wanted


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"reads": True}, "target must be file or syslog, not 'None'"),
        ({"target": "journal"}, "target must be file or syslog, not 'journal'"),
        ({"target": "file", "reads": "yes"}, "reads must be true or false, not 'yes'"),
        ({"target": "file", "file": "audit.log"}, "file must be an absolute path, not 'audit.log'"),
        ({"target": "syslog", "file": "/a"}, "file is allowed only with target: file"),
        ({"target": "file", "read": True}, "unknown key 'read'; expected keys as in {target: file"),
    ],
)
def test_what_is_none(given: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match="^" + text.replace("{", "\\{")):
        read_audit(given)
