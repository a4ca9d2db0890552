"""The configuration as it is: what the file holds, its document and its version, and how an edit by somebody else is noticed.

The three agree at every moment. An outsider's text is taken over as it is, under a higher version, and not rewritten.
"""

import asyncio
from pathlib import Path

from native.apply.memory import MemoryFile, fingerprint, stamped_fingerprint
from native.config import header, patches
from native.config.file import ConfigFile, Draft, Seen
from native.config.header import Stamped
from native.text.document import Document


class Current:
    """`banner`: whether our next write brings the banner lines; a pushed text decides for itself until the file is read again."""

    def __init__(self, file: ConfigFile, memory: MemoryFile) -> None:
        self.file, self._memory = file, memory
        self.document = Document("", ())
        self.version = header.FIRST_VERSION
        self.banner = True
        self.fingerprint = ""
        self._seen: Seen | None = None
        self._installing = False

    @property
    def path(self) -> Path:
        return self.file.path

    def open(self) -> None:
        """Takes the file as it is, without counting. Raises Unreadable."""
        seen, data = self.file.seen(), self.file.read()
        document = patches.sharing(Document.parse(data), self.document)
        known = fingerprint(data) == self._memory.value.file
        self._take(document, self._memory.value.version if known else header.version_of(document), data, seen)

    def notice(self) -> bool:
        """Takes over what somebody else wrote, as the next version; False when nobody did. Raises Unreadable."""
        seen = self.file.seen()
        if seen == self._seen or self._installing:
            return False
        data = self.file.read()
        if fingerprint(data) == self.fingerprint:
            self._seen = seen
            return False
        document = patches.sharing(Document.parse(data), self.document)
        self._take(document, max(self.version, header.version_of(document)) + 1, data, seen)
        return True

    def touched(self) -> Seen | None:
        """How the file looks, where it does not look as we know it."""
        seen = self.file.seen()
        return None if seen == self._seen or self._installing else seen

    def prepare(self, document: Document, version: int, banner: bool, name: str) -> tuple[Stamped, Draft]:
        """The document's bytes under a version, as a draft. Raises WriteFailed."""
        stamped = header.with_header(document, version, banner=banner)
        return stamped, self.file.draft(stamped.data, name)

    async def install(self, stamped: Stamped, draft: Draft, banner: bool) -> None:
        """Makes the draft the file, and its document the current one. Raises WriteFailed."""
        self._installing = True
        try:
            await asyncio.to_thread(draft.install)
            self.banner = banner
            self._keep(stamped.document, stamped.version, stamped_fingerprint(stamped), self.file.seen())
        finally:
            self._installing = False

    def _take(self, document: Document, version: int, data: bytes, seen: Seen | None) -> None:
        self.banner = True
        self._keep(document, version, fingerprint(data), seen)

    def _keep(self, document: Document, version: int, mark: str, seen: Seen | None) -> None:
        self.document, self.version, self.fingerprint, self._seen = document, version, mark, seen
        self._memory.set(version=version, file=mark)
