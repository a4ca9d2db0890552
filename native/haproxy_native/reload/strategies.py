"""Reload strategies: through the master's socket, or by a command of the operator's.

What a strategy says is a claim; the agent looks whether a new worker answers.
"""

import asyncio
import os
import shlex
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import IO, Protocol

from haproxy_native.child import Child
from haproxy_native.errors import BadRequest, RuntimeAbsent, RuntimeDenied, RuntimeFailure
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.master import POLL, Master

_KEPT_OUTPUT = 1 << 20
NOT_TAKEN = "failed to reload configuration"
# How long a master may be at work for others, and how long it may be away, or not hear, while it executes itself.
BUSY_SECONDS, EXECUTING_SECONDS = 60.0, 10.0
# They address our process: a child that speaks to them would speak for us.
_OURS = ("NOTIFY_SOCKET", "WATCHDOG_", "LISTEN_")


class Source(Enum):
    """The source of an outcome: HAProxy itself, a command, or none, if HAProxy could not be asked to reload."""

    HAPROXY = "haproxy"
    COMMAND = "command"
    NONE = "none"


@dataclass(frozen=True)
class Outcome:
    """`ok` is None where nothing was claimed. `response` is the output, `error` the short reason of a failure."""

    ok: bool | None
    response: str = ""
    error: str = ""
    source: Source = Source.COMMAND


class Strategy(Protocol):
    async def run(self) -> Outcome:
        """Never raises."""


class MasterSocket:
    """Asks again while the master is at work for others, since that reload may have read what the file held before.

    `serves`: whether a worker answers, so that a master which cannot be reached is executing itself.
    """

    def __init__(self, master: Master, serves: Callable[[], Awaitable[bool]] | None = None) -> None:
        self.master, self._serves = master, serves

    async def run(self) -> Outcome:
        clock = asyncio.get_running_loop().time
        began = clock()
        while True:
            outcome, patience = await self._ask()
            if clock() - began >= patience or (outcome.source is Source.NONE and not (self._serves and await self._serves())):
                return outcome
            await asyncio.sleep(POLL)

    async def _ask(self) -> tuple[Outcome, float]:
        """The outcome, and how long it is to be asked again; 0 where the master has taken the request."""
        try:
            answer = await self.master.reload()
        except RuntimeAbsent as error:
            return Outcome(False, error=f"cannot reload: {error.detail}", source=Source.NONE), 0.0 if error.sent else EXECUTING_SECONDS
        except RuntimeDenied as error:
            return Outcome(False, error=f"cannot reload: {error.detail}", source=Source.NONE), 0.0
        outcome = Outcome(answer.success, answer.log, NOT_TAKEN if answer.success is False else "", Source.HAPROXY)
        return outcome, BUSY_SECONDS if answer.is_busy else EXECUTING_SECONDS if answer.success is None else 0.0


class CustomCommand:
    """Runs a program with its words, without a shell; ended with its children when it takes too long."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str] | None = None, *, limit: float = 30.0) -> None:
        self.words, self.limit = list(words), limit
        self.environment = scrubbed(os.environ if environment is None else environment)

    async def run(self) -> Outcome:
        # Files, not pipes: a HAProxy that the command starts in the background keeps them open. In memory: no directory need be writable.
        with _memory_file("stdout") as out, _memory_file("stderr") as err:
            try:
                failure = await self._run(out, err)
            except OSError as error:
                return Outcome(False, error=self._failed(_cannot_start(self.words[0], error)))
            output, complained = _text(out), _text(err)
        return Outcome(False, complained, self._failed(failure)) if failure else Outcome(True, output)

    async def _run(self, out: IO[bytes], err: IO[bytes]) -> str | None:
        child = Child(self.words, self.environment, stdout=out, stderr=err)
        try:
            async with asyncio.timeout(self.limit):
                code = await child.wait()
        except TimeoutError:
            await child.kill()
            return f"no end within {self.limit:g} s"
        if code < 0:
            return f"signal: {signal.strsignal(-code)}".lower()
        return f"exit status {code}" if code else None

    def _failed(self, why: str) -> str:
        return f"executing {' '.join(self.words)} failed: {why}"


class Reloading:
    """Through the master's socket, where the `master_reloads` and answers, else by the operator's command.

    The new worker may listen elsewhere: `sockets` tells, once HAProxy was made to read the file, where it may be met.
    """

    def __init__(self, runtime: Runtime, command: Sequence[str], sockets: Callable[[], None], *, master_reloads: bool) -> None:
        self._runtime, self._sockets, self._master_reloads = runtime, sockets, master_reloads
        self._command = CustomCommand(command) if command else None

    async def run(self) -> Outcome:
        outcome = await self._run()
        self._sockets()
        return outcome

    async def _run(self) -> Outcome:
        if self._master_reloads and (master := self._runtime.configured_master):
            outcome = await MasterSocket(master, self._serves).run()
            if outcome.source is Source.HAPROXY or self._command is None:
                return outcome
        assert self._command is not None, "there is a command where the master does not reload"
        return await self._command.run()

    async def _serves(self) -> bool:
        try:
            await self._runtime.worker()
        except RuntimeFailure:
            return False
        return True


def split_command(text: str) -> list[str]:
    """The words of a command, with quotes as in a shell. Raises BadRequest for an open quote or nothing at all."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadRequest(f"cannot be split into words: {text!r}: {error}") from error
    if not words:
        raise BadRequest("a command without a word")
    return words


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """What a child may inherit of our environment."""
    return {name: value for name, value in environment.items() if not name.startswith(_OURS)}


def _cannot_start(program: str, error: OSError) -> str:
    missing = isinstance(error, FileNotFoundError) and "/" not in program
    return f'exec: "{program}": executable file not found in $PATH' if missing else f"{error.strerror}: {program}"


def _memory_file(name: str) -> IO[bytes]:
    return os.fdopen(os.memfd_create(f"reload-{name}", os.MFD_CLOEXEC), "w+b")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_KEPT_OUTPUT).decode("utf-8", "replace")
