"""Updates HAProxy's memory for one file of TLS.

A certificate file is replaced, added to the directories that are lists, or deleted; of a crt-list new entries are added at the end, then
removed ones are deleted.
"""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from haproxy_native.errors import BadRequest, NotLive, RuntimeAbsent, RuntimeConflict, RuntimeFailure, RuntimeRefused
from haproxy_native.runtime import ssl_files
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.ssl_files import CERTIFICATES
from haproxy_native.storage import certificate, crt_list
from haproxy_native.storage.crt_list import CrtListLine

_NOT_OF_THE_FILE = re.compile(r"too big|closed the connection|Unknown command|must contain the directory path")


def needs_reload(error: RuntimeRefused) -> bool:
    """Return whether a refusal says nothing against the file, so that a reload will load it."""
    return isinstance(error, RuntimeConflict) or _NOT_OF_THE_FILE.search(error.answer) is not None


@dataclass(frozen=True)
class CertificateStep:
    """`names`: those by which HAProxy has loaded the file; `directories`: lists that it joins where it has not."""

    path: Path
    names: Sequence[str]
    directories: Sequence[str] = ()

    @property
    def texts(self) -> Sequence[str]:
        changes = [f"set ssl cert {name}" for name in self.names] or [f"new ssl cert {self.path}"]
        return [*changes, *(f"add ssl crt-list {name} {self.path}" for name in self.directories if not self.names)]

    async def apply(self, runtime: Runtime) -> None:
        """Raises RuntimeRefused with the process as it was, NotLive where only a reload will do."""
        pem = await asyncio.to_thread(served_text, self.path)
        try:
            if pem is None:
                await self._delete(runtime)
            elif self.names:
                await self._replace(runtime, pem)
            else:
                await self._create(runtime, pem)
        except RuntimeRefused as error:
            if needs_reload(error):
                raise NotLive(error.answer) from error
            raise

    async def undo(self, runtime: Runtime) -> None:
        """Nothing follows a certificate that could be refused."""
        raise NotLive(f"{self.path.name} cannot be taken back")

    async def _replace(self, runtime: Runtime, pem: str) -> None:
        for place, name in enumerate(self.names):
            try:
                await ssl_files.replace(runtime, CERTIFICATES, name, pem)
            except RuntimeRefused as error:
                if place:
                    raise NotLive(error.answer) from error
                raise
            await prove(runtime, name, pem)
        await self._join(runtime, self.names[0])

    async def _create(self, runtime: Runtime, pem: str) -> None:
        """Creates the certificate; removes it from memory if it cannot join a list."""
        # In a directory that is a list by the name which HAProxy would give it there.
        name = "/".join([self.directories[0].rstrip("/") if self.directories else str(self.path.parent), self.path.name])
        await ssl_files.create(runtime, CERTIFICATES, name, pem)
        try:
            await self._join(runtime, name)
        except RuntimeRefused:
            with suppress(RuntimeRefused):
                await ssl_files.delete(runtime, CERTIFICATES, name)
            raise
        await prove(runtime, name, pem)

    async def _join(self, runtime: Runtime, name: str) -> None:
        for directory in self.directories:
            if not await _is_in(runtime, directory, name):
                await ssl_files.add_crt_list_entry(runtime, directory, name)

    async def _delete(self, runtime: Runtime) -> None:
        for name in self.names:
            for directory in self.directories:
                if await _is_in(runtime, directory, name):
                    await ssl_files.delete_crt_list_entry(runtime, directory, name)
            await ssl_files.delete(runtime, CERTIFICATES, name)


async def _is_in(runtime: Runtime, directory: str, name: str) -> bool:
    return any(entry.file == name for entry in await ssl_files.read_crt_list(runtime, directory))


@dataclass(frozen=True)
class CertificateSeen:
    """Only looks: whether HAProxy has the file's content already, from a client that then stored it."""

    path: Path
    names: Sequence[str]

    @property
    def texts(self) -> Sequence[str]:
        return [f"show ssl cert {name}" for name in self.names]

    async def apply(self, runtime: Runtime) -> None:
        """Raises NotLive where it was not."""
        pem = await asyncio.to_thread(served_text, self.path)
        for name in self.names:
            await prove(runtime, name, pem or "")

    async def undo(self, runtime: Runtime) -> None:
        """There is nothing to take back."""


def served_text(path: Path) -> str | None:
    """A certificate's file with the key that may stand beside it; None where there is no file."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotLive(f"{path} cannot be read: {error.strerror}") from error
    if not certificate.holds_key(data) and (key := key_beside(path)):
        data += b"\n" + key
    return data.decode("utf-8", "surrogateescape")


def key_beside(path: Path) -> bytes | None:
    try:
        return path.with_name(f"{path.name}.key").read_bytes()
    except OSError:
        return None


async def prove(runtime: Runtime, name: str, pem: str) -> None:
    """Verifies that HAProxy shows the certificate of a text. Raises NotLive."""
    try:
        wanted = certificate.read(pem.encode("utf-8", "surrogateescape"))
    except BadRequest as error:
        raise NotLive(error.detail) from error
    shown = ssl_files.parse_certificate(await ssl_files.show(runtime, CERTIFICATES, name))
    if not wanted.is_shown(shown):
        raise NotLive(f"HAProxy still shows another certificate for {name}")


@dataclass(frozen=True)
class CrtListStep:
    """`name`: the one by which HAProxy has loaded the list; `former`: the text that it has read."""

    path: Path
    name: str
    former: str

    @property
    def texts(self) -> Sequence[str]:
        return [f"{verb} ssl crt-list {self.name} ..." for verb in ("add", "del")]

    async def apply(self, runtime: Runtime) -> None:
        """Raises RuntimeRefused with the process as it was, NotLive where only a reload will do."""
        text = await asyncio.to_thread(self._now)
        old, new = crt_list.entries(self.former), crt_list.entries(text)
        shown = await ssl_files.read_crt_list(runtime, self.name)
        if [(row.file, row.filters) for row in shown] != [(row.file, row.filters) for row in old]:
            raise NotLive(f"HAProxy has other entries in {self.path.name} than stood there")
        difference = crt_list.difference(old, new)
        if difference is None:
            raise NotLive(crt_list.obstacle(self.former, text))
        gone = [shown[place] for place in difference.removed]
        await self._add(runtime, difference.added)
        await self._delete(runtime, gone)
        await self._prove(runtime, new)

    async def undo(self, runtime: Runtime) -> None:
        raise RuntimeAbsent(f"the entries of {self.path.name} cannot be put back in their order")

    def _now(self) -> str:
        try:
            return self.path.read_text("utf-8", "surrogateescape")
        except OSError as error:
            raise NotLive(f"{self.path} cannot be read: {error.strerror}") from error

    async def _add(self, runtime: Runtime, entries: Sequence[CrtListLine]) -> None:
        """All or none of them."""
        before = len(await ssl_files.read_crt_list(runtime, self.name))
        try:
            for entry in entries:
                await self._load(runtime, entry.file)
                await ssl_files.add_crt_list_entry(runtime, self.name, entry.file, entry.options, entry.filters)
        except RuntimeRefused as error:
            for row in reversed((await ssl_files.read_crt_list(runtime, self.name))[before:]):
                await ssl_files.delete_crt_list_entry(runtime, self.name, row.file, row.line)
            if needs_reload(error):
                raise NotLive(error.answer) from error
            raise

    async def _load(self, runtime: Runtime, file: str) -> None:
        """The certificate of an entry has to be in memory first."""
        if file in ssl_files.parse_names(await ssl_files.show(runtime, CERTIFICATES)):
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
                await ssl_files.delete_crt_list_entry(runtime, self.name, row.file, row.line)
        except RuntimeFailure as error:
            # The default certificate among others; what was added is there after the reload, too.
            raise NotLive(str(error)) from error

    async def _prove(self, runtime: Runtime, wanted: Sequence[CrtListLine]) -> None:
        shown = await ssl_files.read_crt_list(runtime, self.name)
        if [(row.file, row.filters) for row in shown] != [(row.file, row.filters) for row in wanted]:
            raise NotLive(f"HAProxy shows other entries for {self.path.name} than it was given")
