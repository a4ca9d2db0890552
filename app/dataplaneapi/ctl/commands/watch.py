"""`ctl events` and `ctl top`: what happens, as it happens.

`ctl events --post URL --cursor FILE` sends each event to another program, at least once. The cursor file holds the id of the last event
that the receiver has accepted. It is replaced after the receiver's 2xx answer, so that a kill in between sends the event again, and a start
continues behind that id. If the server no longer keeps every event behind it, a record of the type `gap` is sent in place of the lost ones.
"""

import argparse
import json
import sys
import time
from typing import Any

from dataplaneapi.ctl import files, tables, terminal
from dataplaneapi.ctl.client import Client
from dataplaneapi.ctl.contexts import Context, parsed_url
from dataplaneapi.ctl.failures import OK, UNREACHABLE, Failure
from dataplaneapi.ctl.session import Session
from dataplaneapi.ctl.stream import events

# Back to the corner; what is below the new picture is removed at its end.
HOME, BELOW, LINE_END = (f"{terminal.ESCAPE}[{code}" for code in ("H", "J", "K"))
ANOTHER_SCREEN, SCREEN_BACK = (f"{terminal.ESCAPE}[?1049{code}" for code in ("h", "l"))
TOP = ("object", "state", "sessions", "max", "rate", "requests", "in", "out", "errors", "ms")
_NUMBERS = {"sessions": "scur", "max": "smax", "rate": "rate", "requests": "req_tot", "in": "bin", "out": "bout"}
ERRORS = ("econ", "eresp", "hrsp_5xx")
# How long a receiver may take to answer, and the pauses between attempts, in seconds.
POST_SECONDS, FIRST_PAUSE, LONGEST_PAUSE = 15.0, 0.5, 60.0


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--object", help="of this object and of what stands in it, as in backend/shop or backend/*/server/web1")
    if parser.prog.endswith(" top"):
        parser.add_argument("-n", "--count", type=int, metavar="N", help="so many pictures (default until Ctrl-C, or 1)")
        parser.add_argument("--sort", choices=TOP, default="object", help="by which column (default object)")
        return
    parser.add_argument("--types", help="as in server,config,reload (default all but stats)")
    parser.add_argument("--since", metavar="TIME", help="also those that are kept of this time, as in 10m")
    parser.add_argument("--snapshot", action="store_true", default=None, help="the present state first")
    parser.add_argument("--end-after", metavar="TIME", help="end after this time, as in 30s")
    parser.add_argument("--post", metavar="URL", help="send each event to this address instead of printing it, at least once")
    parser.add_argument("--post-token-file", metavar="FILE", help="file whose first line is the bearer token for that address")
    parser.add_argument("--cursor", metavar="FILE", help="file for the id of the last event that was sent; required with --post")


def run(session: Session) -> int:
    return _top(session) if session.given.command == "top" else _events(session)


def _events(session: Session) -> int:
    given = session.given
    query = {name: getattr(given, name) for name in ("types", "object", "since", "snapshot", "end_after")}
    if given.post or given.cursor or given.post_token_file:
        return _post(session, query)
    for event in events(session.client, query, ends=bool(given.end_after)):
        if session.format in ("json", "yaml"):
            session.write(json.dumps(event, ensure_ascii=False) + "\n")
        else:
            session.write(described(event, colours=session.colours))
        sys.stdout.flush()
    return OK


def _post(session: Session, query: dict[str, Any]) -> int:
    given = session.given
    if not given.post or not given.cursor or given.snapshot:
        raise Failure("--post URL and --cursor FILE are required together, and exclude --snapshot")
    address = parsed_url(given.post, "--post")
    members = {"url": f"{address.scheme}://{address.netloc}"} | ({"token_file": given.post_token_file} if given.post_token_file else {})
    target = (address.path or "/") + (f"?{address.query}" if address.query else "")
    cursor = _cursor(given.cursor)
    # The snapshot has the id to begin with.
    for event in events(session.client, query | {"snapshot": None if cursor else True}, after=cursor, ends=bool(given.end_after)):
        # The last event of a reader that was too slow has no id. The next connection reports what is lost.
        if not (id_ := event.get("id")):
            continue
        if event["type"] == "snapshot" and event["data"]["lost"]:
            session.note(f"gap: events after {cursor} and up to {id_} are lost")
            event = {name: event[name] for name in ("id", "time")} | {"type": "gap", "object": "", "data": {"after": cursor}}
        if event["type"] != "snapshot":
            _deliver(session, Context("", members), target, event)
        cursor = id_
        files.replace(given.cursor, f"{cursor}\n")
    return OK


def _cursor(path: str) -> str:
    """Returns the id in a cursor file; an empty text if there is no file. Raises Failure for a file that holds something else."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(100).strip()
    except FileNotFoundError:
        return ""
    if not (text.isascii() and text.isdecimal()):
        raise Failure(f"{path} does not hold the id of an event; remove it to begin with the events from now on")
    return text


def _deliver(session: Session, receiver: Context, target: str, event: dict[str, Any]) -> None:
    """Sends the event until the receiver answers 2xx. Raises Failure if the token cannot be read."""
    pause, body = FIRST_PAUSE, json.dumps(event)
    while True:
        client = Client(receiver, timeout=POST_SECONDS)
        try:
            answer = client.answer("POST", target, None, body)
            if 200 <= answer.status < 300:
                return
            reason = f"the receiver answered {answer.status}"
        except Failure as failure:
            if failure.status != UNREACHABLE:
                raise
            reason = str(failure)
        finally:
            client.close()
        session.note(f"posting event {event['id']} failed: {reason}; trying again in {pause:g} s")
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)


def described(event: dict[str, Any], *, colours: bool = False) -> str:
    """One line."""
    data = {name: value for name, value in event.get("data", {}).items() if name not in ("type", "object") and value not in (None, [], {})}
    text = " ".join(f"{name}={tables.cell(value)}" for name, value in data.items())
    kind = tables.coloured(f"{event['type']:<12}", tables.BOLD, colours=colours)
    return f"{event.get('time', '-')}  {kind}  {event.get('object') or '-'}  {text}\n"


def _top(session: Session) -> int:
    given = session.given
    is_screen = terminal.is_terminal(sys.stdout) and session.format == "table"
    left = given.count or (0 if is_screen else 1)
    counters: dict[str, dict[str, Any]] = {}
    seen = ""
    try:
        sys.stdout.write(ANOTHER_SCREEN if is_screen else "")
        for event in events(session.client, {"types": "stats", "object": given.object, "snapshot": True}):
            rows = event["data"]["stats"] if event["type"] == "snapshot" else [{"object": event["object"], **event["data"]}]
            for row in rows:
                counters.setdefault(row["object"], {}).update(row["counters"])
            # The events of one look have one time.
            if event["time"] != seen:
                seen = event["time"]
                _picture(session, counters, is_screen=is_screen)
                left -= 1
                if left == 0:
                    return OK
    finally:
        sys.stdout.write(SCREEN_BACK if is_screen else "")
        sys.stdout.flush()
    return OK


def _picture(session: Session, counters: dict[str, dict[str, Any]], *, is_screen: bool) -> None:
    rows = sorted((row(name, counter) for name, counter in counters.items()), key=lambda row: _order(row[session.given.sort]))
    if session.format in ("json", "yaml"):
        session.show(rows, str)
        return
    text = tables.table(TOP, [[row[column] for column in TOP] for row in rows], colours=session.colours)
    if is_screen:
        lines = text.splitlines()[: terminal.height(sys.stdout) - 1]
        text = HOME + "".join(f"{line}{LINE_END}\n" for line in lines) + BELOW
    session.write(text)
    sys.stdout.flush()


def row(name: str, counters: dict[str, Any]) -> dict[str, Any]:
    """What a line shows of the counters of an object."""
    numbers = {column: counters.get(counter, 0) for column, counter in _NUMBERS.items()}
    errors = sum(int(counters.get(counter) or 0) for counter in ERRORS)
    requests = {} if "req_tot" in counters else {"requests": counters.get("stot", 0)}
    state = str(counters.get("status", "")).lower()
    return {"object": name, "state": state, **numbers, **requests, "errors": errors, "ms": counters.get("ttime", 0)}


def _order(value: Any) -> tuple[float, str]:
    """Names by the alphabet, numbers from the greatest on."""
    return (-float(value), "") if isinstance(value, int | float) else (0.0, str(value))
