"""`ctl history`, `workers`, `overrides`, `whoami` and `export`: what the server says about itself and what has happened."""

import argparse

from dataplaneapi.ctl import durations, tables
from dataplaneapi.ctl.client import name as quoted
from dataplaneapi.ctl.failures import OK
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.session import Session

SHOWN = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    command = parser.prog.rpartition(" ")[2]
    if command == "history":
        parser.add_argument("id", nargs="?", help="of one entry, which is shown with its difference")
        parser.add_argument("--object", help="of changes of this object and of what stands in it")
        parser.add_argument("--author", help="of changes by this user")
        parser.add_argument("--since", type=durations.moment, metavar="TIME", help="as in 24h, 2d, yesterday, 2026-11-23T10:00:00Z")
        parser.add_argument("--refused", action="store_true", help="what was asked for and refused")
        parser.add_argument("--limit", type=int, default=SHOWN, help=f"how many at most (default {SHOWN})")
        parser.add_argument("--diff", metavar="FROM", help="with an id: the difference from the moment of another entry")
    elif command == "export":
        parser.add_argument("--owner", required=True, help="who has declared it")


def run(session: Session) -> int:
    given = session.given
    if given.command == "history":
        _history(session)
    elif given.command == "export":
        session.format = "json" if session.format == "json" else "yaml"
        session.show_one(session.client.get(f"{SIDECAR}/export", {"owner": given.owner}))
    elif given.command == "whoami":
        session.show_one(session.client.get(f"{SIDECAR}/whoami"))
    else:
        session.show_list(given.command.removesuffix("s"), session.client.get(f"{SIDECAR}/{given.command}"))
    return OK


def _history(session: Session) -> None:
    given = session.given
    if given.id and given.diff:
        query = {"from": given.diff, "object": given.object}
        session.write(session.client.ask("GET", f"{SIDECAR}/history/{quoted(given.id)}/diff", query).body.decode("utf-8", "replace"))
    elif given.id:
        session.show(session.client.get(f"{SIDECAR}/history/{quoted(given.id)}"), lambda entry: _entry(entry, colours=session.colours))
    else:
        query = {name: getattr(given, name) for name in ("object", "author", "since", "limit")} | {"refused": given.refused or None}
        session.show_list("history", session.client.get(f"{SIDECAR}/history", query))


def _entry(entry: dict[str, object], *, colours: bool) -> str:
    """Returns the text of an entry, with its difference unchanged."""
    text = tables.of_one({name: value for name, value in entry.items() if name != "diff"}, colours=colours)
    lines = str(entry.get("diff", "")).splitlines()
    return text + "".join(tables.coloured(line, difference_colour(line), colours=colours) + "\n" for line in lines)


def difference_colour(line: str) -> str:
    return tables.GREEN if line.startswith("+") else tables.RED if line.startswith("-") else ""
