"""The stream of events, read anew from where it broke off (server-sent events, HTML standard, section 9.2)."""

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

from dataplaneapi.ctl.client import Client
from dataplaneapi.ctl.failures import UNREACHABLE, Failure
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.terminal import Progress, is_terminal

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0


def events(client: Client, query: dict[str, Any], *, after: str = "", ends: bool = False) -> Iterator[dict[str, Any]]:
    """Yields each event once, from the one behind the id `after` on. Connects again when the stream breaks off, unless `ends` is set.

    Raises Failure if the server refuses the call, or if it does not answer the first one and there is no `after`.
    """
    last, pause = after, FIRST_PAUSE
    while True:
        headers = {"Last_Event_ID": last} if last else {}
        # What was asked for from the past comes once.
        asked = {name: value for name, value in query.items() if not last or name not in ("snapshot", "since")}
        try:
            for line in client.lines(f"{SIDECAR}/events", asked, **headers):
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
        if not is_terminal(sys.stderr):
            print(reason, file=sys.stderr)
        with Progress() as progress:
            progress.say(reason)
            time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
