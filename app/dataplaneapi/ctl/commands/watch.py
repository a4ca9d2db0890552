"""`ctl events` and `ctl top`: what happens, as it happens."""

import argparse
import json
import sys
from typing import Any

from dataplaneapi.ctl import tables, terminal
from dataplaneapi.ctl.failures import OK
from dataplaneapi.ctl.session import Session
from dataplaneapi.ctl.stream import events

# Back to the corner; what is below the new picture is removed at its end.
HOME, BELOW, LINE_END = "\x1b[H", "\x1b[J", "\x1b[K"
ANOTHER_SCREEN, SCREEN_BACK = "\x1b[?1049h", "\x1b[?1049l"
TOP = ("object", "state", "sessions", "max", "rate", "requests", "in", "out", "errors", "ms")
_NUMBERS = {"sessions": "scur", "max": "smax", "rate": "rate", "requests": "req_tot", "in": "bin", "out": "bout"}
ERRORS = ("econ", "eresp", "hrsp_5xx")


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


def run(session: Session) -> int:
    return _top(session) if session.given.command == "top" else _events(session)


def _events(session: Session) -> int:
    given = session.given
    query = {name: getattr(given, name) for name in ("types", "object", "since", "snapshot", "end_after")}
    for event in events(session.client, query, ends=bool(given.end_after)):
        if session.format in ("json", "yaml"):
            session.write(json.dumps(event, ensure_ascii=False) + "\n")
        else:
            session.write(described(event, colours=session.colours))
        sys.stdout.flush()
    return OK


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
