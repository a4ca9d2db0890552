"""Certificates, authorities and revocation lists in the process.

What one was made of is known where a file has it, or where a call that the history keeps has brought it: HAProxy shows no keys, so that
each is recognised by what it does show.
"""

import asyncio
import posixpath
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.shown import Shown
from haproxy_native.editing.object_names import parsed
from haproxy_native.errors import BadRequest, Conflict, RuntimeRefused
from haproxy_native.process_objects.object_kind import ObjectKind
from haproxy_native.runtime import ssl_files
from haproxy_native.runtime.ssl_files import Kind
from haproxy_native.storage import ssl_shown
from haproxy_native.storage.certificate_step import served_text

NOT_THERE = "ot found"


class TlsFiles(ObjectKind):
    def __init__(self, context: CommitContext, kind: Kind) -> None:
        super().__init__(context)
        self._kind = kind

    async def look(self, object_: str, given: bytes | None = None) -> Shown:
        name = parsed(object_)[1]
        try:
            members = ssl_shown.described(self._kind, await ssl_files.show(self.runtime, self._kind, name))
        except RuntimeRefused as error:
            if NOT_THERE not in error.answer:
                raise
            return Shown(None)
        former = await self.context.held_of(object_) if self.context.held_of else None
        return Shown(members, await asyncio.to_thread(self._content, name, members, given, former or ()))

    def _content(self, name: str, members: dict[str, Any], given: bytes | None, former: Iterable[bytes]) -> bytes | None:
        known = [*self._filed(name), *former]
        # Certificates may have been added to what was there.
        brought = [given, *(data + given for data in known)] if given else []
        return next((data for data in [*brought, *known] if ssl_shown.is_shown(self._kind, data, members)), None)

    def _filed(self, name: str) -> Iterator[bytes]:
        path = Path(posixpath.normpath(posixpath.join(self.context.current.path.parent, name)))
        with suppress(OSError, BadRequest, RuntimeRefused):
            if (text := served_text(path)) is not None:
                yield text.encode("utf-8", "surrogateescape")

    async def make(self, object_: str, now: Shown, wanted: Shown) -> None:
        name = parsed(object_)[1]
        if wanted.members is None:
            return await ssl_files.delete(self.runtime, self._kind, name)
        if wanted.data is None:
            raise Conflict(
                f"the content of what HAProxy had ({ssl_shown.mark_of(wanted.members)}) is not known: the file of that name has another "
                "or is not there, and no call that is kept has brought it; upload it again"
            )
        text = wanted.data.decode("utf-8", "surrogateescape")
        await (ssl_files.create if now.members is None else ssl_files.replace)(self.runtime, self._kind, name, text)
