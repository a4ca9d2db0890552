"""Whole texts and files that were planned, carried out as they were shown: one commit, or none where anything of it has moved."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from haproxy_native.apply import live_values
from haproxy_native.apply.expected_changes import moves_now, unmoved
from haproxy_native.apply.live_values import Files
from haproxy_native.apply.moves import Moves, Values
from haproxy_native.beside import beside
from haproxy_native.commit.change import Change, FileEdits, Outcome
from haproxy_native.commit.commit import commit
from haproxy_native.editing import header, patches
from haproxy_native.editing.object_names import spelled
from haproxy_native.engine import Engine
from haproxy_native.errors import Missing
from haproxy_native.storage.coming import Coming
from haproxy_native.storage.store import Store
from haproxy_native.text.document import Document

# Bytes of the texts and of the files, as they are and as they would be: a plan of more is not kept.
LARGEST = 1 << 24


@dataclass(frozen=True)
class Push:
    """`texts` by the names of the configuration's files; `files` as store, name and content."""

    texts: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    files: Sequence[tuple[str, str, bytes]] = field(default=(), repr=False)

    @classmethod
    def of(cls, texts: Mapping[str, bytes], files: Sequence[Coming]) -> "Push | None":
        """Returns the push; None if it is too large to be kept. Blocks. Raises OSError."""
        there = [path for each in files for path in (each.path, each.content) if path and path.exists()]
        if sum(map(len, texts.values())) + sum(path.stat().st_size for path in there) > LARGEST:
            return None
        return cls(texts, [(file.store.name, file.path.name, file.content.read_bytes()) for file in files if file.content])

    def as_bytes(self) -> bytes:
        texts = {name: base64.b64encode(data).decode() for name, data in self.texts.items()}
        return json.dumps({"texts": texts, "files": [[*names, base64.b64encode(data).decode()] for *names, data in self.files]}).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Push":
        stored = json.loads(data)
        texts = {name: base64.b64decode(text) for name, text in stored["texts"].items()}
        return cls(texts, [(store, name, base64.b64decode(content)) for store, name, content in stored["files"]])


@dataclass(frozen=True)
class Pushes:
    engine: Engine

    async def moves(self, push: Push) -> Moves:
        """What a push changes now. Raises Missing for a store that there is no more."""
        change = self._change(push, None)
        return await beside(moves_now, self.engine, change)

    def files(self, push: Push) -> Files:
        """Returns the files by object. Raises Missing."""
        return {spelled(store.kind, path.name): (store, path) for path, (store, _) in self._paths(push).items()}

    async def carry_out(self, push: Push, moves: Moves, values: Values | None, version: int | None) -> Outcome:
        """`moves` and `values`: as they were when it was planned. Raises Moved with nothing changed, and what a commit raises."""
        change = unmoved(self._change(push, version), moves, self.engine.context.current.path.name)
        verify = live_values.verifying(self.engine.runtime, values, self.files(push))
        return await commit(self.engine.context, replace(change, verify=verify))

    def _change(self, push: Push, version: int | None) -> Change:
        paths = self._paths(push)
        wanted = {path: content for path, (_, content) in paths.items()}
        edits = FileEdits({path: store for path, (store, _) in paths.items()}, lambda _: wanted) if paths else None
        return Change(lambda before: self._pushed(push, before), version, whole=bool(push.texts), files=edits)

    def _paths(self, push: Push) -> Mapping[Path, tuple[Store, bytes]]:
        stores = self.engine.stores
        if gone := next((store for store, _, _ in push.files if store not in stores), None):
            raise Missing(f"there is no store {gone} any more")
        return {stores[store].directory / name: (stores[store], content) for store, name, content in push.files}

    def _pushed(self, push: Push, before: Document) -> Document:
        """Returns the pushed text with our version lines: it may have been read before it was sent."""
        texts = {name: header.without_versions(text) for name, text in push.texts.items()}
        return patches.sharing(self.engine.with_texts(texts, before), before, read=True) if texts else before
