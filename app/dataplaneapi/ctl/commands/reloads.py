"""`ctl get reload`: show reloads with the changes that needed them, and show why HAProxy refused a reload.

The list of the Data Plane API has only the id, the status and HAProxy's output of each reload. The records of the sidecar also have the
reasons. If the server has no such records, or the caller may not read them, only the list is shown.
"""

import re
from collections.abc import Mapping
from typing import Any

from dataplaneapi.ctl import output
from dataplaneapi.ctl.client import Client, quote_name
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


def show_reloads(session: Session, target: Object) -> None:
    """Show all reloads, or the reload that `target` names. Raises RefusedCall if there is no such reload."""
    if target.is_one:
        record = _add_record(session.client, session.client.get(target.path))
        session.show(record, lambda shown: reload_text(shown, colours=session.colours))
        return
    rows = session.client.get(target.path)
    records = [*rows[:-WITH_REASONS], *(_add_record(session.client, row) for row in rows[-WITH_REASONS:])]
    session.show(records, lambda shown: reloads_table(shown, colours=session.colours))
    if not records and session.format == "table":
        session.note("no reload")


def _add_record(client: Client, row: Row) -> dict[str, Any]:
    """Return the reload in `row`, a row of the list.

    If the caller may read the sidecar's record of this reload, add the members of the record.
    """
    # The contract does not require an id.
    if "id" not in row:
        return dict(row)
    answer = client.send("GET", f"{SIDECAR}/reloads/{quote_name(row['id'])}")
    return {**row, **(answer.json() if answer.is_success else {})}


def reloads_table(records: list[dict[str, Any]], *, colours: bool) -> str:
    """Return a table of reloads. Each failed reload is followed by lines with its errors."""
    if not records:
        return ""
    rows = [[record.get("id"), output.word(record.get("status", "")), record.get("requested"), _reasons(record)] for record in records]
    head, *lines = output.table(COLUMNS, rows, longest=LONGEST_REASON, colours=colours).splitlines(keepends=True)
    return head + "".join(line + "".join(f"    {error}\n" for error in errors(record)) for line, record in zip(lines, records, strict=True))


def reload_text(record: Row, *, colours: bool) -> str:
    """Return the members of a reload as text. A list has a line for each of its elements."""
    changes = []
    for change in record.get("changes", ()):
        entry = f"entry {change['entry']}" if "entry" in change else f"version {change['version']}"
        changes.append(f"{entry} by {change.get('author', '-')}: {output.word(change['outcome'])}")
    lists = {"reasons": _reasons(record), "changes": changes, "error": errors(record), "differences": record.get("differences", ())}
    members = {**record, **{name: "\n".join(lines) for name, lines in lists.items()}}
    return output.object_text({name: members[name] for name in (*SHOWN, *MORE) if members.get(name) not in (None, "")}, colours=colours)


def _reasons(record: Row) -> list[str]:
    return [output.reason_line(reason) for reason in record.get("reasons", ())]


def errors(record: Row) -> list[str]:
    """Return the error messages of a failed reload. Empty if the reload has not failed.

    These are the messages of HAProxy or, if there are none, the error in the record.
    """
    if record.get("status") != "failed":
        return []
    return _ALERT.findall(record.get("response") or "") or [record.get("error") or "HAProxy gave no reason"]
