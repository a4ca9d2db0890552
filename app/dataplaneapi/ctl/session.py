"""One run of a command: what was given, the client of its server, and what it prints."""

import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from dataplaneapi.ctl import contexts, formats, tables, terminal
from dataplaneapi.ctl.client import Client

FORMATS = ("table", "json", "yaml", "name", "cfg")


class Session:
    def __init__(self, given: Namespace) -> None:
        self.given = given
        self.format: str = getattr(given, "output", None) or "table"
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        if self._client is None:
            self._client = Client(contexts.of(self.given))
        return self._client

    @property
    def colours(self) -> bool:
        return terminal.has_colours(sys.stdout)

    def close(self) -> None:
        if self._client:
            self._client.close()

    def show(self, value: Any, as_table: Callable[[Any], str]) -> None:
        """Prints a value in the format that was asked for; `as_table` makes the text of tables."""
        if self.format == "json":
            self.write(formats.to_json(value))
        elif self.format == "yaml":
            self.write(formats.to_yaml(value))
        else:
            self.write(as_table(value))

    def show_list(self, kind: str, found: list[Any], key: str = "name") -> None:
        self.show(found, lambda rows: tables.of_objects(kind, rows, key, colours=self.colours))

    def show_one(self, found: Any) -> None:
        self.show(found, lambda one: tables.of_one(one, colours=self.colours))

    def write(self, text: str) -> None:
        sys.stdout.write(text)

    def note(self, text: str) -> None:
        """What is no result."""
        print(text, file=sys.stderr)
