"""`ctl drain`, `split`, `revert` and `confirm`: what operators do with a running HAProxy."""

import argparse

from dataplaneapi.ctl import durations, tables, waiting
from dataplaneapi.ctl.client import name as quoted
from dataplaneapi.ctl.commands.apply import add_waiting, writing
from dataplaneapi.ctl.failures import OK, Failure
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.session import Session


def arguments(parser: argparse.ArgumentParser) -> None:
    {"drain": _drain_arguments, "split": _split_arguments, "revert": _revert_arguments, "confirm": _confirm_arguments}[
        parser.prog.rpartition(" ")[2]
    ](parser)


def run(session: Session) -> int:
    return {"drain": _drain, "split": _split, "revert": _revert, "confirm": _confirm}[session.given.command](session)


def _drain_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", nargs="+", help="as in shop/web1, backend/shop/server/web*, *@10.0.0.7")
    parser.add_argument("--sessions", type=int, metavar="N", help="wait until each has as many sessions at most (default 0)")
    parser.add_argument("--timeout", metavar="TIME", help="how long to wait for that (default 5m)")
    parser.add_argument("--then", choices=("nothing", "maint", "delete", "cut"), help="what is done when they are idle")
    parser.add_argument("--at-timeout", choices=("stay", "restore", "cut"), help="what is done when the time is over")
    parser.add_argument("--keep-ready", type=int, metavar="N", help="servers of each backend that stay ready at least")
    text = "wait for its end, so long at most (default as long as it takes)"
    parser.add_argument("--wait", nargs="?", const=float("inf"), type=durations.seconds, metavar="TIME", help=text)
    parser.add_argument("-m", "--message", metavar="TEXT", help="why, for the history")


def _drain(session: Session) -> int:
    given = session.given
    body = {name: getattr(given, name) for name in ("timeout", "then", "at_timeout", "keep_ready") if getattr(given, name) is not None}
    until = {} if given.sessions is None else {"until": {"sessions": given.sessions}}
    headers = {"X_Change_Message": given.message} if given.message else {}
    begun = session.client.ask("POST", f"{SIDECAR}/drains", body={"targets": given.target, **until, **body}, **headers).json()
    if given.wait is None:
        session.show_one(begun)
    else:
        session.show_one(waiting.operation_ended(session, begun["id"], given.wait))
    return OK


def _split_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="of one split; without it all are listed")
    parser.add_argument("weight", nargs="*", metavar="BACKEND=WEIGHT", help="new shares; without them the split is shown")
    parser.add_argument("--by", help="random, source, cookie:NAME or header:NAME (default as it is, or random)")
    parser.add_argument("--frontend", help="frontend that gets the lines which ask a new split")
    parser.add_argument("--delete", action="store_true", help="remove the split and its lines")
    add_waiting(parser)


def _split(session: Session) -> int:
    given = session.given
    if not given.name:
        session.show_list("split", session.client.get(f"{SIDECAR}/splits"))
        return OK
    path, (query, headers) = f"{SIDECAR}/splits/{quoted(given.name)}", writing(session)
    if given.delete:
        return waiting.written(session, session.client.ask("DELETE", path, query, **headers), given.wait)
    if not given.weight:
        session.show_one(session.client.get(path))
        return OK
    body = {"by": given.by or _present_key(session, path), "weights": dict(map(_weight, given.weight))}
    answer = session.client.ask("PUT", path, query | {"frontend": given.frontend}, body, **headers)
    session.show_one(answer.json())
    return waiting.written(session, answer, given.wait)


def _present_key(session: Session, path: str) -> str:
    answer = session.client.answer("GET", path)
    return str(answer.json()["by"]) if answer.status == 200 else "random"


def _weight(text: str) -> tuple[str, float]:
    name, _, weight = text.rpartition("=")
    try:
        return name, int(weight) if weight.isdigit() else float(weight)
    except ValueError:
        raise Failure(f"{text!r} is no BACKEND=WEIGHT, as in v1=95") from None


def _revert_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="of the entry in the history")
    parser.add_argument("--all-since", action="store_true", help="bring everything back to the moment after this entry")
    add_waiting(parser)


def _revert(session: Session) -> int:
    given = session.given
    query, headers = writing(session)
    action = "restore" if given.all_since else "revert"
    answer = session.client.ask("POST", f"{SIDECAR}/history/{quoted(given.id)}/{action}", query, **headers)
    session.show_one(answer.json())
    return waiting.written(session, answer, given.wait)


def _confirm_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="of the confirmation (default the one that waits)")
    parser.add_argument("--reject", action="store_true", help="take the change back at once")
    parser.add_argument("--extend", metavar="TIME", help="wait so long from now on")


def _confirm(session: Session) -> int:
    given = session.given
    path = f"{SIDECAR}/confirmations/{quoted(given.id or _pending(session))}"
    if given.extend:
        answer = session.client.ask("PATCH", path, body={"timeout": given.extend})
    elif given.reject:
        answer = session.client.ask("DELETE", path)
    else:
        answer = session.client.ask("POST", f"{path}/confirm")
    session.show(answer.json(), lambda confirmation: f"confirmation {confirmation['id']} is {tables.cell(confirmation['status'])}\n")
    return OK


def _pending(session: Session) -> str:
    for confirmation in session.client.get(f"{SIDECAR}/confirmations"):
        if confirmation["status"] == "pending":
            return str(confirmation["id"])
    raise Failure("no change waits for its confirmation")
