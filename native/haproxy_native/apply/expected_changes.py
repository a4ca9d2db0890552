"""Changes of texts and files as a whole that are made as they were planned, or not at all."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from haproxy_native.apply.moves import Moves, refuse_moved
from haproxy_native.apply.owners import digest
from haproxy_native.commit.change import Change, Contents
from haproxy_native.commit.preview import difference
from haproxy_native.editing.object_names import spelled
from haproxy_native.engine import Engine
from haproxy_native.text.document import Document


def _moves(before: Document, after: Document, name: str, kinds: Mapping[Path, str], now: Contents, wanted: Contents) -> Moves:
    """Returns what changes in texts and files as a whole. `name` is the main text's, `kinds` are those of the files."""
    files = {spelled(kind, path.name): digest([now[path], wanted[path]]) for path, kind in kinds.items()}
    return {name: digest(difference(before, after, name)), **files}


def moves_now(engine: Engine, change: Change) -> Moves:
    """Returns what a change does to texts and files as they are. Blocks. Raises what its edits raise, and OSError."""
    stores = change.files.stores if change.files else {}
    now = {path: _content(path) for path in stores}
    wanted = change.files.edit(now) if change.files else {}
    kinds, before = {path: store.kind for path, store in stores.items()}, engine.document
    return _moves(before, change.edit(before), engine.context.current.path.name, kinds, now, wanted)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def unmoved(change: Change, planned: Moves, name: str) -> Change:
    """The change, which raises Moved where it would do anything else than what was planned."""
    edits = change.files
    files: list[Contents] = [{}, {}]

    def edit_files(now: Contents) -> Contents:
        assert edits
        files[:] = [now, edits.edit(now)]
        return files[1]

    def edit(before: Document) -> Document:
        after = change.edit(before)
        kinds = {path: store.kind for path, store in edits.stores.items()} if edits else {}
        refuse_moved(planned, _moves(before, after, name, kinds, *files))
        return after

    return replace(change, edit=edit, files=replace(edits, edit=edit_files) if edits else None)
