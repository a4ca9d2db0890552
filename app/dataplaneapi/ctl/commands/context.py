"""`ctl context`: list the contexts in the file of contexts, show a context, or make it the current context."""

import argparse
import os
from typing import Any

from dataplaneapi.ctl import contexts, files, output
from dataplaneapi.ctl.failures import OK, Failure
from dataplaneapi.ctl.session import Session

FILE = "~/.config/dataplaneapi/ctl.yaml"
EXAMPLE = """\
  current: edge
  contexts:
    edge:
      url: https://lb1.example.org:5556
      user: ann
      password_file: /home/ann/.lb1
"""


def context_arguments(parser: argparse.ArgumentParser) -> None:
    text = "list the contexts (default), make one the current one (use), or show one without its secrets"
    parser.add_argument("action", nargs="?", choices=("list", "use", "show"), default="list", help=text)
    parser.add_argument("name", nargs="?", help="name of a context; for show: default the current one")
    parser.epilog = f"A context is a server with credentials. {FILE} has them, for example:\n\n{EXAMPLE}\n{parser.epilog}"


def run_context(session: Session) -> int:
    given = session.given
    if given.action == "use":
        _set_current(given.name)
    elif given.action == "show":
        given.context = given.name or getattr(given, "context", None)
        context = contexts.context_of(given)
        session.show_one({"name": context.name or "-", "url": context.url, **_without_secrets(context.members)})
    else:
        current, known = contexts.read_contexts()
        rows: list[dict[str, Any]] = [
            {"current": name == current, "name": name, **_without_secrets(context)} for name, context in known.items()
        ]
        cells = [
            ["*" if row["current"] else "", row["name"], row.get("socket") or row.get("url") or contexts.DEFAULT_URL, row.get("user")]
            for row in rows
        ]
        table = output.table(("current", "name", "server", "user"), cells, colours=session.colours)
        session.show(rows, lambda _: table if rows else f"no contexts in {contexts.path()}\n")
    return OK


def _without_secrets(members: dict[str, str]) -> dict[str, str]:
    return {name: "(set)" if name in contexts.SECRETS else value for name, value in members.items()}


def _set_current(name: str | None) -> None:
    """Make `name` the current context in the file of contexts. Raises Failure."""
    _, known = contexts.read_contexts()
    if name not in known:
        raise Failure(f"context {name} is not in {contexts.path()}; there {'are ' + ', '.join(known) if known else 'is none'}")
    path = contexts.path()
    with open(path, encoding="utf-8") as file:
        text, mode = file.read(), os.fstat(file.fileno()).st_mode & 0o777
    lines = text.splitlines(keepends=True)
    current = files.to_yaml({"current": name})
    index = next((index for index, line in enumerate(lines) if line.startswith("current:")), None)
    if index is not None:
        lines[index] = current
    elif text.lstrip().startswith("{"):
        raise Failure(f"{path} is JSON; set its member `current` by hand")
    else:
        lines.insert(0, current)
    files.replace(path, "".join(lines), mode)
