"""Writes the maps of HAProxy's memory to their files at intervals, for the maps of the storage directory.

A file that another process has edited since the worker read it is left alone: it is newer than what would be written into it.
"""

import asyncio
import logging
from pathlib import Path

from haproxy_native.commit.context import CommitContext
from haproxy_native.errors import NativeError, RuntimeFailure
from haproxy_native.request_context import Author
from haproxy_native.runtime.client import Worker
from haproxy_native.storage.live_maps import LiveMap
from haproxy_native.storage.map_store import MapStore

log = logging.getLogger(__name__)
AUTHOR = Author("map_sync")


class MapSync:
    """`run` until it is cancelled; `once` is one round."""

    def __init__(self, context: CommitContext, store: MapStore, seconds: float) -> None:
        self._context, self._store, self._seconds = context, store, seconds
        self._complained: dict[str, str] = {}

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            try:
                await self.once()
            except RuntimeFailure as error:
                self._complain("", f"map files are not brought up to date: {error}")
            except Exception:
                log.exception("map files are not brought up to date")

    async def once(self) -> list[str]:
        """The files that were changed. Raises RuntimeFailure."""
        worker = await self._context.runtime.worker()
        managed = await self._store.all_loaded(self._context)
        return [str(path) for path, map_ in managed.items() if await self._follow(path, map_.name, worker)]

    async def _follow(self, path: Path, name: str, worker: Worker) -> bool:
        if str(path) in self._context.ledger.entries:
            return False
        try:
            if not self._context.ledger.is_known(path, worker):
                self._complain(str(path), f"{path} is newer than what HAProxy has loaded of it, and stays as it is")
                return False
            changed = await LiveMap(self._context, self._store, path, AUTHOR, name).follow()
        except RuntimeFailure:
            raise
        except NativeError as error:
            self._complain(str(path), f"{path} is not brought up to date: {error}")
            return False
        self._complained.pop(str(path), None)
        return changed

    def _complain(self, about: str, text: str) -> None:
        """Once, until it changes."""
        if self._complained.get(about) != text:
            self._complained[about] = text
            log.warning("%s", text)
