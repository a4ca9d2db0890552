"""`ctl drain`, `split`, `rename`, `revert` and `confirm`: operations on servers, traffic, names and earlier changes."""

import argparse
from typing import Any

from dataplaneapi.ctl import output
from dataplaneapi.ctl.client import quote_name
from dataplaneapi.ctl.commands.apply import test_lines
from dataplaneapi.ctl.commands.show import reference_lines
from dataplaneapi.ctl.failures import OK, Failure
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.session import Session, add_message_argument, add_write_arguments, duration


def drain_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", nargs="+", help="as in shop/web1, backend/shop/server/web*, *@10.0.0.7")
    parser.add_argument("--sessions", type=int, metavar="N", help="wait until each server has at most this many sessions (default 0)")
    parser.add_argument("--timeout", metavar="TIME", help="how long to wait for that (default 5m)")
    parser.add_argument("--then", choices=("nothing", "maint", "delete", "cut"), help="what to do when the servers are idle")
    parser.add_argument("--at-timeout", choices=("stay", "restore", "cut"), help="what to do at the timeout")
    parser.add_argument("--keep-ready", type=int, metavar="N", help="minimum number of servers of each backend that must stay ready")
    text = "wait for its end, at most this long (default without a limit)"
    parser.add_argument("--wait", nargs="?", const=float("inf"), type=duration, metavar="TIME", help=text)
    add_message_argument(parser)


def run_drain(session: Session) -> int:
    given = session.given
    body = {name: getattr(given, name) for name in ("timeout", "then", "at_timeout", "keep_ready") if getattr(given, name) is not None}
    until = {} if given.sessions is None else {"until": {"sessions": given.sessions}}
    body = {"targets": given.target, **until, **body}
    drain = session.client.request("POST", f"{SIDECAR}/drains", None, body, **session.message_header()).json()
    session.show_one(drain if given.wait is None else session.await_operation(drain["id"], given.wait))
    return OK


def split_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="name of a split; without it, list all splits")
    parser.add_argument("weight", nargs="*", metavar="BACKEND=WEIGHT", help="new shares; without them, show the split")
    parser.add_argument("--by", help="random, source, cookie:NAME or header:NAME (default unchanged, or random)")
    parser.add_argument("--frontend", help="frontend that gets the lines of a new split")
    parser.add_argument("--delete", action="store_true", help="remove the split and its lines")
    add_write_arguments(parser)


def run_split(session: Session) -> int:
    given = session.given
    if not given.name:
        session.show_list("split", session.client.get(f"{SIDECAR}/splits"))
        return OK
    path, (query, headers) = f"{SIDECAR}/splits/{quote_name(given.name)}", session.write_options()
    if given.delete:
        return session.report_write(session.client.request("DELETE", path, query, **headers))
    if not given.weight:
        session.show_one(session.client.get(path))
        return OK
    by = given.by
    if not by:
        current = session.client.send("GET", path)
        by = current.json()["by"] if current.status == 200 else "random"
    weights: dict[str, float] = {}
    for text in given.weight:
        name, _, weight = text.rpartition("=")
        try:
            weights[name] = int(weight) if weight.isdigit() else float(weight)
        except ValueError:
            raise Failure(f"{text!r} is not BACKEND=WEIGHT, as in v1=95") from None
    answer = session.client.request("PUT", path, query | {"frontend": given.frontend}, {"by": by, "weights": weights}, **headers)
    return session.report_write(answer, session.object_text)


def rename_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("object", help="as in backend/shop, frontend/site/acl/api, map/hosts.map")
    parser.add_argument("to", help="the new name")
    add_write_arguments(parser, dry_run=True)


def run_rename(session: Session) -> int:
    given = session.given
    query, headers = session.write_options()
    query |= {"dry_run": True} if given.dry_run else {}
    answer = session.client.request("POST", f"{SIDECAR}/rename", query, {"object": given.object, "to": given.to}, **headers)
    session.show(answer.json(), renaming_text)
    return OK if given.dry_run else session.report_write(answer)


def renaming_text(found: dict[str, Any]) -> str:
    """Return a line for each renamed reference, for each other object that the renaming renames, and for each routing test that fails."""
    lines = [
        *reference_lines(found),
        *(f"renamed with it: {line}" for line in found.get("carried", ())),
        *test_lines(found.get("tests", {})),
    ]
    return "".join(f"{line}\n" for line in lines)


def revert_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="id of the history entry")
    parser.add_argument("--all-since", action="store_true", help="restore everything to the state after this entry")
    add_write_arguments(parser)


def run_revert(session: Session) -> int:
    given = session.given
    query, headers = session.write_options()
    action = "restore" if given.all_since else "revert"
    answer = session.client.request("POST", f"{SIDECAR}/history/{quote_name(given.id)}/{action}", query, **headers)
    return session.report_write(answer, lambda found: f"changes reverted: {found['changes']}\n")


def confirm_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="id of the confirmation (default: the pending one)")
    parser.add_argument("--reject", action="store_true", help="roll the change back at once")
    parser.add_argument("--extend", metavar="TIME", help="set the deadline to this time from now")
    add_message_argument(parser)


def run_confirm(session: Session) -> int:
    given = session.given
    number = given.id
    if not number:
        pending = [row["id"] for row in session.client.get(f"{SIDECAR}/confirmations") if row["status"] == "pending"]
        if not pending:
            raise Failure("no change is waiting for confirmation")
        number = str(pending[0])
    path, headers = f"{SIDECAR}/confirmations/{quote_name(number)}", session.message_header()
    if given.extend:
        answer = session.client.request("PATCH", path, None, {"timeout": given.extend}, **headers)
    elif given.reject:
        answer = session.client.request("DELETE", path, None, **headers)
    else:
        answer = session.client.request("POST", f"{path}/confirm", None, **headers)
    session.show(answer.json(), lambda confirmation: f"confirmation {confirmation['id']} is {output.word(confirmation['status'])}\n")
    return OK
