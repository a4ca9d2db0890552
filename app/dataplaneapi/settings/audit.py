"""Parse the settings of the audit log: the member `audit` of the settings file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE, SYSLOG = "file", "syslog"
PATH, COLLECTOR = Path("/var/log/dataplaneapi/audit.log"), "/dev/log"
EXAMPLE = "{target: file, file: /var/log/dataplaneapi/audit.log, reads: false}"


@dataclass(frozen=True)
class AuditSettings:
    """Where the audit log is written, and what it contains."""

    # The file. None: the syslog of the machine.
    path: Path | None
    # Whether the log also contains reads.
    reads: bool = False


def read_audit(given: Mapping[str, Any]) -> AuditSettings | None:
    """Parse the audit settings. Return None if `given` is empty, which means no audit log. Raises ValueError."""
    if not given:
        return None
    if unknown := next((name for name in given if name not in ("target", "file", "reads")), None):
        raise ValueError(f"unknown key {str(unknown)[:40]!r}; expected keys as in {EXAMPLE}")
    target, file, reads = given.get("target"), given.get("file"), given.get("reads", False)
    if target not in (FILE, SYSLOG):
        raise ValueError(f"target must be file or syslog, not {str(target)[:40]!r}")
    if reads not in (True, False):
        raise ValueError(f"reads must be true or false, not {str(reads)[:40]!r}")
    if target == SYSLOG and file is not None:
        raise ValueError("file is allowed only with target: file")
    path = Path(str(file)) if file is not None else PATH
    if not path.is_absolute():
        raise ValueError(f"file must be an absolute path, not {str(file)[:100]!r}")
    return AuditSettings(path if target == FILE else None, reads)
