"""Generate the man pages (sections 8 and 1) and the shell completions of the command from its own parser, for both packages."""

import argparse

import shtab
from argparse_manpage.manpage import Manpage

from dataplaneapi import cli
from dataplaneapi.ctl import main as ctl
from dataplaneapi.features.lint import command as lint
from dataplaneapi.version import VERSION

SHELLS = ("bash", "zsh", "fish")
# A page that is made twice is the same page.
DAY = "2026-01-01"
_FILE_ENDINGS = ("_file", "file", "_path", "_certificate", "_key", "_ca", "_bin", "_before", "_after", "_runtime")


class UnwrappedFormatter(argparse.HelpFormatter):
    """Leaves the wrapping to man; Python's differs between versions."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=10_000)


def pages() -> dict[str, str]:
    """File name to text."""
    return {"dataplaneapi.8": manual(), "dataplaneapi-ctl.1": client_manual(), "dataplaneapi-lint.1": lint_manual()} | {
        f"dataplaneapi.{shell}": completion(shell) for shell in SHELLS
    }


def manual() -> str:
    parser = cli.parser()
    others = "dataplaneapi ctl | lint | test | backup | restore [OPTION ...]"
    more = "See dataplaneapi-ctl(1), dataplaneapi-lint(1), and the option --help of the other commands."
    parser.usage = f"dataplaneapi [OPTION ...] [check | doctor], or {others}. {more}"
    page = Manpage(parser)
    page.source, page.date = f"dataplane-sidecar {VERSION}", DAY
    page.section, page.manual, page.description = 8, "Dataplane sidecar", "a REST API for HAProxy"
    return str(page)


def client_manual() -> str:
    parser = ctl.parser()
    parser.epilog = None
    commands = parser.add_subparsers(title="commands", prog=ctl.PROGRAM)
    for name, (_, text, _) in ctl.COMMANDS.items():
        command = commands.add_parser(name, parents=[ctl.command_parser(name)], add_help=False, help=text, description=text)
        command.formatter_class = UnwrappedFormatter
    page = Manpage(parser)
    page.source, page.date = f"dataplane-sidecar {VERSION}", DAY
    page.section, page.manual, page.description = 1, "Dataplane sidecar", "works with a Data Plane API from the command line"
    return str(page)


def lint_manual() -> str:
    page = Manpage(lint.parser())
    page.source, page.date = f"dataplane-sidecar {VERSION}", DAY
    page.section, page.manual, page.description = 1, "Dataplane sidecar", "finds probable mistakes in configurations of HAProxy"
    return str(page)


def completion(shell: str) -> str:
    parser = cli.parser()
    for action in parser._actions:
        if action.dest == "command":
            action.choices = (*cli.COMMANDS, *cli.FIRST_WORDS)
        elif complete := _places(action):
            action.complete = complete  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in shtab.complete(parser, shell=shell).splitlines()).strip() + "\n"


def _places(action: argparse.Action) -> dict[str, str] | None:
    if action.dest.endswith("_dir"):
        return shtab.DIRECTORY
    return shtab.FILE if action.dest.endswith(_FILE_ENDINGS) else None
