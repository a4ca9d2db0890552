"""What is found in real files: each finding was looked at, and of a hundred less than one may be wrong."""

import tomllib
from pathlib import Path

from haproxy_native.features.lint.finding import checks
from haproxy_native.features.lint.lint import findings
from haproxy_native.text.document import Document

FILES = Path(__file__).parents[3] / "corpus" / "valid"
JUDGED = tomllib.loads(Path(__file__).with_name("judged.toml").read_text())
MOST_WRONG = 0.01
Row = tuple[str, str, int]


def rows(kind: str) -> set[Row]:
    return {(file, id_, line) for file, found in JUDGED[kind].items() for id_, lines in found.items() for line in lines}


def test_each_finding_in_real_files_was_looked_at() -> None:
    documents = {path.stem: Document.parse(path.read_bytes()) for path in FILES.glob("*.cfg")}
    found = {(name, each.id, each.line) for name, document in documents.items() for each in findings(document)}
    assert found == rows("right") | rows("wrong")
    assert len(found) > 50 and len(rows("wrong")) < MOST_WRONG * len(found)
    # Each check has looked at each file: an alarm is one of so many verdicts.
    assert len(documents) * len(checks()) > 1_000
