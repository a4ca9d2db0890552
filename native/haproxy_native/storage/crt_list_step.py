"""Updates HAProxy's memory for one crt-list: new entries are added at the end, then removed ones are deleted."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from haproxy_native.errors import NotLive, RuntimeAbsent, RuntimeFailure, RuntimeRefused
from haproxy_native.runtime import crt_lists, ssl_files
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.ssl_files import CERTIFICATES
from haproxy_native.storage import crt_list
from haproxy_native.storage.certificate_step import needs_reload, served_text
from haproxy_native.storage.crt_list import CrtListLine


@dataclass(frozen=True)
class CrtListStep:
    """`name`: the one by which HAProxy has loaded the list; `former`: the text that it has read."""

    path: Path
    name: str
    former: str

    @property
    def texts(self) -> Sequence[str]:
        return [f"{verb} ssl crt-list {self.name} ..." for verb in ("add", "del")]

    async def carry_out(self, runtime: Runtime) -> None:
        """Raises RuntimeRefused with the process as it was, NotLive where only a reload will do."""
        text = await asyncio.to_thread(self._now)
        old, new = crt_list.entries(self.former), crt_list.entries(text)
        shown = await crt_lists.entries(runtime, self.name)
        if [(row.file, row.filters) for row in shown] != [(row.file, row.filters) for row in old]:
            raise NotLive(f"HAProxy has other entries in {self.path.name} than stood there")
        difference = crt_list.difference(old, new)
        if difference is None:
            raise NotLive(crt_list.obstacle(self.former, text))
        gone = [shown[place] for place in difference.removed]
        await self._add(runtime, difference.added)
        await self._delete(runtime, gone)
        await self._prove(runtime, new)

    async def take_back(self, runtime: Runtime) -> None:
        raise RuntimeAbsent(f"the entries of {self.path.name} cannot be put back in their order")

    def _now(self) -> str:
        try:
            return self.path.read_text("utf-8", "surrogateescape")
        except OSError as error:
            raise NotLive(f"{self.path} cannot be read: {error.strerror}") from error

    async def _add(self, runtime: Runtime, entries: Sequence[CrtListLine]) -> None:
        """All or none of them."""
        before = len(await crt_lists.entries(runtime, self.name))
        try:
            for entry in entries:
                await self._load(runtime, entry.file)
                await crt_lists.add(runtime, self.name, entry.file, entry.options, entry.filters)
        except RuntimeRefused as error:
            for row in reversed((await crt_lists.entries(runtime, self.name))[before:]):
                await crt_lists.delete(runtime, self.name, row.file, row.line)
            if needs_reload(error):
                raise NotLive(error.answer) from error
            raise

    async def _load(self, runtime: Runtime, file: str) -> None:
        """The certificate of an entry has to be in memory first."""
        if file in ssl_files.names(await ssl_files.show(runtime, CERTIFICATES)):
            return
        if not file.startswith("/"):
            raise NotLive(f"where {file} is to be found is known to HAProxy only")
        pem = await asyncio.to_thread(served_text, Path(file))
        if pem is None:
            raise RuntimeRefused(f"unable to stat SSL certificate from file '{file}'", f"add ssl crt-list {self.name} {file}")
        await ssl_files.create(runtime, CERTIFICATES, file, pem)

    async def _delete(self, runtime: Runtime, gone: Sequence[ssl_files.CrtListRow]) -> None:
        try:
            for row in gone:
                await crt_lists.delete(runtime, self.name, row.file, row.line)
        except RuntimeFailure as error:
            # The default certificate among others; what was added is there after the reload, too.
            raise NotLive(str(error)) from error

    async def _prove(self, runtime: Runtime, wanted: Sequence[CrtListLine]) -> None:
        shown = await crt_lists.entries(runtime, self.name)
        if [(row.file, row.filters) for row in shown] != [(row.file, row.filters) for row in wanted]:
            raise NotLive(f"HAProxy shows other entries for {self.path.name} than it was given")
