"""The entry point of the command `dataplaneapi`: run a command of COMMANDS, such as the command-line client `ctl`, or the server."""

import sys
from importlib.util import find_spec
from pkgutil import resolve_name

# Functions that get the rest of the command line. A command of a feature exists only if the feature is installed.
COMMANDS = {
    "ctl": "dataplaneapi.ctl.main:main",
    "backup": "dataplaneapi.backup:main_of_backup",
    "restore": "dataplaneapi.backup:main_of_restore",
    "lint": "dataplaneapi.features.lint.command:main",
    "test": "dataplaneapi.features.routing_tests.command:main",
}


def main() -> None:
    command = COMMANDS.get(sys.argv[1], "") if len(sys.argv) > 1 else ""
    try:
        is_installed = bool(command) and find_spec(command.partition(":")[0]) is not None
    except ModuleNotFoundError:
        is_installed = False
    if is_installed:
        resolve_name(command)(sys.argv[2:])
    from dataplaneapi.cli import main as server

    server()


if __name__ == "__main__":
    main()
