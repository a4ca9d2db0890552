"""`dataplaneapi ctl`: parses the line, runs the command, and exits with its status.

The command NAME is the function `run_NAME(session) -> status` of its module, with `NAME_arguments(parser)` if it has arguments of its own.
A module is imported only when one of its commands is run, since the start is most of the time of a short command.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from dataplaneapi.ctl.contexts import MEMBERS, PREFIX, SECRETS
from dataplaneapi.ctl.failures import CLOSED_PIPE, INTERRUPTED, USAGE, Failure, Refused
from dataplaneapi.ctl.output import Output
from dataplaneapi.ctl.session import FORMATS, Session

PROGRAM = "dataplaneapi ctl"
# The module in `commands` and the help of each command.
COMMANDS = {
    "get": ("get", "show objects, their lists, and what the running process has"),
    "apply": ("apply", "apply what an owner declares"),
    "plan": ("apply", "show what apply would do, and how"),
    "rollout": ("rollout", "apply what an owner declares to several servers, or to none"),
    "compare": ("compare", "show where two servers differ"),
    "copy": ("compare", "make one server like another"),
    "edit": ("edit", "change an object in an editor"),
    "set": ("change", "change members of an object"),
    "delete": ("change", "delete an object or a stored file"),
    "weight": ("change", "change the weight of a server"),
    "ready": ("change", "put a server into service"),
    "maint": ("change", "put a server into maintenance"),
    "drain": ("operate", "take servers out of service"),
    "split": ("operate", "divide traffic between backends"),
    "explain": ("routing", "show which rules a request meets, and where it goes"),
    "test": ("routing", "run routing tests"),
    "references": ("show", "show what refers to an object"),
    "map": ("change", "show and change maps and their entries"),
    "cert": ("change", "list certificates, store one"),
    "raw": ("change", "show or replace the whole configuration"),
    "reload": ("change", "reload HAProxy, and say how that went"),
    "drift": ("show", "show where file and process differ"),
    "rename": ("operate", "rename an object and everything that refers to it"),
    "lint": ("show", "show probable mistakes in the configuration"),
    "history": ("show", "show who has changed what"),
    "revert": ("operate", "revert a change, or everything since"),
    "confirm": ("operate", "confirm a change, or roll it back"),
    "events": ("watch", "show what happens, as it happens"),
    "top": ("watch", "show sessions and rates"),
    "workers": ("show", "show the processes of HAProxy"),
    "overrides": ("show", "show what was changed in the running process only"),
    "whoami": ("show", "show the caller and its permissions"),
    "export": ("show", "show what an owner has declared, in the form that apply accepts"),
    "call": ("call", "call any operation of the API by its id"),
    "context": ("context", "show or choose the server"),
    "completion": ("completion", "print the completion script of a shell"),
    "follow": ("follow", "apply each new state of a file, a directory or an etcd key"),
}


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Failure(f"{message}; see {self.prog} --help")


def common() -> Parser:
    """Return a parser for the options of all commands, which may stand anywhere in the line."""
    made = Parser(prog=PROGRAM, add_help=False, allow_abbrev=False)
    made.add_argument("-o", "--output", choices=FORMATS, help="format of the result (default table)")
    made.add_argument("--context", metavar="NAME", help=f"context of the file of contexts; {PREFIX}CONTEXT")
    for name, text in MEMBERS.items():
        if name not in SECRETS:
            made.add_argument(f"--{name.replace('_', '-')}", metavar=name.upper(), help=f"{text}; {PREFIX}{name.upper()}")
    return made


def parser() -> Parser:
    """Return the parser of `dataplaneapi ctl` itself, with a list of its commands."""
    commands = "\n".join(f"  {name:<12}{text}" for name, (_, text) in COMMANDS.items())
    made = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} COMMAND [OPTION ...]",
        description="Works with a Data Plane API from the command line.",
        epilog=f"commands:\n{commands}\n\n{PROGRAM} COMMAND --help has the options of each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[common()],
        add_help=False,
        allow_abbrev=False,
    )
    made.add_argument("-h", "--help", action="help", help="show this and exit")
    return made


def command_parser(name: str) -> Parser:
    text = COMMANDS[name][1]
    made = Parser(prog=f"{PROGRAM} {name}", description=text[0].upper() + text[1:] + ".", allow_abbrev=False)
    made.epilog = f"{PROGRAM} --help has the options for the server and the output, which all commands take."
    if add_arguments := getattr(_module(name), f"{name}_arguments", None):
        add_arguments(made)
    return made


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"dataplaneapi.ctl.commands.{COMMANDS[name][0]}")


def run(argv: Sequence[str]) -> int:
    """Run the command of a line and return its exit status. Raises Failure."""
    # The words after --words are a line that is being written, with options that may be incomplete.
    cut = argv.index("--words") if "--words" in argv else len(argv)
    given, rest = common().parse_known_args(argv[:cut])
    given.words = argv[cut + 1 :] if cut < len(argv) else None
    if not rest or rest[0] in ("-h", "--help"):
        parser().print_help()
        return 0 if rest else USAGE
    name = rest[0]
    if name not in COMMANDS:
        from difflib import get_close_matches

        close = get_close_matches(name, COMMANDS, 1)
        meant = f", did you mean {close[0]}?" if close else ""
        raise Failure(f"unknown command {name!r}{meant}; {PROGRAM} --help lists them")
    command_parser(name).parse_args(rest[1:], given)
    given.command = name
    session = Session(given)
    try:
        return int(getattr(_module(name), f"run_{name}")(session))
    finally:
        session.close()


def _conflicts(failure: Failure) -> list[str]:
    if not isinstance(failure, Refused) or not isinstance(failure.body, dict) or "conflicts" not in failure.body:
        return []
    from dataplaneapi.ctl.commands.apply import conflicts

    return conflicts(failure.body)


def main(argv: Sequence[str]) -> NoReturn:
    """Run a line and exit with its status."""
    # A stream that was closed before the start is None.
    sys.stdout, sys.stderr = (Output(each or open(os.devnull, "w")) for each in (sys.stdout, sys.stderr))  # noqa: SIM115
    try:
        try:
            status = run(argv)
        finally:
            sys.stdout.flush()
    except Failure as failure:
        print(f"{PROGRAM}: {failure}", *_conflicts(failure), sep="\n", file=sys.stderr)
        status = failure.status
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BrokenPipeError:
        status = CLOSED_PIPE
        _drop_output()
    except OSError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        status = USAGE
        _drop_output()
    sys.exit(status)


def _drop_output() -> None:
    """Discard the buffered output, which Python would try to write again when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
