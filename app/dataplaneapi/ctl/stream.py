"""The stream of events, read anew from where it broke off (server-sent events, HTML standard, section 9.2)."""

import json
import time
from collections.abc import Iterator
from typing import Any

from dataplaneapi.ctl.client import Client
from dataplaneapi.ctl.failures import UNREACHABLE, Failure
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.terminal import Progress

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0


def events(client: Client, query: dict[str, Any], *, ends: bool = False) -> Iterator[dict[str, Any]]:
    """Each event once. A server that is away is asked again, once it has answered; `ends`: the stream has an end of its own."""
    last, pause = "", FIRST_PAUSE
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
        with Progress() as progress:
            progress.say(f"the stream broke off; asking again in {pause:g} s")
            time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
