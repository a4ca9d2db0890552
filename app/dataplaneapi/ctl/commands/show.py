"""`ctl history`, `lint`, `references`, `drift`, `workers`, `overrides`, `whoami` and `export`: what the server reports."""

import argparse
from typing import Any

from dataplaneapi.ctl import output
from dataplaneapi.ctl.client import quote_name
from dataplaneapi.ctl.failures import DIFFERS, OK
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.session import Session, moment

SHOWN = 20
SEVERITIES = ("note", "warning", "error")
# The lists of references in an answer, and the words that precede each row of a list.
REFERENCES = {"places": "", "references": "", "not_followed": "not followed: "}


def history_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="id of an entry to show with its difference; without it, list entries")
    parser.add_argument("--object", metavar="OBJECT", help="only changes of this object and the objects in it")
    parser.add_argument("--author", metavar="NAME", help="only changes by this user")
    parser.add_argument("--since", type=moment, metavar="TIME", help="as in 24h, 2d, yesterday, 2026-11-23T10:00:00Z")
    parser.add_argument("--until", type=moment, metavar="TIME", help="only changes up to this time, written as for --since")
    parser.add_argument("--refused", action="store_true", help="show refused requests instead, with the reason")
    parser.add_argument("--limit", type=int, default=SHOWN, metavar="N", help=f"show at most this many entries (default {SHOWN})")
    parser.add_argument(
        "--diff", metavar="FROM", help="with an id: show the difference between the state after the entry FROM and the state after this one"
    )


def run_history(session: Session) -> int:
    given = session.given
    if given.id and given.diff:
        query = {"from": given.diff, "object": given.object}
        session.write(
            session.client.request("GET", f"{SIDECAR}/history/{quote_name(given.id)}/diff", query).body.decode("utf-8", "replace")
        )
    elif given.id:
        session.show(
            session.client.get(f"{SIDECAR}/history/{quote_name(given.id)}"), lambda entry: entry_text(entry, colours=session.colours)
        )
    else:
        query = {name: getattr(given, name) for name in ("object", "author", "since", "until", "limit")}
        rows = session.client.get(f"{SIDECAR}/history", query | {"refused": given.refused or None})
        if given.refused and session.format == "table":
            for row in rows:
                reason = str(row.get("reason", "-")).partition("\n")[0]
                row["summary"] = ": ".join(filter(None, [", ".join(row.get("objects", ())), reason]))
        session.show_list("history", rows)
    return OK


def entry_text(entry: dict[str, object], *, colours: bool) -> str:
    """Return an entry of the history, followed by its difference."""
    text = output.object_text({name: value for name, value in entry.items() if name != "diff"}, colours=colours)
    return text + output.difference_text(str(entry.get("diff", "")).splitlines(), colours=colours)


def lint_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--transaction", metavar="ID", help="check the configuration of a transaction")
    parser.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0")
    parser.add_argument("--fail-on", choices=SEVERITIES, help=f"exit with {DIFFERS} if there is a finding of this severity or worse")


def run_lint(session: Session) -> int:
    given = session.given
    query = {"transaction_id": given.transaction} if given.transaction else {}
    report = session.client.get(f"{SIDECAR}/lint", query)
    if given.sarif:
        session.write(session.client.request("GET", f"{SIDECAR}/lint", query | {"format": "sarif"}).body.decode())
    else:
        session.show(report, findings_text)
    least = SEVERITIES.index(given.fail_on) if given.fail_on else len(SEVERITIES)
    return DIFFERS if any(SEVERITIES.index(finding["severity"]) >= least for finding in report) else OK


def findings_text(report: list[dict[str, str]]) -> str:
    lines = []
    for row in report:
        lines.append(f"{row['file']}:{row['line']}: {row['severity']}: {row['what']} [{row['id']}]\n")
        # The finding about a stored file that no line refers to has no text.
        lines += [f"    {row[name]}\n" for name in ("text", "mend") if name in row]
    return "".join(lines)


def references_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("object", help="as in backend/shop, frontend/site/acl/api, map/hosts.map")


def run_references(session: Session) -> int:
    references = session.client.get(f"{SIDECAR}/references", {"object": session.given.object})
    session.show(references, lambda found: "".join(f"{line}\n" for line in reference_lines(found)))
    if session.format == "table" and not reference_lines(references):
        session.note(f"nothing refers to {session.given.object}")
    return OK


def reference_lines(answer: dict[str, Any]) -> list[str]:
    """Return a line for each reference, each reference that cannot be followed, and each split or discovery that uses the object."""
    lines = []
    for name, word in REFERENCES.items():
        for row in answer.get(name, ()):
            why = f" ({row['why']})" if "why" in row else ""
            lines.append(f"{word}{row['file']}:{row['line']}: {row.get('text') or ''}{why}")
    return [*lines, *(f"used by {user}" for user in answer.get("used_by", ()))]


def run_workers(session: Session) -> int:
    session.show_list("worker", session.client.get(f"{SIDECAR}/workers"))
    return OK


def run_drift(session: Session) -> int:
    drift = session.client.get(f"{SIDECAR}/drift")
    session.show(drift, drift_text)
    return OK if drift["in_sync"] else DIFFERS


def drift_text(drift: dict[str, Any]) -> str:
    lines = [
        f"{row['object']} {row.get('member', '')}: "
        + ", ".join(f"{name} {output.cell(value)}" for name, value in row.items() if name not in ("object", "member", "cause"))
        + f" ({row['cause']})"
        for row in drift["differences"]
    ]
    lines += drift["notes"]
    lines += [] if drift["running_known"] else ["what the worker has loaded is not known, so the file was not compared"]
    lines += [] if drift["worker_answers"] else ["HAProxy does not answer, so its worker was not compared"]
    lines += [f"reload {drift['reload_pending']} is scheduled"] if "reload_pending" in drift else []
    return "".join(f"{line}\n" for line in lines or ["file and process agree"])


def run_overrides(session: Session) -> int:
    session.show_list("override", session.client.get(f"{SIDECAR}/overrides"))
    return OK


def run_whoami(session: Session) -> int:
    session.show_one(session.client.get(f"{SIDECAR}/whoami"))
    return OK


def export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--owner", metavar="NAME", required=True, help="name of the owner, such as a team or a pipeline")


def run_export(session: Session) -> int:
    session.format = "json" if session.format == "json" else "yaml"
    session.show_one(session.client.get(f"{SIDECAR}/export", {"owner": session.given.owner}))
    return OK
