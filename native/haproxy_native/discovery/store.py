"""Definitions on disk, in the files of the reference; they hold tokens and keys, so only their owner may read them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from haproxy_native.discovery.definitions import check_required
from haproxy_native.discovery.services import Definition
from haproxy_native.disk.atomic import write_atomically
from haproxy_native.disk.directories import Directory
from haproxy_native.errors import BadValue, Unreadable

DIRECTORY = "service_discovery"


class DefinitionStore:
    """`{"<member>": [definition, ...]}` in service_discovery/`file` of the storage directory."""

    def __init__(self, directory: Directory, file: str, member: str) -> None:
        self.directory, self.file, self.member = directory, file, member

    @property
    def path(self) -> Path:
        return self.directory.path / DIRECTORY / self.file

    def read(self) -> list[Definition]:
        """Returns the definitions; none if the file is empty or missing. Raises Unusable, and Unreadable rather than lose what is there."""
        self.directory.readable()
        path = self.path
        try:
            text = path.read_text() if path.exists() else ""
            entries = json.loads(text)[self.member] if text.strip() else []
            definitions = [dict(entry) for entry in entries or []]
            for definition in definitions:
                check_required(definition, self.member)
            return definitions
        except OSError as error:
            raise self.directory.unusable(error) from error
        except (BadValue, KeyError, TypeError, ValueError) as error:
            raise Unreadable(f"{path} holds no {self.member}: {type(error).__name__} {error}; mend it or remove it") from error

    def write(self, definitions: Iterable[Definition]) -> None:
        """Raises Unusable with the former content in place."""
        content: dict[str, Any] = {self.member: [dict(sorted(definition.items())) for definition in definitions]}
        with self.directory.used() as directory:
            (directory / DIRECTORY).mkdir(mode=0o750, exist_ok=True)
            write_atomically(self.path, json.dumps(content, indent=2, ensure_ascii=False).encode())
