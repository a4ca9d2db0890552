"""The command `dataplaneapi`: read arguments, environment variables and the settings file, and run the server.

The top of the module imports only modules that `--help` and `--version` need. The modules of the server are imported when it starts.
"""

import argparse
import contextlib
import gc
import os
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

from dataplaneapi.settings.table import Settings, SettingsError, combine, parse, table
from dataplaneapi.version import BUILD_DATE, COMMIT, REPOSITORY, VERSION

SETTINGS_FILE = "/etc/haproxy/dataplaneapi.yaml"
# Flags that older documentation names; they are accepted and mean nothing.
FORMER = tuple(
    f"--{name}"
    for name in (
        "log-to log-file log-level log-format apache-common-log-format fid cluster-tls-dir api-address api-port "
        "syslog-address syslog-protocol syslog-tag syslog-level syslog-facility"
    ).split()
)
# The commands that run instead of the server, with their help.
COMMANDS = {
    "check": "Check whether settings and configuration can be used. Change nothing.",
    "doctor": "List everything that keeps this installation from working, with remedies. Change nothing.",
}
# Commands that dataplaneapi.command runs. They must be the first word.
FIRST_WORDS = ("backup", "ctl", "lint", "restore", "test")
USAGE = "dataplaneapi [OPTION ...] [check | doctor]\n       dataplaneapi ctl | lint | test | backup | restore [OPTION ...]"
DESCRIPTION = """\
Without a command, run the server: a REST API for the HAProxy on this machine.

commands:
  check     validate settings and configuration
  doctor    check the whole installation, and list problems with remedies
  ctl       operate a running server, as in:
              dataplaneapi ctl get backend/shop
              dataplaneapi ctl drain shop/web1 --then maint --wait
              dataplaneapi ctl apply -f shop.yaml --owner team-a --dry-run
  lint      find probable mistakes in a configuration of HAProxy
  test      run routing tests on a configuration, without a server
  backup    back up the server's own data
  restore   restore a backup

dataplaneapi COMMAND --help has the options of each. The options below are those
of the server; most are settings of its file as well."""
CLOSED_PIPE = 128 + signal.SIGPIPE
FORMER_HELP = "accepted for old unit files, no effect"


class FlagParser(argparse.ArgumentParser):
    """A parser that reports errors as one message on standard error, with exit status 1."""

    def error(self, message: str) -> NoReturn:
        refuse(message)


class BadFlagValue(str):
    """The error message for an invalid value of a flag. It is stored in place of the value, so that all errors can be reported at once."""


def refuse(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    sys.exit(1)


def parser() -> FlagParser:
    made = FlagParser(prog="dataplaneapi", allow_abbrev=False, add_help=False, description=DESCRIPTION)
    made.usage, made.formatter_class = USAGE, argparse.RawDescriptionHelpFormatter
    made.add_argument("-h", "--help", action="help", help="show this and exit")
    made.add_argument("-v", "--version", action="store_true", help="show the version and exit")
    made.add_argument("command", nargs="?", metavar="check | doctor", help="run this command instead of the server")
    _add_report(made)
    made.add_argument("-f", dest="settings_file", metavar="FILE", help=f"settings file; empty for none (default {SETTINGS_FILE})")
    for name, source, default in table():
        text = source.meaning
        text += f" (default {default})" if default not in ("", 0, None, False, []) and "default" not in source.help else ""
        if source.kind == "switch":
            made.add_argument(*source.flags, dest=name, action="store_true", default=argparse.SUPPRESS, help=text)
        else:
            action = "append" if source.kind == "texts" else "store"
            kind = "text" if source.kind == "texts" else source.kind
            made.add_argument(
                *source.flags,
                dest=name,
                metavar=kind.upper(),
                action=action,
                default=argparse.SUPPRESS,
                type=partial(_parse_flag, kind),
                help=text,
            )
    for flag in FORMER:
        made.add_argument(flag, dest="former", action="append", nargs="?", help=argparse.SUPPRESS)
    return made


def _add_report(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--json", dest="as_json", action="store_true", default=argparse.SUPPRESS, help="with check or doctor: print the findings as JSON"
    )
    text = "with check or doctor: write corrected settings next to the settings file, as FILE.fixed, and show the difference"
    made.add_argument("--fix", action="store_true", default=argparse.SUPPRESS, help=text)


def command_help(command: str) -> str:
    """Return the help of one command. The command accepts the server's flags as well.

    The help does not list them, but says where they are.
    """
    made = argparse.ArgumentParser(prog=f"dataplaneapi {command}", description=COMMANDS[command], add_help=False)
    made.add_argument("-h", "--help", action="store_true", help="show this and exit")
    made.add_argument("-f", metavar="FILE", help=f"settings file; empty for none (default {SETTINGS_FILE})")
    _add_report(made)
    made.epilog = (
        "The flags of the server (dataplaneapi --help) have the same meaning here. Exit status: 0, or 1 with an error among the findings."
    )
    return made.format_help()


def _parse_flag(kind: str, text: str) -> Any:
    try:
        return parse(kind, text)
    except ValueError as error:
        return BadFlagValue(error)


def arguments(argv: Sequence[str]) -> dict[str, Any]:
    """Return the values of the flags on the command line. If any flag or command is invalid, print all errors and exit."""
    help_topic = next((word for word in argv if word in COMMANDS), "")
    if help_topic and {"-h", "--help"} & set(argv):
        print(command_help(help_topic), end="")
        sys.exit(0)
    made = parser()
    given, rest = made.parse_known_args(argv)
    values = {name: value for name, value in vars(given).items() if value is not None}
    errors = []
    for action in made._actions:
        flag_values = values.get(action.dest)
        for value in flag_values if isinstance(flag_values, list) else [flag_values]:
            if isinstance(value, BadFlagValue):
                errors.append(f"argument {'/'.join(action.option_strings)}: {value}")
    known_flags = [flag for flag in made._option_string_actions if flag not in FORMER]
    unknown_flags = [word.partition("=")[0] for word in rest if word.startswith("-") and word not in ("-", "--")]
    errors += [f"unknown flag `{flag.lstrip('-')}'" + _did_you_mean(flag, known_flags) for flag in unknown_flags]
    # A word may be the value of an unknown flag, so unknown commands are reported only if all flags are known.
    command = values.get("command")
    for word in () if unknown_flags else rest if command is None or command in COMMANDS else [command, *rest]:
        if word in FIRST_WORDS:
            errors.append(f"`{word}' must be the first word: dataplaneapi {word} ...")
        else:
            known = sorted((*COMMANDS, *FIRST_WORDS))
            hint = _did_you_mean(word, known) or f"; there are {', '.join(known[:-1])} and {known[-1]}"
            errors.append(f"unknown command `{word}'" + hint)
    if "fix" in values and command != "doctor":
        errors.append("--fix belongs to doctor: dataplaneapi doctor --fix")
    if errors:
        refuse("\n".join(errors))
    return values


def _did_you_mean(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, known, 1)
    return f"; did you mean {close[0]}?" if close else ""


def settings(argv: Sequence[str], environ: Mapping[str, str]) -> Settings:
    """Return the effective settings, with warnings for the operator. Raises SettingsError."""
    import dataclasses

    from dataplaneapi.host import mworker
    from dataplaneapi.settings import yaml_file as settings_file

    flags = arguments(argv)
    file, warnings = flags.pop("settings_file", None), []
    command, _, _ = flags.pop("command", ""), flags.pop("as_json", None), flags.pop("fix", None)
    if "config_file" in flags and settings_file.is_settings_file(flags["config_file"]):
        path = flags.pop("config_file")
        if file not in (None, path):
            raise SettingsError(f"{path} is a settings file of this server, not a configuration of HAProxy, and -f names {file}")
        warnings.append(f"{path} is a settings file of this server, not a configuration of HAProxy: it is used as -f {path}")
        file = path
    file = SETTINGS_FILE if file is None else file
    data = settings_file.read(file) if file else {}
    if data is None:
        if not command:
            print(f"configuration file {file} does not exists, creating one")
        data = {}
    warnings += settings_file.unknown_keys(data)
    warnings += [f"flag {FORMER_HELP}: {', '.join(former)}" for former in [flags.pop("former", [])] if former]
    try:
        result = combine(flags, environ, data, file=file)
    except SettingsError as error:
        for warning in warnings:
            error.add_note(warning)
        raise
    if settings_file.is_settings_file(result.config_file):
        raise SettingsError(f"haproxy.config_file: {result.config_file} is a settings file of this server, not a configuration of HAProxy")
    adapted = mworker.adapt_to_master(result, environ)
    return dataclasses.replace(adapted, warnings=(*warnings, *adapted.warnings))


def version_text() -> str:
    return f"HAProxy Data Plane API {VERSION} {COMMIT}\n\nBuild from: {REPOSITORY}\nBuild date: {BUILD_DATE}\n"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command.

    If the output is a pipe that its reader has closed, as in `| head`, exit as a program does that SIGPIPE has ended.
    """
    try:
        try:
            _run_command(sys.argv[1:] if argv is None else argv)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # At exit Python flushes the rest of the output, which would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CLOSED_PIPE)


def _run_command(argv: Sequence[str]) -> None:
    flags = arguments(argv)
    if flags.get("version"):
        print(version_text())
        return
    try:
        given = settings(argv, os.environ)
    except SettingsError as error:
        if "fix" in flags and "as_json" not in flags:
            from dataplaneapi.doctor import checks as doctor

            # If the settings file cannot be read, `error` says so already.
            with contextlib.suppress(SettingsError):
                print(doctor.write_fixed_settings(flags.get("settings_file", SETTINGS_FILE)))
        errors = [f"configuration error: {line}" for line in str(error).splitlines()]
        refuse("\n".join([*errors, *(f"configuration warning: {line}" for line in getattr(error, "__notes__", ()))]))
    if "command" in flags:
        from dataplaneapi.doctor import checks as doctor

        sys.exit(doctor.report(given, flags["command"], as_json="as_json" in flags, fix="fix" in flags))
    # Imports create objects that stay and no garbage. Collections during the imports would cost a tenth of the time to start.
    gc.disable()
    from dataplaneapi.program import serve

    gc.freeze()
    gc.enable()
    sys.exit(serve(given, lambda: settings(argv, os.environ)))


if __name__ == "__main__":
    main()
