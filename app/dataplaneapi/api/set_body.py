"""Forms of a configuration and stored files: texts in memory, files in a throw-away directory, each part checked as it begins."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from dataplaneapi.api.bodies import WHOLE_BYTES
from dataplaneapi.api.call import Call
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.upload import Part
from dataplaneapi.open_engine import STORES
from haproxy_native.commit.permission import permit_file
from haproxy_native.editing.secrets import refuse_masked_text
from haproxy_native.errors import BadRequest, Exists, NotFound
from haproxy_native.planning.touches import CHANGE, CREATE
from haproxy_native.scratch import Scratch
from haproxy_native.storage import names
from haproxy_native.storage.coming import Coming
from haproxy_native.storage.store import Store
from haproxy_native.storage.upload import PIECE

CONFIGURATION = "configuration"


@asynccontextmanager
async def received(call: Call) -> AsyncIterator[tuple[Mapping[str, bytes], Sequence[Coming]]]:
    """The texts, by the names of their files, and the files, which are gone afterwards. Raises ApiError that names the part."""
    scratch = await asyncio.to_thread(Scratch, "set")
    try:
        form = SetForm(call, scratch.path)
        async for part in call.body.parts():
            if isinstance(part, Part):
                await form.begin(part)
            else:
                await form.append(part)
        call.body.check_ended()
        await form.end()
        yield form.texts, form.files
    finally:
        await asyncio.to_thread(scratch.remove)


class SetForm:
    """`begin` and `append` as the parts arrive, `end` after them; then `texts` and `files` are whole."""

    def __init__(self, call: Call, directory: Path) -> None:
        self.texts: dict[str, bytes] = {}
        self.files: list[Coming] = []
        self._paths: set[Path] = set()
        self._call, self._directory = call, directory
        self._largest = WHOLE_BYTES if call.services.settings.max_body_size is None else call.services.settings.max_body_size
        # Of the part that is arriving: its name in `texts`, None for a file, and what is not yet kept of it.
        self._text: str | None = None
        self._part, self._pieces, self._held = "", bytearray(), 0

    async def begin(self, part: Part) -> None:
        await self._keep()
        self._part = f"part {part.name}" + (f", {part.file}" if part.file else "")
        try:
            self._text = self._begun_text(part) if part.name == CONFIGURATION else None
            if self._text is None:
                self.files.append(await asyncio.to_thread(self._begun_file, part))
        except (Exists, BadRequest, NotFound) as error:
            raise ApiError(400, f"{self._part}: {error}") from None

    async def append(self, data: bytes) -> None:
        self._pieces += data
        if self._text is None and len(self._pieces) >= PIECE:
            await self._keep()
        if self._text is not None and self._largest and self._held + len(self._pieces) > self._largest:
            most = f"the maximum allowed size of {self._largest} bytes, which the setting max_body_size changes"
            raise ApiError(413, f"{self._part}: texts exceed {most}")

    async def end(self) -> None:
        await self._keep()
        if not self.texts and not self.files:
            raise ApiError(400, f"the form has no part; send {_known()}")

    async def _keep(self) -> None:
        pieces, self._pieces = bytes(self._pieces), bytearray()
        if self._text is not None:
            refuse_masked_text(pieces)
            self.texts[self._text] = pieces
            self._held += len(pieces)
            self._text = None
        elif self.files:
            await asyncio.to_thread(_append, self._directory / str(len(self.files) - 1), pieces)

    def _begun_text(self, part: Part) -> str:
        name = self._call.services.engine.named(part.file or self._call.get("file", ""))
        if name in self.texts:
            raise BadRequest("a part for this file of the configuration is sent already")
        return name

    def _begun_file(self, part: Part) -> Coming:
        """Raises Exists, BadRequest and Forbidden."""
        store = self._store(part.name)
        if not part.file:
            raise BadRequest("no file name: each of these parts needs one")
        if not names.is_element(part.file):
            raise BadRequest("the file name leaves the directory, send the last part of it")
        path = store.place(part.file)
        if path in self._paths:
            raise BadRequest(f"a part for {path.name} is sent already")
        permit_file(store.kind, path, CHANGE if path.exists() else CREATE)
        self._paths.add(path)
        content = self._directory / str(len(self.files))
        content.touch()
        return Coming(store, path, content)

    def _store(self, name: str) -> Store:
        if name not in STORES:
            raise BadRequest(f"unknown, send {_known()}")
        stores: Mapping[str, Store] = self._call.services.engine.stores
        if name not in stores:
            raise BadRequest(f"there is no directory for {name}: set dataplaneapi.resources.{STORES[name]}")
        return stores[name]


def _known() -> str:
    return ", ".join((CONFIGURATION, *STORES))


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)
