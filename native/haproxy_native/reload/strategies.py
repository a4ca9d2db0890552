"""Reload HAProxy through the master's socket, or by a command that the operator has configured.

Each strategy returns a claim about the outcome. The agent then observes whether a new worker really answers.
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
NO_WAY = "cannot reload HAProxy: neither a master socket nor a reload command is set"
NOT_TAKEN = "failed to reload configuration"
# Seconds to retry while the master is busy with reloads of other clients, and while it does not answer because it re-executes itself.
BUSY_SECONDS, EXECUTING_SECONDS = 60.0, 10.0
# Variables of systemd for this process, which a child must not use.
_OURS = ("NOTIFY_SOCKET", "WATCHDOG_", "LISTEN_")


class OutcomeSource(Enum):
    """Who reports an outcome: HAProxy itself, a command, or nobody, because HAProxy could not be reached."""

    HAPROXY = "haproxy"
    COMMAND = "command"
    NONE = "none"


@dataclass(frozen=True)
class ReloadClaim:
    """The claim of a strategy about the outcome of a reload."""

    # None if it claims nothing.
    ok: bool | None
    # The output.
    response: str = ""
    # The short reason of a failure.
    error: str = ""
    source: OutcomeSource = OutcomeSource.COMMAND


class Strategy(Protocol):
    async def run(self) -> ReloadClaim:
        """Reload HAProxy and return the claim about the outcome. Raises nothing."""


class MasterSocket:
    """Reloads through the master's socket. Retries while the master is busy, because the reload in progress may have read the former file.

    `serves`: returns whether a worker answers. If a worker answers but the master does not, the master is re-executing itself, and the
    reload is retried as well.
    """

    def __init__(self, master: Master, serves: Callable[[], Awaitable[bool]] | None = None) -> None:
        self.master, self._serves = master, serves

    async def run(self) -> ReloadClaim:
        clock = asyncio.get_running_loop().time
        began = clock()
        while True:
            # For how many seconds to retry.
            patience = 0.0
            try:
                answer = await self.master.reload()
            except (RuntimeAbsent, RuntimeDenied) as error:
                claim = ReloadClaim(False, error=f"cannot reload: {error.detail}", source=OutcomeSource.NONE)
                if isinstance(error, RuntimeAbsent) and not error.sent:
                    patience = EXECUTING_SECONDS
            else:
                error_text = NOT_TAKEN if answer.success is False else ""
                claim = ReloadClaim(answer.success, answer.log, error_text, OutcomeSource.HAPROXY)
                if answer.is_busy:
                    patience = BUSY_SECONDS
                elif answer.success is None:
                    patience = EXECUTING_SECONDS
            if clock() - began >= patience or (claim.source is OutcomeSource.NONE and not (self._serves and await self._serves())):
                return claim
            await asyncio.sleep(POLL)


class CustomCommand:
    """Runs a program with its arguments, without a shell. Kills the program and its children after `limit` seconds."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str] | None = None, *, limit: float = 30.0) -> None:
        self.words, self.limit = list(words), limit
        self.environment = child_environment(os.environ if environment is None else environment)

    async def run(self) -> ReloadClaim:
        # Files instead of pipes, since a HAProxy that the command starts in the background keeps them open. In memory, so that no directory
        # has to be writable.
        with _memory_file("stdout") as out, _memory_file("stderr") as err:
            try:
                failure = await self._run(out, err)
            except OSError as error:
                program = self.words[0]
                why = f"{error.strerror}: {program}"
                if isinstance(error, FileNotFoundError) and "/" not in program:
                    why = f'exec: "{program}": executable file not found in $PATH'
                return ReloadClaim(False, error=self._failed(why))
            output, complained = _text(out), _text(err)
        return ReloadClaim(False, complained, self._failed(failure)) if failure else ReloadClaim(True, output)

    async def _run(self, out: IO[bytes], err: IO[bytes]) -> str | None:
        """Run the program. Return why it failed; None if it succeeded. Raises OSError if it cannot be started."""
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
    """Reloads through the master's socket if `master_reloads` is set and the master answers; otherwise by the operator's command.

    `sockets` is called after the reload to update the addresses of the client, because the new worker may listen on other sockets.
    """

    def __init__(self, runtime: Runtime, command: Sequence[str], sockets: Callable[[], None], *, master_reloads: bool) -> None:
        self._runtime, self._sockets, self._master_reloads = runtime, sockets, master_reloads
        self._command = CustomCommand(command) if command else None

    async def run(self) -> ReloadClaim:
        outcome = await self._run()
        self._sockets()
        return outcome

    async def _run(self) -> ReloadClaim:
        if self._master_reloads and (master := self._runtime.configured_master):
            outcome = await MasterSocket(master, self._serves).run()
            if outcome.source is OutcomeSource.HAPROXY or self._command is None:
                return outcome
        if self._command is None:
            return ReloadClaim(False, NO_WAY, NO_WAY)
        return await self._command.run()

    async def _serves(self) -> bool:
        try:
            await self._runtime.worker()
        except RuntimeFailure:
            return False
        return True


def split_command(text: str) -> list[str]:
    """Split a command into words, with quotes as in a shell. Raises BadRequest for an unclosed quote, or if there are no words."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadRequest(f"cannot be split into words: {text!r}: {error}") from error
    if not words:
        raise BadRequest("the command is empty")
    return words


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of this process that a child may inherit."""
    return {name: value for name, value in environment.items() if not name.startswith(_OURS)}


def _memory_file(name: str) -> IO[bytes]:
    return os.fdopen(os.memfd_create(f"reload-{name}", os.MFD_CLOEXEC), "w+b")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_KEPT_OUTPUT).decode("utf-8", "replace")
