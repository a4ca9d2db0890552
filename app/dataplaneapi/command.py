"""Where the command `dataplaneapi` begins: it runs the client for the command line, `lint`, `test`, or the server's own command."""

import sys


def main() -> None:
    if sys.argv[1:2] == ["ctl"]:
        from dataplaneapi.ctl.main import main as client

        client(sys.argv[2:])
    if sys.argv[1:2] == ["lint"]:
        from dataplaneapi.lint_files import main as lint

        lint(sys.argv[2:])
    if sys.argv[1:2] == ["test"]:
        from dataplaneapi.routing_test import main as test

        test(sys.argv[2:])
    from dataplaneapi.cli import main as server

    server()


if __name__ == "__main__":
    main()
