"""Definitions on disk, in the files that the reference keeps them in; tokens and keys are in them, so only their owner may read them."""

import json
from collections.abc import Iterable
from typing import Any

from native.config.copies import write_copy
from native.config.directories import Directory
from native.discovery.definitions import REQUIRED
from native.discovery.services import Definition
from native.errors import Unreadable

DIRECTORY = "service_discovery"


class Store:
    """`{"<member>": [definition, ...]}` in service_discovery/`file` of the storage directory."""

    def __init__(self, directory: Directory, file: str, member: str) -> None:
        self.directory, self.file, self.member = directory, file, member

    def read(self) -> list[Definition]:
        """None are in a file that is empty or missing. Raises Unusable, and Unreadable rather than lose what is there."""
        path = self.directory.readable() / DIRECTORY / self.file
        try:
            text = path.read_text() if path.exists() else ""
            told = json.loads(text)[self.member] if text.strip() else []
            definitions = [dict(each) for each in told or []]
            if missing := [name for each in definitions for name in REQUIRED[self.member] if name not in each]:
                raise ValueError(f"a definition has no {missing[0]}")
            return definitions
        except OSError as error:
            raise self.directory.unusable(error) from error
        except (KeyError, TypeError, ValueError) as error:
            raise Unreadable(f"{path} holds no {self.member}: {type(error).__name__} {error}; mend it or remove it") from error

    def write(self, definitions: Iterable[Definition]) -> None:
        """Raises Unusable with the former content in place."""
        told: dict[str, Any] = {self.member: [dict(sorted(each.items())) for each in definitions]}
        with self.directory.used() as directory:
            (directory / DIRECTORY).mkdir(mode=0o750, exist_ok=True)
            write_copy(directory / DIRECTORY / self.file, json.dumps(told, indent=2, ensure_ascii=False).encode())
