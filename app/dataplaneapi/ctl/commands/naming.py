"""`ctl references` and `rename`: what names an object, and another name for it."""

import argparse
from typing import Any

from dataplaneapi.ctl import waiting
from dataplaneapi.ctl.commands.apply import add_waiting, of_tests, writing
from dataplaneapi.ctl.failures import OK
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.session import Session

LISTS = {"places": "", "references": "", "not_followed": "not followed: "}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("object", help="as in backend/shop, frontend/site/acl/api, map/hosts.map")
    if parser.prog.endswith("rename"):
        parser.add_argument("to", help="the new name")
        parser.add_argument("--dry-run", action="store_true", help="show what would be done, and change nothing")
        add_waiting(parser)


def run(session: Session) -> int:
    given = session.given
    if given.command == "references":
        session.show(session.client.get(f"{SIDECAR}/references", {"object": given.object}), places)
        return OK
    query, headers = writing(session)
    dry_run = {"dry_run": True} if given.dry_run else {}
    answer = session.client.ask("POST", f"{SIDECAR}/rename", query | dry_run, {"object": given.object, "to": given.to}, **headers)
    session.show(answer.json(), renaming)
    return OK if given.dry_run else waiting.written(session, answer, given.wait)


def renaming(found: dict[str, Any]) -> str:
    """Returns the text of a renaming: its places, what is renamed with it, and the tests of routing."""
    lines = [*(f"goes with it: {line}" for line in found["carried"]), *of_tests(found.get("tests", {}))]
    return places(found) + "".join(f"{line}\n" for line in lines)


def places(found: dict[str, Any]) -> str:
    """One line for each place, with what cannot be followed at the end."""
    lines = [(word, row) for name, word in LISTS.items() for row in found.get(name, ())]
    texts = [f"{word}{row['file']}:{row['line']}: {row.get('text') or ''}{_why(row)}" for word, row in lines]
    return "".join(f"{line}\n" for line in [*texts, *(f"used by {user}" for user in found.get("used_by", ()))])


def _why(row: dict[str, object]) -> str:
    return f" ({row['why']})" if "why" in row else ""
