"""Where the command `dataplaneapi` begins: it runs the client for the command line, a command of another module, or the server's own."""

import sys


def main() -> None:
    if sys.argv[1:2] == ["ctl"]:
        from dataplaneapi.ctl.main import main as client

        client(sys.argv[2:])
    if sys.argv[1:2] == ["lint"]:
        from dataplaneapi.lint_files import main as lint

        lint(sys.argv[2:])
    if sys.argv[1:2] in (["backup"], ["restore"]):
        from dataplaneapi.backup import main as backup

        backup(sys.argv[1], sys.argv[2:])
    if sys.argv[1:2] == ["test"]:
        from dataplaneapi.routing_test import main as test

        test(sys.argv[2:])
    from dataplaneapi.cli import main as server

    server()


if __name__ == "__main__":
    main()
