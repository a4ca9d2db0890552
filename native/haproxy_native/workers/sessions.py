"""Sessions of a process: listed, and ended one by one (HAProxy Management Guide, section 9.3, `show sess`, `shutdown session`)."""

import re
from collections.abc import Callable
from typing import NamedTuple, Protocol

_ROW = re.compile(r"(0x[0-9a-f]+): .*?\bfe=(\S+) be=(\S+) srv=(\S+)", re.MULTILINE)
# Those who ask, the sidecar among them.
_CLI = "GLOBAL"


class Session(NamedTuple):
    """`backend` and `server` are `<NONE>` and `<none>` where it has none yet."""

    id: str
    frontend: str
    backend: str
    server: str


class Process(Protocol):
    """What takes commands for one worker."""

    async def send(self, command: str) -> str: ...


def sessions(text: str) -> list[Session]:
    """Parses the sessions of clients in an answer to `show sess`."""
    return [session for row in _ROW.finditer(text) if (session := Session(*row.groups())).frontend != _CLI]


async def end_sessions(process: Process, which: Callable[[Session], bool] = lambda _: True) -> int:
    """Ends them and returns how many; one that has ended by itself meanwhile is counted, too. Raises RuntimeFailure."""
    matching = [session for session in sessions(await process.send("show sess")) if which(session)]
    for session in matching:
        await process.send(f"shutdown session {session.id}")
    return len(matching)
