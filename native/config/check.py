"""Asks HAProxy, or a command of the operator's, whether a configuration is right; asynchronous and time-boxed.

Two kinds of no: `Refused` means these bytes will always fail, `CheckImpossible` that nobody could say.
(HAProxy Management Guide, section 3, option -c)
"""

import asyncio
import os
import shlex
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from native.child import PIPE, Child, read
from native.config import refusal
from native.config.messages import Message, Origin, as_sent, explained, messages, recorded
from native.errors import BadRequest, CheckImpossible, Refused
from native.text.document import Document

FILE_VARIABLE = "DATAPLANEAPI_TRANSACTION_FILE"
# All files in their order, parted by `;` as in HAProxy's own HAPROXY_CFGFILES.
FILES_VARIABLE = "DATAPLANEAPI_TRANSACTION_FILES"
# They would make a child HAProxy believe that it is a worker of the master that started us.
_SCRUBBED = ("HAPROXY_STARTUPLOGS_FD", "HAPROXY_MWORKER_WAIT_ONLY", "HAPROXY_PROCESSES")
_KEPT_OUTPUT = 1 << 20
# What a shell answers when it could not run a command, and when a signal ended it.
_NOT_RUN = {126: "not-executable", 127: "missing"}
_KILLED = {128 + number for number in (signal.SIGABRT, signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGBUS)}


@dataclass(frozen=True)
class CheckSettings:
    """`command` (validate_cmd) replaces the call of `binary`; `before` and `after` are further files."""

    binary: str = "haproxy"
    command: str = ""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    seconds: float = 60.0

    def words(self, files: Sequence[str]) -> list[str]:
        """Raises BadRequest for a command that is none."""
        if not self.command:
            before, after = _named(self.before), _named(self.after)
            return [self.binary, *before, "-W", *_named(files), "-c", *after]
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise BadRequest(f"validate_cmd is not a command ({error}): {self.command}") from error
        if not words:
            raise BadRequest("validate_cmd is not a command: it has no words")
        return words


@dataclass(frozen=True)
class Checked:
    """`path` is what HAProxy reads instead of `file`, and `document` what it finds there; `main`: the one that a command is told.

    `shift`: how many lines more it has than the text that was sent, above that text.
    """

    path: Path
    file: Path
    document: Document | None = None
    main: bool = True
    shift: int = 0


async def check(
    files: Sequence[Checked], settings: CheckSettings, *, transaction_id: str | None = None, home: Path | None = None
) -> list[Message]:
    """What HAProxy has to say about files that it accepts together, in the order in which it loads them: warnings.

    `home` is where relative paths begin, else our own working directory. Raises Refused, CheckImpossible and BadRequest.
    """
    words = settings.words([str(each.path) for each in files])
    code, stderr, stdout = await _run(words, settings, _variables(files), home)
    origins = {str(each.path): Origin(str(each.file), each.document, each.shift) for each in files}
    said = messages(stderr, origins)
    if code == 0:
        return said
    alerts = [message for message in said if message.level == "alert"]
    ended = f"signal: {_signal_name(-code)}" if code < 0 else f"exit status {code}"
    # HAProxy may find a mistake, tell it, and crash over it.
    if not alerts and (code < 0 or code in _NOT_RUN or code in _KILLED):
        raise CheckImpossible(f"{ended}: {stderr[-1000:].strip() or words[0]}", reason=_NOT_RUN.get(code, "killed"))
    stderr, stdout = as_sent(stderr, origins), as_sent(stdout, origins)
    text = f"{ended}: " + (f"err transactionId={transaction_id} \n" if transaction_id else "")
    text += recorded(stderr) or (stderr.strip() or stdout.strip())[-1000:]
    alerts, line = await asyncio.to_thread(_placed, alerts, origins)
    line = line or (stderr.strip() or stdout.strip()).partition("\n")[0][: refusal.LONGEST]
    raise Refused((f"{line}\n" if line else "") + text.removesuffix("\n") + explained(alerts), alerts=alerts)


def _placed(alerts: list[Message], origins: Mapping[str, Origin]) -> tuple[list[Message], str]:
    """The alerts with their places, and the line that sums them up."""
    alerts = refusal.located(alerts, origins)
    return alerts, refusal.first_line(alerts, origins)


def _named(files: Sequence[str]) -> list[str]:
    return [word for name in files for word in ("-f", name)]


def _variables(files: Sequence[Checked]) -> dict[str, str]:
    """What a command of the operator's is told."""
    main = next((each for each in files if each.main), files[0])
    return {FILE_VARIABLE: str(main.path), FILES_VARIABLE: ";".join(str(each.path) for each in files)}


async def _run(words: list[str], settings: CheckSettings, variables: dict[str, str], home: Path | None) -> tuple[int, str, str]:
    child = _start(words, variables, home)
    assert child.stderr
    assert child.stdout
    try:
        async with asyncio.timeout(settings.seconds):
            stderr, stdout = await asyncio.gather(read(child.stderr, _KEPT_OUTPUT), read(child.stdout, _KEPT_OUTPUT))
            code = await child.wait()
    except TimeoutError as error:
        detail = f"{words[0]} gave no answer within {settings.seconds:g} s and was stopped"
        raise CheckImpossible(detail, reason="timeout") from error
    finally:
        if not child.ended:
            await child.kill()
        child.close()
    return code, stderr, stdout


def _start(words: list[str], variables: dict[str, str], home: Path | None) -> Child:
    environment = {name: value for name, value in os.environ.items() if name not in _SCRUBBED} | variables
    try:
        return Child(words, environment, stdout=PIPE, stderr=PIPE, home=home)
    except FileNotFoundError as error:
        if shutil.which(words[0]):
            detail = f'exec: "{words[0]}": the interpreter that its first line names does not exist'
            raise CheckImpossible(detail, reason="not-executable") from error
        kind = "no such file" if "/" in words[0] else "executable file not found in $PATH"
        raise CheckImpossible(f'exec: "{words[0]}": {kind}', reason="missing") from error
    except OSError as error:
        reason = "not-executable" if isinstance(error, PermissionError) or error.strerror == "Exec format error" else "failed"
        raise CheckImpossible(f'exec: "{words[0]}": {(error.strerror or str(error)).lower()}', reason=reason) from error


def _signal_name(number: int) -> str:
    return (signal.strsignal(number) or str(number)).lower()
