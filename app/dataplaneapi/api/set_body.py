"""Forms of a configuration and stored files: texts in memory, files as drafts that become no files, each part checked as it begins."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from dataplaneapi.api.bodies import WHOLE_BYTES
from dataplaneapi.api.call import Call
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.upload import Part
from dataplaneapi.open_engine import STORES
from haproxy_native.beside import beside
from haproxy_native.changes.file_operations import PutFile
from haproxy_native.changes.operations import PutText, text_as_sent
from haproxy_native.commit.change import Operation
from haproxy_native.disk.file import drafts_aside
from haproxy_native.editing.secrets import refuse_masked_text
from haproxy_native.errors import BadRequest, Exists, NotFound
from haproxy_native.storage.store import Store, Upload, is_file_name

CONFIGURATION = "configuration"


@asynccontextmanager
async def received(call: Call) -> AsyncIterator[Sequence[Operation]]:
    """What the form does to the configuration and to stored files; its drafts are gone afterwards. Raises ApiError that names the part."""
    async with drafts_aside():
        form = SetForm(call)
        try:
            async for part in call.body.parts():
                if isinstance(part, Part):
                    await form.begin(part)
                else:
                    await form.append(part)
            call.body.check_ended()
            await form.end()
            yield [*form.texts.values(), *form.files]
        finally:
            for upload in form.uploads.values():
                upload.discard()


@asynccontextmanager
async def received_file(call: Call) -> AsyncIterator[PutFile]:
    """What the content that is sent makes of the stored file that the call names; it is gone afterwards. Raises ApiError."""
    stores: Mapping[str, Store] = call.services.engine.stores
    if (store := stores.get(call.path.store)) is None:
        raise ApiError(404, f"there is no store {call.path.store}, but {', '.join(stores)}")
    async with drafts_aside():
        upload = await asyncio.to_thread(store.upload, call.path.name, call.author)
        try:
            async for piece in call.body.pieces():
                await upload.append(piece)
            yield await upload.operation()
        finally:
            upload.discard()


class SetForm:
    """`begin` and `append` as the parts arrive, `end` after them; then `texts` and `files` are whole. The caller discards `uploads`."""

    def __init__(self, call: Call) -> None:
        self.texts: dict[str, PutText] = {}
        self.files: list[PutFile] = []
        self.uploads: dict[Path, Upload] = {}
        self._call = call
        self._largest = WHOLE_BYTES if call.services.settings.max_body_size is None else call.services.settings.max_body_size
        # Of the part that is arriving: its file, or the name of its text in `texts` and what has come of that.
        self._upload: Upload | None = None
        self._text: str | None = None
        self._part, self._pieces, self._held = "", bytearray(), 0

    async def begin(self, part: Part) -> None:
        await self._finish()
        self._part = f"part {part.name}" + (f", {part.file}" if part.file else "")
        try:
            if part.name == CONFIGURATION:
                self._text = self._begun_text(part)
            else:
                self._upload = upload = await asyncio.to_thread(self._begun_file, part)
                self.uploads[upload.path] = upload
        except (Exists, BadRequest, NotFound) as error:
            raise ApiError(400, f"{self._part}: {error}") from None

    async def append(self, data: bytes) -> None:
        if self._upload:
            return await self._upload.append(data)
        self._pieces += data
        if self._largest and self._held + len(self._pieces) > self._largest:
            most = f"the maximum allowed size of {self._largest} bytes, which the setting max_body_size changes"
            raise ApiError(413, f"{self._part}: texts exceed {most}")

    async def end(self) -> None:
        await self._finish()
        if not self.texts and not self.files:
            raise ApiError(400, f"the form has no part; send {_known()}")

    async def _finish(self) -> None:
        """The part has arrived."""
        if (name := self._text) is not None:
            text, self._text, self._pieces = bytes(self._pieces), None, bytearray()
            refuse_masked_text(text)
            self.texts[name] = PutText(name, await beside(text_as_sent, text))
            self._held += len(text)
        elif upload := self._upload:
            self._upload = None
            try:
                self.files.append(await upload.operation())
            except BadRequest as error:
                raise ApiError(400, f"{self._part}: {error.detail}") from None

    def _begun_text(self, part: Part) -> str:
        name = self._call.services.engine.named(part.file or self._call.query.file)
        if name in self.texts:
            raise BadRequest("a part for this file of the configuration is sent already")
        return name

    def _begun_file(self, part: Part) -> Upload:
        """Raises Exists, BadRequest and Forbidden."""
        store = self._store(part.name)
        if not part.file:
            raise BadRequest("no file name: each of these parts needs one")
        if not is_file_name(part.file):
            raise BadRequest("the file name leaves the directory, send the last part of it")
        upload = store.upload(part.file, self._call.author)
        if upload.path in self.uploads:
            raise BadRequest(f"a part for {upload.path.name} is sent already")
        return upload

    def _store(self, name: str) -> Store:
        if name not in STORES:
            raise BadRequest(f"unknown, send {_known()}")
        stores: Mapping[str, Store] = self._call.services.engine.stores
        if name not in stores:
            raise BadRequest(f"there is no directory for {name}: set dataplaneapi.resources.{STORES[name]}")
        return stores[name]


def _known() -> str:
    return ", ".join((CONFIGURATION, *STORES))
