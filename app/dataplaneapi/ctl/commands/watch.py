"""`ctl events` shows or forwards events as they happen. `ctl stats` and `ctl top` show counters.

`ctl events --exec COMMAND` runs a shell command for each event, one after the other, with the event on the command's standard input.

`ctl events --post URL --cursor FILE` sends each event to another program, at least once. The cursor file contains the id of the last event
that the receiver has accepted. A restart continues after this id. The file is replaced after the receiver's 2xx answer, so an event is sent
again if the command is killed between the answer and the replacement. If the server no longer has all events after the id, the command
sends a record of the type `gap` instead of the lost events.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from dataplaneapi.ctl import files, output
from dataplaneapi.ctl.client import Client, quote_name
from dataplaneapi.ctl.contexts import Context, parse_url
from dataplaneapi.ctl.failures import OK, REFUSED, UNREACHABLE, Failure
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.output import Progress
from dataplaneapi.ctl.session import Session

# Moves the cursor to the first line; erases everything below; erases the rest of the line.
HOME, BELOW, LINE_END = (f"{output.ESCAPE}[{code}" for code in ("H", "J", "K"))
ALTERNATE_SCREEN, MAIN_SCREEN = (f"{output.ESCAPE}[?1049{code}" for code in ("h", "l"))
TOP = ("object", "state", "sessions", "max", "rate", "requests", "in", "out", "denied", "errors", "5xx", "ms")
_NUMBERS = {"sessions": "scur", "max": "smax", "rate": "rate", "requests": "req_tot", "in": "bin", "out": "bout", "5xx": "hrsp_5xx"}
STATS = "/v3/services/haproxy/stats/native"
# The columns that are sums, as on HAProxy's statistics page: requests and responses that a rule denied; faulty requests and responses, and
# connections to servers that failed.
_SUMS = {"denied": ("dreq", "dresp"), "errors": ("ereq", "econ", "eresp")}
MEANING = """\
columns:
  sessions, max   open sessions, and the most that were open at once
  rate            new sessions in the last second
  in, out         bytes from clients and to clients
  denied          requests and responses that a rule has denied
  errors          faulty requests and responses, and failed connections to servers
  5xx             responses with such a status; a failed connection usually counts as an error and as 5xx
  ms              average response time of the last 1024 requests, in milliseconds
A reload starts a new process, whose counters begin at zero."""
# How long a receiver may take to answer, in seconds.
POST_SECONDS = 15.0
# The pause before a retry, doubled each time, in seconds.
FIRST_PAUSE, LONGEST_STREAM_PAUSE, LONGEST_POST_PAUSE = 0.5, 15.0, 60.0


def top_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = f"{MEANING}\n\n{parser.epilog}"
    _object_argument(parser)
    parser.add_argument("-n", "--count", type=int, metavar="N", help="number of updates (default until Ctrl-C, or 1)")
    parser.add_argument("--sort", choices=TOP, metavar="COLUMN", default="object", help="sort by this column (default object)")


def stats_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = f"{MEANING}\n\n{parser.epilog}"
    parser.add_argument("proxy", nargs="?", help="name of a frontend or backend (default all)")
    parser.add_argument("--sort", choices=TOP, metavar="COLUMN", default="object", help="sort by this column (default object)")


def events_arguments(parser: argparse.ArgumentParser) -> None:
    _object_argument(parser)
    parser.add_argument("--types", metavar="TYPES", help="as in server,config,reload (default all but stats)")
    parser.add_argument("--since", metavar="TIME", help="start with the stored events of this time, as in 10m")
    parser.add_argument("--snapshot", action="store_true", default=None, help="print the present state first")
    parser.add_argument("--end-after", metavar="TIME", help="end after this time, as in 30s")
    text = "run this shell command for each event, which it gets as JSON on its standard input; EVENT_ID, _TYPE, _OBJECT and _TIME are set"
    parser.add_argument("--exec", dest="command_line", metavar="COMMAND", help=text)
    parser.add_argument("--post", metavar="URL", help="send each event to this address instead of printing it, at least once")
    parser.add_argument("--post-token-file", metavar="FILE", help="file whose first line is the bearer token for that address")
    parser.add_argument("--cursor", metavar="FILE", help="file for the id of the last event that was sent; required with --post")


def _object_argument(parser: argparse.ArgumentParser) -> None:
    text = "only this object and the objects in it, as in backend/shop or backend/*/server/web1"
    parser.add_argument("--object", metavar="OBJECT", help=text)


def run_events(session: Session) -> int:
    given = session.given
    query = {name: getattr(given, name) for name in ("types", "object", "since", "snapshot", "end_after")}
    if given.post or given.cursor or given.post_token_file:
        if given.command_line:
            raise Failure("--exec excludes --post and --cursor")
        return _post_events(session, query)
    for event in event_stream(session.client, query, ends=bool(given.end_after)):
        if given.command_line:
            named = {f"EVENT_{name.upper()}": str(event.get(name) or "") for name in ("id", "type", "object", "time")}
            words, sent = ["/bin/sh", "-c", given.command_line], f"{json.dumps(event)}\n".encode()
            try:
                status = subprocess.run(words, input=sent, env={**os.environ, **named}, check=False).returncode
                reason = f"the command ended with {f'signal {-status}' if status < 0 else f'status {status}'}" if status else ""
            except (OSError, ValueError) as error:
                reason = str(error)
            if reason:
                session.note(f"event {event.get('id', '-')} ({event['type']}): {reason}")
        elif session.format in ("json", "yaml"):
            session.write(json.dumps(event, ensure_ascii=False) + "\n")
        else:
            session.write(event_line(event, colours=session.colours))
        sys.stdout.flush()
    return OK


def event_stream(client: Client, query: dict[str, Any], *, after: str = "", ends: bool = False) -> Iterator[dict[str, Any]]:
    """Yield each event once, beginning after the id `after`. If the stream breaks off, reconnect, or end if `ends` is set.

    The stream consists of server-sent events (HTML standard, section 9.2). Raises Failure if the server refuses the call. If no event has
    arrived and `after` is empty, also raises Failure if the server does not answer.
    """
    last, pause = after, FIRST_PAUSE
    while True:
        headers = {"Last_Event_ID": last} if last else {}
        # A reconnection asks for neither past events nor the snapshot again.
        current_query = {name: value for name, value in query.items() if not last or name not in ("snapshot", "since")}
        try:
            for line in client.lines(f"{SIDECAR}/events", current_query, **headers):
                if line.startswith("data:"):
                    event = json.loads(line[5:])
                    last, pause = event.get("id", last), FIRST_PAUSE
                    yield event
        except Failure as failure:
            if failure.status != UNREACHABLE or not last:
                raise
        if ends:
            return
        reason = f"the event stream broke off; connecting again in {pause:g} s"
        if not output.is_terminal(sys.stderr):
            print(reason, file=sys.stderr)
        with Progress() as progress:
            progress.show(reason)
            time.sleep(pause)
        pause = min(pause * 2, LONGEST_STREAM_PAUSE)


def _post_events(session: Session, query: dict[str, Any]) -> int:
    """Send events to the receiver, beginning after the id in the cursor file. Raises Failure."""
    given = session.given
    if not given.post or not given.cursor or given.snapshot:
        raise Failure("--post URL and --cursor FILE are required together, and exclude --snapshot")
    address = parse_url(given.post, "--post")
    members = {"url": f"{address.scheme}://{address.netloc}"} | ({"token_file": given.post_token_file} if given.post_token_file else {})
    target = (address.path or "/") + (f"?{address.query}" if address.query else "")
    cursor = ""
    with suppress(FileNotFoundError), open(given.cursor, encoding="utf-8", errors="replace") as file:
        cursor = file.read(100).strip()
        if not (cursor.isascii() and cursor.isdecimal()):
            raise Failure(f"{given.cursor} does not contain the id of an event; remove it to begin with new events")
    # Without a cursor, the events begin after the id of a snapshot.
    for event in event_stream(session.client, query | {"snapshot": None if cursor else True}, after=cursor, ends=bool(given.end_after)):
        # The event that tells a slow reader of its disconnection has no id. The next connection reports the lost events.
        if not (id_ := event.get("id")):
            continue
        if event["type"] == "snapshot" and event["data"]["lost"]:
            session.note(f"gap: events after {cursor} and up to {id_} are lost")
            event = {name: event[name] for name in ("id", "time")} | {"type": "gap", "object": "", "data": {"after": cursor}}
        if event["type"] != "snapshot":
            _post_event(session, Context("", members), target, event)
        cursor = id_
        files.replace(given.cursor, f"{cursor}\n")
    return OK


def _post_event(session: Session, receiver: Context, target: str, event: dict[str, Any]) -> None:
    """Send an event to the receiver. Block and retry until the receiver answers 2xx. Raises Failure if the token cannot be read."""
    pause, body = FIRST_PAUSE, json.dumps(event)
    while True:
        client = Client(receiver, timeout=POST_SECONDS)
        try:
            answer = client.send("POST", target, None, body)
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
        pause = min(pause * 2, LONGEST_POST_PAUSE)


def event_line(event: dict[str, Any], *, colours: bool = False) -> str:
    """Return an event as a line of text."""
    data = {name: value for name, value in event.get("data", {}).items() if name not in ("type", "object") and value not in (None, [], {})}
    text = " ".join(f"{name}={output.cell(value)}" for name, value in data.items())
    kind = output.coloured(f"{event['type']:<12}", output.BOLD, colours=colours)
    return f"{event.get('time', '-')}  {kind}  {event.get('object') or '-'}  {text}\n"


def run_stats(session: Session) -> int:
    proxy = session.given.proxy
    counters = {}
    for row in session.client.get(STATS).get("stats", ()):
        name, kind, backend = (row.get(each, "-") for each in ("name", "type", "backend_name"))
        above = f"backend/{quote_name(backend)}/" if kind == "server" else ""
        if proxy in (None, backend if "backend_name" in row else name):
            counters[f"{above}{kind}/{quote_name(name)}"] = row.get("stats", {})
    if not counters and proxy:
        raise Failure(f"no frontend or backend {proxy!r} in the process; dataplaneapi ctl stats lists them", REFUSED)
    _show_counters(session, counters, is_screen=False)
    return OK


def run_top(session: Session) -> int:
    given = session.given
    is_screen = output.is_terminal(sys.stdout) and session.format == "table"
    left = given.count or (0 if is_screen else 1)
    counters: dict[str, dict[str, Any]] = {}
    seen = ""
    with screen() if is_screen else nullcontext():
        for event in event_stream(session.client, {"types": "stats", "object": given.object, "snapshot": True}):
            rows = event["data"]["stats"] if event["type"] == "snapshot" else [{"object": event["object"], **event["data"]}]
            for row in rows:
                counters.setdefault(row["object"], {}).update(row["counters"])
            # Events with the same time come from one poll of the counters by the server.
            if event["time"] != seen:
                seen = event["time"]
                _show_counters(session, counters, is_screen=is_screen)
                left -= 1
                if left == 0:
                    return OK
    return OK


@contextmanager
def screen() -> Iterator[None]:
    """Show the alternate screen of the terminal while the body runs. `draw` replaces its contents."""
    try:
        sys.stdout.write(ALTERNATE_SCREEN)
        yield
    finally:
        sys.stdout.write(MAIN_SCREEN)
        sys.stdout.flush()


def draw(text: str) -> None:
    """Show a text on the alternate screen, instead of its former contents. Lines that do not fit are omitted."""
    lines = text.splitlines()[: output.height(sys.stdout) - 1]
    sys.stdout.write(HOME + "".join(f"{line}{LINE_END}\n" for line in lines) + BELOW)
    sys.stdout.flush()


def _show_counters(session: Session, counters: dict[str, dict[str, Any]], *, is_screen: bool) -> None:
    rows = sorted((counters_row(name, counter) for name, counter in counters.items()), key=lambda row: sort_key(row[session.given.sort]))
    if session.format in ("json", "yaml"):
        session.show(rows, str)
        return
    text = output.table_of_members(TOP, rows, colours=session.colours)
    if is_screen:
        draw(text)
    else:
        session.write(text)
        sys.stdout.flush()


def counters_row(name: str, counters: dict[str, Any]) -> dict[str, Any]:
    """Return the row of `ctl top` for the object `name`, computed from its counters."""
    numbers = {column: counters.get(counter, 0) for column, counter in _NUMBERS.items()}
    sums = {column: sum(int(counters.get(counter) or 0) for counter in added) for column, added in _SUMS.items()}
    requests = {} if "req_tot" in counters else {"requests": counters.get("stot", 0)}
    state = str(counters.get("status", "")).lower()
    return {"object": name, "state": state, **numbers, **requests, **sums, "ms": counters.get("ttime", 0)}


def sort_key(value: Any) -> tuple[float, str]:
    """Return a key by which numbers are sorted in descending order, and names in alphabetical order."""
    return (-float(value), "") if isinstance(value, int | float) else (0.0, str(value))
