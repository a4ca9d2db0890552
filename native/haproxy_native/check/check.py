"""Check a configuration with HAProxy, or with the operator's command, within a time limit.

`Refused` means that HAProxy rejects the text. `CheckImpossible` means that there is no verdict: the check could not run, was killed, or
took too long. (HAProxy Management Guide, section 3, option -c)

Checks have no side effects, with one difficulty: HAProxy creates the missing account key of an `acme` section even during a check, and
rejects the text if it cannot create the key. The sandbox prevents this. So the check is repeated with a copy of the text in which the
paths of the keys are in the scratch directory.
"""

import os
import re
import shlex
import shutil
import signal
from asyncio import to_thread
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from haproxy_native.check.messages import (
    LONGEST_SUMMARY,
    Message,
    Origin,
    add_places,
    format_alerts,
    parse_messages,
    source_lines,
    summarize,
    with_client_positions,
)
from haproxy_native.check.run import Confinement, Ended, command_environment, haproxy_environment, run
from haproxy_native.editing.editor import standard_editor
from haproxy_native.errors import BadRequest, CheckImpossible, Refused, Unusable
from haproxy_native.scratch import Scratch
from haproxy_native.text.document import Document
from haproxy_native.threads import LARGE, run_in_thread_if

_UNCREATED = re.compile(r"acme: cannot create the file '([^']+)'")
_KIND, _MEMBER = "acme", "account_key"


def uncreated_keys(stderr: str) -> frozenset[str]:
    """Return the paths of the account keys that HAProxy could not create."""
    return frozenset(_UNCREATED.findall(stderr))


def with_keys_in(scratch: Path, document: Document, keys: Collection[str]) -> Document:
    """Return the document with the paths `keys` of account keys replaced by paths in `scratch`.

    If a section names no key, HAProxy uses a default path. Such a section gets a line with the new path.
    """
    editor = standard_editor()
    resource = editor.resources.by_section[_KIND]
    for number, (name, _) in enumerate(document.of_kind(_KIND)):
        section = editor.get_object(document, resource, None, name)
        if section.get(_MEMBER, f"{name}.account.key") in keys:
            key = str(scratch / f"{number}.key")
            document = editor.replace(document, resource, None, name, {**section, _MEMBER: key})
    return document


FILE_VARIABLE = "DATAPLANEAPI_TRANSACTION_FILE"
# All files in their order, separated by `;` as in HAProxy's own HAPROXY_CFGFILES.
FILES_VARIABLE = "DATAPLANEAPI_TRANSACTION_FILES"
# The first alternative skips strong quotes, which contain no variables.
_VARIABLE = re.compile(r"'[^']*'|(?<!\\)\$\{?([A-Za-z_]\w*)")
_VERSION = re.compile(r"haproxy version is (\d+\.\d+(?:\.\d+)?)")
_SET = re.compile(r"^[ \t]*(?:pre)?setenv[ \t]+(\w+)", re.MULTILINE)
# Exit statuses of a shell that could not run a command, or whose command was ended by a signal.
_NOT_RUN = {126: "not-executable", 127: "missing"}
_KILLED = {128 + number for number in (signal.SIGABRT, signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGBUS)}


@dataclass(frozen=True)
class CheckSettings:
    """How to run checks."""

    # HAProxy's program.
    binary: str = "haproxy"
    # The operator's validate_cmd, which runs instead of `binary`, and is not confined (run.py).
    command: str = ""
    # Further files that HAProxy loads before and after the checked ones.
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    # The time limit of a check.
    seconds: float = 60.0

    def absolute(self) -> "CheckSettings":
        """Return the settings with absolute paths, which are valid in every working directory."""
        binary = os.path.abspath(self.binary) if "/" in self.binary else self.binary
        return replace(self, binary=binary, before=_absolute(self.before), after=_absolute(self.after))

    def words(self, files: Sequence[str]) -> list[str]:
        """Return the command line that checks `files`. Raises BadRequest for a malformed command."""
        if not self.command:
            before, after = _file_options(self.before), _file_options(self.after)
            # Without -V a check prints no reasons if the text contains `quiet`.
            return [self.binary, *before, "-W", *_file_options(files), "-c", "-V", *after]
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise BadRequest(f"validate_cmd is not a command ({error}): {self.command}") from error
        if not words:
            raise BadRequest("validate_cmd is not a command: it has no words")
        return words


@dataclass(frozen=True)
class Checked:
    """A configuration file to check, in the form of a draft."""

    # The draft, which HAProxy reads.
    path: Path
    # The file that the draft would replace.
    file: Path
    # The content of the draft; None if it is not parsed.
    document: Document | None = None
    # Whether this is the file that a validate_cmd gets.
    main: bool = True
    # How many lines the draft has above the text that the client sent.
    shift: int = 0


async def check(
    files: Sequence[Checked],
    settings: CheckSettings,
    *,
    transaction_id: str | None = None,
    home: Path | None = None,
    shown: Callable[[str], str] = str,
) -> list[Message]:
    """Check files together, in the order in which HAProxy loads them. If HAProxy accepts the files, return its messages, such as warnings.

    Relative paths in the files begin in `home`, by default the working directory of this process. The operator's command always runs in the
    working directory of this process. `shown` replaces paths in HAProxy's output. Raises Refused, CheckImpossible and BadRequest.
    """
    if settings.command:
        home = None
    elif home:
        files = [replace(file, path=file.path.absolute()) for file in files]
        settings = settings.absolute()
    scratch = None
    # Without a scratch directory, the check still runs, but writes nowhere.
    with suppress(Unusable):
        scratch = await to_thread(Scratch, "check")
    try:
        environment = await to_thread(_environment, files, settings)
        ended, files = await _check_with_keys(files, settings, environment, home, scratch.path if scratch else None)
    finally:
        if scratch:
            await to_thread(scratch.remove)
    code, stderr, stdout = ended.code, shown(ended.stderr), shown(ended.stdout)
    origins = {shown(str(file.path)): Origin(str(file.file), file.document, file.shift) for file in files}
    reported = await run_in_thread_if(len(stderr) > LARGE, parse_messages, stderr, origins)
    if code == 0:
        return reported
    alerts = [message for message in reported if message.level == "alert"]
    how = f"signal: {(signal.strsignal(-code) or str(-code)).lower()}" if code < 0 else f"exit status {code}"
    # With an alert this is a refusal: HAProxy may report a mistake and then crash because of it.
    if not alerts and (code < 0 or code in _NOT_RUN or code in _KILLED):
        detail = stderr[-1000:].strip() or settings.command or settings.binary
        raise CheckImpossible(f"{how}: {detail}", reason=_NOT_RUN.get(code, "killed"))
    stderr, stdout = with_client_positions(stderr, origins), with_client_positions(stdout, origins)
    text = f"{how}: " + (f"err transactionId={transaction_id} \n" if transaction_id else "")
    text += format_alerts(stderr) or (stderr.strip() or stdout.strip())[-1000:]
    version = next((match[1] for message in reported if (match := _VERSION.match(message.text))), "")
    alerts = await to_thread(add_places, alerts, origins)
    line = await to_thread(summarize, alerts, origins, version)
    line = line or (stderr.strip() or stdout.strip()).partition("\n")[0][:LONGEST_SUMMARY]
    known = set(environment).union(*(_SET.findall(file.document.text) for file in files if file.document))
    hint = _unknown_variables(alerts, known)
    raise Refused((f"{line}\n" if line else "") + text.removesuffix("\n") + source_lines(alerts) + hint, alerts=alerts)


def _unknown_variables(alerts: Sequence[Message], known: Collection[str]) -> str:
    """Return a hint that names the unknown variables in refused lines; empty if there are none.

    HAProxy may have refused the lines because unknown variables are empty.
    """
    named = (name for alert in alerts for name in _VARIABLE.findall(alert.source or ""))
    names = dict.fromkeys(name for name in named if name and name not in known)
    return (
        f"\nHAProxy's check has {', '.join(map(repr, names))} only if the configuration in force names it, or the text itself sets it"
        if names
        else ""
    )


def _absolute(files: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(os.path.abspath, files))


def _file_options(files: Sequence[str]) -> list[str]:
    return [word for name in files for word in ("-f", name)]


async def _check_with_keys(
    files: Sequence[Checked], settings: CheckSettings, environment: dict[str, str], home: Path | None, scratch: Path | None
) -> tuple[Ended, Sequence[Checked]]:
    """Run the check. If HAProxy could not create account keys, repeat the check with copies of the files.

    Return (outcome of the last check, files or copies that the last check read).
    """
    within = None if settings.command else Confinement(scratch, settings.seconds)
    ended = await _run(files, settings, environment, within, home)
    missing = uncreated_keys(ended.stderr) if within and scratch and ended.code else frozenset()
    if not missing or scratch is None:
        return ended, files
    with ExitStack() as copies:
        checked = [await to_thread(_copy_with_keys, file, scratch, missing, copies) for file in files]
        return await _run(checked, settings, environment, within, home), checked


def _environment(files: Sequence[Checked], settings: CheckSettings) -> dict[str, str]:
    if settings.command:
        main = next((file for file in files if file.main), files[0])
        variables = {FILE_VARIABLE: str(main.path), FILES_VARIABLE: ";".join(str(file.path) for file in files)}
        return command_environment(os.environ) | variables
    return haproxy_environment(os.environ, [*map(Path, settings.before), *(file.file for file in files), *map(Path, settings.after)])


def _copy_with_keys(checked: Checked, scratch: Path, missing: frozenset[str], copies: ExitStack) -> Checked:
    """If a file names missing account keys, return a copy of the file in which these keys are in `scratch`; otherwise the file itself.

    The copy is in the directory of the file. The exit of `copies` removes the copy.
    """
    data = checked.path.read_bytes()
    document = Document.parse(data)
    changed = with_keys_in(scratch, document, missing)
    if changed is document:
        return checked
    copy = checked.path.with_name(f"{checked.path.name}.keys")
    copies.callback(copy.unlink, missing_ok=True)
    copy.touch(mode=0o600)
    copy.write_bytes(changed.data)
    return replace(checked, path=copy)


async def _run(
    files: Sequence[Checked], settings: CheckSettings, environment: dict[str, str], within: Confinement | None, home: Path | None
) -> Ended:
    words = settings.words([str(file.path) for file in files])
    try:
        return await run(words, environment, settings.seconds, within=within, home=home)
    except TimeoutError as error:
        detail = f"{words[0]} gave no answer within {settings.seconds:g} s and was stopped"
        raise CheckImpossible(detail, reason="timeout") from error
    except FileNotFoundError as error:
        if shutil.which(words[0]):
            detail = f'exec: "{words[0]}": the interpreter that its first line names does not exist'
            raise CheckImpossible(detail, reason="not-executable") from error
        kind = "no such file" if "/" in words[0] else "executable file not found in $PATH"
        raise CheckImpossible(f'exec: "{words[0]}": {kind}', reason="missing") from error
    except OSError as error:
        reason = "not-executable" if isinstance(error, PermissionError) or error.strerror == "Exec format error" else "failed"
        raise CheckImpossible(f'exec: "{words[0]}": {(error.strerror or str(error)).lower()}', reason=reason) from error
