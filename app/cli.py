"""The command `dataplaneapi`: from arguments, variables and the settings file to settings, then to the running server.

Only what `--help` and `--version` need is imported at the top; the server is imported when it is to run.
"""

import argparse
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from app.settings import Settings, SettingsError, combine, parse, table
from app.version import BUILD_DATE, COMMIT, REPOSITORY, VERSION

SETTINGS_FILE = "/etc/haproxy/dataplaneapi.yaml"
# Flags that older documentation names; they are accepted and mean nothing.
FORMER = tuple(
    f"--{name}"
    for name in (
        "log-to log-file log-level log-format apache-common-log-format fid cluster-tls-dir api-address api-port "
        "syslog-address syslog-protocol syslog-tag syslog-level syslog-facility"
    ).split()
)
# What may be asked instead of serving; any other word is passed over, as by the reference.
COMMANDS = ("check", "doctor")
FORMER_HELP = "accepted for old unit files, without effect"


class Parser(argparse.ArgumentParser):
    """Refuses as the reference does: a message on both outputs, exit status 1."""

    def error(self, message: str) -> NoReturn:
        refuse(message)


def refuse(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    print(message)
    sys.exit(1)


def parser() -> Parser:
    made = Parser(prog="dataplaneapi", allow_abbrev=False, add_help=False, description="A REST sidecar for HAProxy.")
    made.add_argument("-h", "--help", action="help", help="show this and exit")
    made.add_argument("-v", "--version", action="store_true", help="show the version and exit")
    text = "check: can settings and configuration be used? doctor: that, and all around them, each finding with its remedy"
    made.add_argument("command", nargs="?", metavar="check | doctor", help=text)
    made.add_argument("--json", dest="as_json", action="store_true", default=argparse.SUPPRESS, help="findings of check and doctor as JSON")
    made.add_argument("-f", dest="settings_file", metavar="FILE", help=f"own settings file; empty for none (default {SETTINGS_FILE})")
    for name, source, default in table():
        text = source.help + (f" (default {default})" if default not in ("", 0, None, False, []) and "default" not in source.help else "")
        if source.kind == "switch":
            made.add_argument(*source.flags, dest=name, action="store_true", default=argparse.SUPPRESS, help=text)
        else:
            action = "append" if source.kind == "texts" else "store"
            kind = "text" if source.kind == "texts" else source.kind
            made.add_argument(
                *source.flags, dest=name, metavar=kind.upper(), action=action, default=argparse.SUPPRESS, type=_reader(kind), help=text
            )
    for flag in FORMER:
        made.add_argument(flag, dest="former", action="append", nargs="?", help=argparse.SUPPRESS)
    return made


def _reader(kind: str) -> Any:
    def read(text: str) -> Any:
        try:
            return parse(kind, text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def arguments(argv: Sequence[str]) -> dict[str, Any]:
    """The flags that were given; positional arguments are ignored, unknown flags are not."""
    made = parser()
    given, rest = made.parse_known_args(argv)
    for word in rest:
        if word.startswith("-") and word not in ("-", "--"):
            refuse(f"unknown flag `{word.lstrip('-').partition('=')[0]}'" + _meant(word, made))
    found = {name: value for name, value in vars(given).items() if value is not None}
    if found.get("command") not in COMMANDS:
        found.pop("command", None)
    return found


def _meant(word: str, made: Parser) -> str:
    from difflib import get_close_matches

    known = [flag for flag in made._option_string_actions if flag not in FORMER]
    close = get_close_matches(word.partition("=")[0], known, 1)
    return f"; did you mean {close[0]}?" if close else ""


def settings(argv: Sequence[str], environ: Mapping[str, str]) -> Settings:
    """The effective settings; what the operator should know on the way is printed."""
    from app import mworker, settings_file

    flags = arguments(argv)
    file, warnings = flags.pop("settings_file", None), []
    command, _ = flags.pop("command", ""), flags.pop("as_json", None)
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
    found = combine(flags, environ, data, file=file)
    if settings_file.is_settings_file(found.config_file):
        raise SettingsError(f"haproxy.config_file: {found.config_file} is a settings file of this server, not a configuration of HAProxy")
    return _with_warnings(mworker.adapted(found, environ), warnings)


def _with_warnings(found: Settings, warnings: list[str]) -> Settings:
    import dataclasses

    return dataclasses.replace(found, warnings=(*warnings, *found.warnings))


def load_environment(path: str = ".env") -> None:
    """Variables of a file in the working directory; those already set win."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.strip().removeprefix("export ") for line in file]
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        name, sign, value = line.partition("=")
        if sign and name.strip().isidentifier():
            os.environ.setdefault(name.strip(), _unquoted(value.strip()))


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value.partition(" #")[0].rstrip()


def version_text() -> str:
    return f"HAProxy Data Plane API {VERSION} {COMMIT}\n\nBuild from: {REPOSITORY}\nBuild date: {BUILD_DATE}\n"


def main(argv: Sequence[str] | None = None) -> None:
    argv = sys.argv[1:] if argv is None else argv
    asked = arguments(argv)
    if asked.get("version"):
        print(version_text())
        return
    load_environment()
    try:
        found = settings(argv, os.environ)
    except SettingsError as error:
        refuse(f"configuration error: {error}")
    if "command" in asked:
        from app import doctor

        sys.exit(doctor.report(found, asked["command"], as_json="as_json" in asked))
    # Nothing that is made during start-up is garbage; the program switches collection on again.
    gc.disable()
    from app.program import serve

    sys.exit(serve(found, lambda: settings(argv, os.environ)))


if __name__ == "__main__":
    main()
