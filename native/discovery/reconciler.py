"""Carries what sources tell into the configuration, through the one commit, one source after the other.

The file itself is what is compared with: an edit by hand, or a reload that failed, is mended by the next look.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from native.config.copies import write_copy
from native.config.editor import Editor
from native.discovery.backends import with_service, without_service
from native.discovery.poller import Applied, Source
from native.discovery.services import Definition, Found
from native.discovery.slots import Growth
from native.engine import Engine
from native.errors import NativeError, Refused
from native.text.document import Document

log = logging.getLogger(__name__)
Edit = Callable[[Document], Document]


class Reconciler:
    """`file` remembers the backends of each definition, so that what vanishes while the server is down is noticed."""

    def __init__(self, engine: Engine, editor: Editor, file: Path) -> None:
        self.engine, self.editor, self.file = engine, editor, file
        self._lock = asyncio.Lock()
        self._backends = _remembered(file)

    async def apply(self, definition: Definition, source: Source, found: Found) -> Applied:
        """Raises what keeps everything from being committed."""
        async with self._lock:
            known, growth = set(self._backends.get(definition["id"], ())), Growth.of(definition)
            wanted = {source.prefix + service: endpoints for service, endpoints in found.services.items()}
            unsure = {source.prefix + service for service in found.unknown}
            edits: dict[str, Edit] = {}
            for name in sorted(wanted):
                edits[name] = partial(
                    with_service, self.editor, name=name, wanted=wanted[name], growth=growth, defaults=definition.get("defaults")
                )
            for name in sorted(known - set(wanted) - unsure):
                edits[name] = partial(without_service, self.editor, name=name, growth=growth)
            self._remember(definition["id"], known | set(wanted))
            troubles, reload_id = await self._commit(edits)
            gone = {name for name in edits if name not in wanted and name not in troubles}
            self._remember(definition["id"], (known | set(wanted)) - gone)
        told = [f"{name}: {text}" for name, text in {**found.unknown, **troubles}.items()]
        return Applied(told, reload_id)

    def forget(self, identity: str) -> None:
        self._remember(identity, set())

    async def _commit(self, edits: Mapping[str, Edit]) -> tuple[dict[str, str], str | None]:
        """What could not be done, by backend; what HAProxy refuses in one of them does not keep the others back."""
        troubles: dict[str, str] = {}
        changing: dict[str, Edit] = {}
        for name, edit in edits.items():
            try:
                if edit(self.engine.document) is not self.engine.document:
                    changing[name] = edit
            except NativeError as error:
                troubles[name] = str(error)
        if not changing:
            return troubles, None
        try:
            return troubles, (await self.engine.amend(_together(changing))).reload_id
        except Refused:
            if len(changing) == 1:
                raise
        reload_id = None
        for name, edit in changing.items():
            try:
                reload_id = (await self.engine.amend(edit)).reload_id or reload_id
            except Refused as error:
                troubles[name] = str(error)
        return troubles, reload_id

    def _remember(self, identity: str, backends: set[str]) -> None:
        told = {**self._backends, identity: sorted(backends)}
        told = {name: each for name, each in told.items() if each}
        if told == self._backends:
            return
        self._backends = told
        try:
            self.file.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
            write_copy(self.file, json.dumps(told, indent=2).encode() + b"\n", lasting=False)
        except OSError as error:
            log.warning("cannot write %s: %s; services that vanish while the server is down keep their servers", self.file, error.strerror)


def _together(edits: Mapping[str, Edit]) -> Edit:
    def edit(document: Document) -> Document:
        for each in edits.values():
            document = each(document)
        return document

    return edit


def _remembered(file: Path) -> dict[str, list[str]]:
    with suppress(OSError, ValueError, TypeError, AttributeError):
        return {str(name): list(map(str, backends)) for name, backends in json.loads(file.read_bytes()).items()}
    return {}
