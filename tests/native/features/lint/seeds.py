"""Files with faults and with what only looks like them: for each check a configuration in which the faulty lines say so (`# BAD`)."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from haproxy_native.features.lint.view import Facts, FileFacts

SEEDED = Path(__file__).parent / "seeded"
MARK = "# BAD"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
_GOOD = FileFacts(True, 0o600, holds_key=True, expires=NOW + timedelta(days=90))
_FILES = {
    "good.pem": _GOOD,
    "open.pem": FileFacts(True, 0o644, holds_key=True, expires=_GOOD.expires),
    "authority.pem": FileFacts(True, 0o644),
    "ended.pem": FileFacts(True, 0o600, holds_key=True, expires=NOW - timedelta(days=1)),
    "soon.pem": FileFacts(True, 0o600, holds_key=True, expires=NOW + timedelta(days=29)),
    "list.txt": FileFacts(True, files=("/x/good.pem", "/x/ended.pem")),
    "hosts.map": FileFacts(True, text="# hosts\na mapped\nb\tfallback\n"),
    "other.map": FileFacts(True, text="a b\n"),
    "wrong.map": FileFacts(True, text="a mapped\nb nowhere\nc neither\n"),
}
_MISSING = ("none.pem", "none.acl", "none.map", "none.http", "made.pem")
_ALL = {**_FILES, **dict.fromkeys(_MISSING, FileFacts(False))}
FACTS = Facts("/etc/haproxy", NOW, {"/etc/haproxy/none.pem": FileFacts(False)} | {f"/x/{name}": file for name, file in _ALL.items()})


def seeds() -> dict[str, str]:
    """A configuration for each check, by its id."""
    texts = "".join(path.read_text() for path in sorted(SEEDED.glob("*.cfg")))
    parts = re.split(r"^## (.+)\n", texts, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def faulty(text: str) -> list[int]:
    """The lines that are, from 1."""
    return [number for number, line in enumerate(text.split("\n"), 1) if MARK in line]
