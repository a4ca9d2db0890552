"""Whole texts and files that were planned, carried out as they were shown: one commit, or none where anything of it has moved."""

import asyncio
import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from haproxy_native.apply.owners import digest
from haproxy_native.commit.change import Change, Contents, FileEdits, Outcome
from haproxy_native.commit.commit import commit
from haproxy_native.commit.preview import difference
from haproxy_native.editing import header, patches
from haproxy_native.engine import Engine
from haproxy_native.errors import Missing, Moved
from haproxy_native.storage.coming import Coming
from haproxy_native.storage.store import Store
from haproxy_native.text.document import Document

MOVED = "what the plan changes, or what it left as it was, has been changed since; ask for a new plan"


@dataclass(frozen=True)
class Push:
    """`texts` by the names of the configuration's files; `files` as store, name and content."""

    texts: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    files: Sequence[tuple[str, str, bytes]] = field(default=(), repr=False)

    @classmethod
    def of(cls, texts: Mapping[str, bytes], files: Sequence[Coming]) -> "Push":
        """Blocks. Raises OSError."""
        return cls(texts, [(each.store.name, each.path.name, each.content.read_bytes()) for each in files if each.content])

    def as_bytes(self) -> bytes:
        texts = {name: base64.b64encode(data).decode() for name, data in self.texts.items()}
        return json.dumps({"texts": texts, "files": [[*names, base64.b64encode(data).decode()] for *names, data in self.files]}).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Push":
        kept = json.loads(data)
        texts = {name: base64.b64decode(text) for name, text in kept["texts"].items()}
        return cls(texts, [(store, name, base64.b64decode(content)) for store, name, content in kept["files"]])


@dataclass(frozen=True)
class Pushes:
    engine: Engine

    async def moves(self, push: Push) -> str:
        """A digest of all that a push changes now, from what to what."""
        read = await asyncio.to_thread(lambda: {path: _content(path) for path in self._paths(push)})
        return await asyncio.to_thread(self._digest, push, self.engine.document, read)

    async def carry_out(self, push: Push, moves: str, version: int | None) -> Outcome:
        """`moves`: as it was when it was planned. Raises Moved with nothing changed, and what a commit raises."""
        paths = self._paths(push)
        read: Contents = {}

        def edit_files(now: Contents) -> Contents:
            nonlocal read
            read = now
            return {path: content for path, (_, content) in paths.items()}

        def edit(before: Document) -> Document:
            if self._digest(push, before, read) != moves:
                raise Moved(MOVED)
            return self._pushed(push, before)

        edits = FileEdits({path: store for path, (store, _) in paths.items()}, edit_files) if paths else None
        return await commit(self.engine.context, Change(edit, version, whole=bool(push.texts), files=edits))

    def _paths(self, push: Push) -> Mapping[Path, tuple[Store, bytes]]:
        stores = self.engine.stores
        if gone := next((store for store, _, _ in push.files if store not in stores), None):
            raise Missing(f"there is no store {gone} any more")
        return {stores[store].directory / name: (stores[store], content) for store, name, content in push.files}

    def _pushed(self, push: Push, before: Document) -> Document:
        """With our own version lines: a text may have been read before it was sent."""
        texts = {name: header.without_versions(text) for name, text in push.texts.items()}
        return patches.sharing(self.engine.with_texts(texts, before), before, read=True) if texts else before

    def _digest(self, push: Push, before: Document, read: Contents) -> str:
        text = difference(before, self._pushed(push, before), self.engine.context.current.path.name)
        return digest([text, sorted((str(path), now) for path, now in read.items())])


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
