"""`ctl get reload`: shows reloads with the changes that needed them, and why HAProxy refused one.

The list of the Data Plane API has only the id, the status and HAProxy's output of each reload. The records of the sidecar have the reasons
too. A server without them, or a caller that may not read them, gets the former alone.
"""

import re
from collections.abc import Mapping
from typing import Any

from dataplaneapi.ctl import output
from dataplaneapi.ctl.client import Client
from dataplaneapi.ctl.client import name as quoted
from dataplaneapi.ctl.objects import SIDECAR, Object
from dataplaneapi.ctl.session import Session

# The members of a record in the order of a table. `refused`, a whole configuration, is left to -o json.
SHOWN = ("id", "status", "reasons", "error", "requested", "started", "ended", "version", "restored_version", "changes", "rest_reload_id")
MORE = ("continued_in", "differences", "response")
COLUMNS = ("id", "status", "requested", "reason")
# The newest reloads, of which a list shows the reasons. Each takes a call, and a day may have thousands of reloads.
WITH_REASONS = 50
# The most characters of a reason in a table.
LONGEST_REASON = 200
# Begins a message of HAProxy about an error, in the output of a reload.
_ALERT = re.compile(r"^\[ALERT\]\s*(?:\(\d+\) : )?(.*)$", re.MULTILINE)

Row = Mapping[str, Any]


def show_reloads(session: Session, asked: Object) -> None:
    """Show all listed reloads, or the one that `asked` names. Raises RefusedCall if there is no such reload."""
    if asked.is_one:
        record = _complete(session.client, session.client.get(asked.path))
        session.show(record, lambda shown: output.of_one(_for_table(shown), colours=session.colours))
        return
    rows = session.client.get(asked.path)
    records = [*rows[:-WITH_REASONS], *(_complete(session.client, row) for row in rows[-WITH_REASONS:])]
    session.show(records, lambda shown: _table(shown, colours=session.colours))
    if not records and session.format == "table":
        session.note("no reload")


def _complete(client: Client, row: Row) -> dict[str, Any]:
    """Return a row of the list with what the sidecar has recorded about the reload. The contract does not require an id of each row."""
    if "id" not in row:
        return dict(row)
    answer = client.answer("GET", f"{SIDECAR}/reloads/{quoted(row['id'])}")
    return {**row, **(answer.json() if answer.is_success else {})}


def _table(records: list[dict[str, Any]], *, colours: bool) -> str:
    """Return a table of reloads, with the errors of a failed one in the lines below it."""
    if not records:
        return ""
    rows = [[record.get("id"), output.word(record.get("status", "")), record.get("requested"), _reasons(record)] for record in records]
    head, *lines = output.table(COLUMNS, rows, longest=LONGEST_REASON, colours=colours).splitlines(keepends=True)
    return head + "".join(line + "".join(f"    {error}\n" for error in errors(record)) for line, record in zip(lines, records, strict=True))


def _for_table(record: Row) -> dict[str, Any]:
    """Return a record with its lists as texts of one line for each element."""
    texts = {
        "reasons": "\n".join(_reasons(record)),
        "changes": "\n".join(map(_change, record.get("changes", ()))),
        "error": "\n".join(errors(record)),
        "differences": "\n".join(record.get("differences", ())),
    }
    whole = {**record, **texts}
    return {name: whole[name] for name in (*SHOWN, *MORE) if whole.get(name) not in (None, "")}


def _reasons(record: Row) -> list[str]:
    return [output.reason_line(reason) for reason in record.get("reasons", ())]


def _change(change: Row) -> str:
    """Return a change that a failed reload was to load, and what happened to it."""
    entry = f"entry {change['entry']}" if "entry" in change else f"version {change['version']}"
    return f"{entry} by {change.get('author', '-')}: {output.word(change['outcome'])}"


def errors(record: Row) -> list[str]:
    """Return HAProxy's messages about the errors of a failed reload, or else the reason that the server has recorded."""
    if record.get("status") != "failed":
        return []
    return _ALERT.findall(record.get("response") or "") or [record.get("error") or "HAProxy gave no reason"]
