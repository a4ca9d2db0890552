"""`dataplaneapi ctl`: parses the command line, runs the command, and exits with its status.

The command NAME is the function `run_NAME(session) -> status` of its module. `NAME_arguments(parser)` adds the arguments that only this
command has. The module is imported only when one of its commands is run, because a short command spends most of its time on imports.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from dataplaneapi.ctl.contexts import MEMBERS, PREFIX, SECRETS
from dataplaneapi.ctl.failures import CLOSED_PIPE, INTERRUPTED, USAGE, Failure, RefusedCall
from dataplaneapi.ctl.output import Output
from dataplaneapi.ctl.session import FORMATS, Session

_METAVARS = {"url": "URL", "socket": "PATH", "user": "NAME"}
PROGRAM = "dataplaneapi ctl"
# The module in `commands`, the help and an example of each command.
COMMANDS = {
    "get": ("get", "show objects and lists, of the configuration or the running process", "get backend/shop/server"),
    "apply": ("apply", "create, change and delete objects as declared in a file", "apply -f shop.yaml --owner team-a --wait"),
    "plan": ("apply", "show what apply would change, and whether HAProxy would reload", "plan -f shop.yaml --owner team-a"),
    "rollout": (
        "rollout",
        "apply a declaration to several servers, or to none of them",
        "rollout -f shop.yaml --owner team-a --to lb2,lb1 --guard errors=2,ready",
    ),
    "compare": ("compare", "show where two servers differ; exit status 10 if they do", "compare lb1 lb2"),
    "copy": ("compare", "make one server like another", "copy lb1 lb2 --confirm 5m"),
    "fleet": ("fleet", "show a fleet, and release a configuration to its nodes", "fleet release -m 'more weight' --wait"),
    "edit": ("edit", "change an object in an editor", "edit backend/shop"),
    "create": ("change", "create an object", "create backend/shop/server/web3 address=192.0.2.7 port=8080 weight=10 --dry-run"),
    "set": ("change", "change members of an object", "set backend/shop balance.algorithm=leastconn server_timeout=30s fullconn="),
    "delete": ("change", "delete an object or a stored file", "delete backend/shop/server/web1 --dry-run"),
    "weight": ("change", "change the weight of a server", "weight shop/web1 20"),
    "ready": ("change", "put a server into service", "ready shop/web1"),
    "maint": ("change", "put a server into maintenance; drain lets its sessions end first", "maint shop/web1 -m 'new disk'"),
    "drain": ("operate", "take servers out of service", "drain shop/web1 --then maint --wait"),
    "split": ("operate", "divide traffic between backends", "split canary v1=95 v2=5"),
    "explain": ("routing", "show which rules a request meets, and where it goes", "explain https://shop.example/cart --src 198.51.100.7"),
    "test": ("routing", "run routing tests", "test shop --coverage"),
    "references": ("show", "show the places that name an object", "references backend/shop"),
    "map": ("change", "show and change maps and their entries", "map add hosts.map shop.example shop"),
    "cert": ("change", "list, store and delete certificates", "cert put shop.pem --wait"),
    "raw": ("change", "show or replace the whole configuration", "raw get > new.cfg; dataplaneapi ctl raw put new.cfg --dry-run"),
    "reload": ("change", "reload HAProxy, wait, and show the outcome", "reload"),
    "drift": ("show", "show where the file and the running process differ", "drift"),
    "rename": ("operate", "rename an object and all references to it", "rename backend/shop shop2 --dry-run"),
    "lint": ("show", "show probable mistakes in the configuration", "lint --fail-on warning"),
    "history": ("show", "show who has changed what", "history --object backend/shop --since 24h"),
    "revert": ("operate", "undo one change, or everything since it", "revert 17"),
    "confirm": ("operate", "confirm a change that was made with --confirm, or roll it back", "confirm --extend 10m"),
    "events": (
        "watch",
        "show changes, reloads and states of servers as they happen",
        "events --types server --exec 'jq -r .object | mail -s event ops'",
    ),
    "stats": ("watch", "show traffic, denied requests and errors of frontends, backends and servers", "stats shop"),
    "top": ("watch", "show the columns of stats, updated every second", "top --sort rate"),
    "workers": ("show", "show the processes of HAProxy", "workers"),
    "overrides": ("show", "show states and weights that only the running process has", "overrides"),
    "whoami": ("show", "show who you are to the server, and your permissions", "whoami"),
    "export": ("show", "show what an owner has declared, as a file for apply", "export --owner team-a > team-a.yaml"),
    "call": ("call", "call any operation of the API by its id", "call getServerBackend --parent_name shop --name web1"),
    "context": ("context", "list the configured servers, and choose one", "context use edge"),
    "completion": ("completion", "print the completion script of a shell", "completion bash"),
    "follow": ("follow", "apply each new state of a file, a directory or an etcd key", "follow /etc/shop --owner team-a"),
}

# The commands by purpose, as the help lists them.
GROUPS = {
    "show": ("get", "stats", "top", "events", "workers", "explain", "references"),
    "change objects": ("create", "set", "edit", "delete", "rename", "weight", "map", "cert", "raw", "reload"),
    "take servers in and out of service, and move traffic": ("ready", "maint", "drain", "split"),
    "declare what you own": ("plan", "apply", "export", "follow"),
    "review and undo": ("history", "revert", "confirm", "drift", "overrides", "lint", "test"),
    "several servers": ("rollout", "compare", "copy", "fleet"),
    "other": ("context", "whoami", "call", "completion"),
}
OBJECTS = """\
Objects are named by kind and name: backend/shop, backend/shop/server/web1, frontend/site/bind/tls, map/hosts.map. Rules have an index:
backend/shop/http_request_rule/0."""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Failure(f"{message}; see {self.prog} --help")


def common() -> Parser:
    """Return a parser for the options of all commands. These options may be anywhere in the command line."""
    made = Parser(prog=PROGRAM, add_help=False, allow_abbrev=False)
    made.add_argument("-o", "--output", choices=FORMATS, help="format of the result (default table)")
    made.add_argument(
        "--context", metavar="NAME", help=f"use the server and credentials of this context ({PROGRAM} context --help) [{PREFIX}CONTEXT]"
    )
    for name, text in MEMBERS.items():
        if name not in SECRETS:
            made.add_argument(f"--{name.replace('_', '-')}", metavar=_METAVARS.get(name, "FILE"), help=f"{text} [{PREFIX}{name.upper()}]")
    return made


def parser() -> Parser:
    """Return the parser of `dataplaneapi ctl` itself, with a list of its commands."""
    groups = ("\n".join([f"{title}:", *(f"  {name:<12}{COMMANDS[name][1]}" for name in names)]) for title, names in GROUPS.items())
    commands = "\n\n".join(groups)
    made = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} COMMAND [OPTION ...]",
        description="Operate a Data Plane API from the command line. The variables in brackets have the same effect as their options.",
        epilog=f"{commands}\n\n{OBJECTS}\n{PROGRAM} COMMAND --help has the options of each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[common()],
        add_help=False,
        allow_abbrev=False,
    )
    made.add_argument("-h", "--help", action="help", help="show this and exit")
    return made


def command_parser(name: str) -> Parser:
    _, text, example = COMMANDS[name]
    made = Parser(
        prog=f"{PROGRAM} {name}",
        description=text[0].upper() + text[1:] + ".",
        epilog=f"example: {PROGRAM} {example}\n\n{PROGRAM} --help has the options that all commands take: server, credentials, output.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if add_arguments := getattr(_module(name), f"{name}_arguments", None):
        add_arguments(made)
    return made


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"dataplaneapi.ctl.commands.{COMMANDS[name][0]}")


def run(argv: Sequence[str]) -> int:
    """Run a command line and return its exit status. Raises Failure."""
    # The words after --words are a command line to complete, whose options may be incomplete.
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
    made = command_parser(name)
    # Options may be anywhere, also between positional arguments. All words after `call` belong to its operation.
    parse = made.parse_args if name == "call" else made.parse_intermixed_args
    parse(rest[1:], given)
    given.command = name
    session = Session(given)
    try:
        return int(getattr(_module(name), f"run_{name}")(session))
    finally:
        session.close()


def main(argv: Sequence[str]) -> NoReturn:
    """Run a command line and exit with its status."""
    # sys.stdout or sys.stderr is None if it was closed before the start.
    sys.stdout, sys.stderr = (Output(each or open(os.devnull, "w")) for each in (sys.stdout, sys.stderr))  # noqa: SIM115
    try:
        try:
            status = run(argv)
        finally:
            sys.stdout.flush()
    except Failure as failure:
        details: list[str] = []
        if isinstance(failure, RefusedCall) and isinstance(failure.body, dict):
            from dataplaneapi.ctl.commands.apply import conflict_lines

            missing = failure.body.get("plan", {}).get("lines", ())
            details = [*conflict_lines(failure.body), *(f"    {line}" for line in missing)]
        print(f"{PROGRAM}: {failure}", *details, sep="\n", file=sys.stderr)
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
    """Discard the buffered output, so that Python does not try to write it again when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
