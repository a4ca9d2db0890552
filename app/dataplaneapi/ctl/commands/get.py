"""`ctl get`: objects, their lists, what the running process has of them, and their text."""

import argparse

from dataplaneapi.ctl.client import name as quoted
from dataplaneapi.ctl.failures import OK, Failure
from dataplaneapi.ctl.kinds import COLUMNS, ENTRIES
from dataplaneapi.ctl.objects import CONFIGURATION, Object, parsed
from dataplaneapi.ctl.session import Session
from dataplaneapi.ctl.text import lines_of


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("object", nargs="+", metavar="KIND [NAME]", help="as in backend, backend shop, backend/shop/server/web1")
    parser.add_argument(
        "-r", "--runtime", action="store_true", help="what the running process has: server, map, acl, certificate, info, ..."
    )
    parser.add_argument("--transaction", metavar="ID", help="as it stands in a transaction")


def run(session: Session) -> int:
    given = session.given
    asked = parsed(given.object, runtime=given.runtime)
    transaction = {"transaction_id": given.transaction} if given.transaction else {}
    if session.format == "cfg":
        session.write(_text(session, asked, transaction))
    elif asked.runtime and asked.kind in ENTRIES and asked.is_one:
        session.show_list("entry", session.client.get(f"{asked.path}/entries"), "id")
    elif asked.is_one:
        _show_one(session, asked, transaction)
    else:
        value = session.client.get(asked.path, asked.query | transaction)
        _show_list(session, asked, value if isinstance(value, list) else [value])
    return OK


def _show_one(session: Session, asked: Object, transaction: dict[str, str]) -> None:
    answer = session.client.ask("GET", asked.path, asked.query | transaction)
    if "json" in answer.headers.get("content-type", ""):
        value = answer.json()
        session.show_one(value.get("info", value) if asked.kind == "info" else value)
    else:
        session.write(answer.body.decode("utf-8", "replace"))


def _show_list(session: Session, asked: Object, found: list[object]) -> None:
    if session.format == "name":
        for place, element in enumerate(found):
            session.write(f"{Object(asked.kind, asked.parent, name_of(asked, place, element), runtime=asked.runtime)}\n")
        return
    kind = asked.kind.rpartition("/")[2]
    kind = f"runtime {kind}" if asked.runtime and f"runtime {kind}" in COLUMNS else kind
    session.show_list(kind, found, asked.key if asked.is_configured else "name")


def name_of(asked: Object, place: int, each: object) -> str:
    """The name of one of a list."""
    if not isinstance(each, dict):
        return str(each)
    keys = [asked.key] if asked.is_configured else ["storage_name", "name", "id", "owner"]
    return str(next((each[key] for key in keys if key in each), place))


def _text(session: Session, asked: Object, transaction: dict[str, str]) -> str:
    if not asked.is_configured:
        if asked.runtime or not asked.is_one:
            raise Failure(f"{asked} has no text; -o cfg is for the configuration and for stored files")
        return session.client.ask("GET", asked.path).body.decode("utf-8", "replace")
    answer = session.client.ask("GET", f"{CONFIGURATION}/raw", transaction)
    texts = lines_of(answer.body.decode("utf-8", "surrogateescape"), asked)
    if not texts:
        # The refusal of one that is not there.
        session.client.ask("GET", asked.path, asked.query | transaction)
        raise Failure(f"{asked} has no line of its own: {quoted(asked.parent or '') or asked.kind} has its section")
    return texts.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
