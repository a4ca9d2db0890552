"""`dataplaneapi ctl`: finds the command, runs it, and ends with its status. A command's module is imported when it is asked for."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from dataplaneapi.ctl.contexts import MEMBERS, PREFIX, SECRETS
from dataplaneapi.ctl.failures import CLOSED_PIPE, INTERRUPTED, USAGE, Failure, Refused
from dataplaneapi.ctl.session import FORMATS, Session
from dataplaneapi.ctl.terminal import Output

PROGRAM = "dataplaneapi ctl"
# Each with the module in `commands` that has `arguments(parser)` and `run(session) -> status`, and its help.
COMMANDS = {
    "get": ("get", "show objects, their lists, and what the running process has of them"),
    "apply": ("apply", "make what is declared so"),
    "plan": ("apply", "show what apply would do, and how"),
    "edit": ("edit", "change an object in an editor"),
    "drain": ("operate", "take servers out of service"),
    "split": ("operate", "divide traffic between backends"),
    "explain": ("routing", "show which rules a request meets, and where it goes"),
    "test": ("routing", "run tests of routing"),
    "references": ("naming", "show what names an object"),
    "rename": ("naming", "give an object another name, everywhere"),
    "lint": ("lint", "show what in the configuration is probably a mistake"),
    "history": ("show", "show who has changed what"),
    "revert": ("operate", "take back a change, or everything since"),
    "confirm": ("operate", "confirm a change, or take it back"),
    "events": ("watch", "show what happens, as it happens"),
    "top": ("watch", "show sessions and rates"),
    "workers": ("show", "show the processes of HAProxy"),
    "overrides": ("show", "show what was changed in the process alone"),
    "whoami": ("show", "show who calls, and what it may do"),
    "export": ("show", "show what an owner has declared, to be applied again"),
    "call": ("call", "call any operation of the API by its id"),
    "context": ("context", "show or choose the server that is called"),
    "completion": ("completion", "print the completion of a shell"),
    "follow": ("follow", "apply each new state of a file, a directory or an etcd key"),
}


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Failure(f"{message}; see {self.prog} --help")


def common() -> Parser:
    """The options of all commands; they may stand anywhere."""
    made = Parser(prog=PROGRAM, add_help=False, allow_abbrev=False)
    made.add_argument("-o", "--output", choices=FORMATS, help="how a result is shown (default table)")
    made.add_argument("--context", metavar="NAME", help=f"context of the file of contexts; {PREFIX}CONTEXT")
    for name, text in MEMBERS.items():
        if name not in SECRETS:
            made.add_argument(f"--{name.replace('_', '-')}", metavar=name.upper(), help=f"{text}; {PREFIX}{name.upper()}")
    return made


def parser() -> Parser:
    """Returns the parser of the command itself, with a list of its subcommands."""
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
    module(name).arguments(made)
    return made


def module(name: str) -> ModuleType:
    return importlib.import_module(f"dataplaneapi.ctl.commands.{COMMANDS[name][0]}")


def run(argv: Sequence[str]) -> int:
    """The status of the command. Raises Failure."""
    # What a shell completes may be half an option, or none.
    cut = argv.index("--words") if "--words" in argv else len(argv)
    given, rest = common().parse_known_args(argv[:cut])
    given.words = argv[cut + 1 :] if cut < len(argv) else None
    if not rest or rest[0] in ("-h", "--help"):
        parser().print_help()
        return 0 if rest else USAGE
    name = rest[0]
    if name not in COMMANDS:
        raise Failure(f"unknown command {name!r}{_meant(name)}; {PROGRAM} --help lists them")
    command_parser(name).parse_args(rest[1:], given)
    given.command = name
    session = Session(given)
    try:
        return int(module(name).run(session))
    finally:
        session.close()


def _meant(word: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, COMMANDS, 1)
    return f", did you mean {close[0]}?" if close else ""


def _conflicts(failure: Failure) -> list[str]:
    if not isinstance(failure, Refused) or not isinstance(failure.body, dict) or "conflicts" not in failure.body:
        return []
    from dataplaneapi.ctl.commands.apply import conflicts

    return conflicts(failure.body)


def main(argv: Sequence[str]) -> NoReturn:
    """Ends the process."""
    # Python has none where they were closed.
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
    """What is left, which Python writes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
