"""Store renewed certificates on disk. HAProxy has a renewed certificate only in memory, and loses it at the next reload.

The file of a renewed certificate is committed like every stored file. HAProxy already has the certificate, so the commit does not send the
certificate to HAProxy.

The path comes from the configuration, and this server can write files that the editors of the configuration cannot. Therefore a file is
replaced only if the certificate and its key are in the store's directory. Otherwise the renewed certificate is stored in that directory
under the same file name.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from haproxy_native.changes.file_operations import Drafted, FollowProcess, discard
from haproxy_native.commit.change import Change, Validation
from haproxy_native.commit.commit import commit
from haproxy_native.commit.context import CommitContext
from haproxy_native.disk.file import ConfigFile, Draft, FileStamp
from haproxy_native.errors import BadRequest, NativeError, WriteFailed
from haproxy_native.request_context import Author
from haproxy_native.runtime import ssl_files
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.ssl_files import CERTIFICATES
from haproxy_native.storage import certificate
from haproxy_native.storage.certificate_store import CertificateStore, certificate_check

log = logging.getLogger(__name__)
AUTHOR = Author("acme")
_FACT = re.compile(r"^(Filename|Crt filename|Key filename): (.+)$", re.MULTILINE)
# Returns the directory of the crt-store of a certificate such as `@store/name`; None if it has none.
Bases = Callable[[str], Path | None]


class NotStored(Exception):
    """Raised if a renewed certificate cannot be stored. The text is for the operator."""


@dataclass(frozen=True)
class RenewedCertificate:
    """A certificate in HAProxy's memory, and the files that it belongs in."""

    # The certificate, its chain and its key.
    pem: bytes
    # The file that HAProxy has read it from, or the file to store it in.
    path: Path
    # The file of the key; None if `path` contains the key.
    key: Path | None

    def read_stamp(self) -> FileStamp | None:
        """Return the stamp of `path`; None if the file does not exist. Blocks."""
        return ConfigFile(self.path, self.path.parent).read_stamp()

    def is_on_disk(self) -> bool:
        """Return whether the files already contain the certificate and its chain. Blocks."""
        try:
            stored = self.path.read_bytes() + (b"\n" + self.key.read_bytes() if self.key else b"")
            return certificate.parse_loadable(stored).certificates == certificate.parse_loadable(self.pem).certificates
        except (OSError, BadRequest):
            return False

    def is_in(self, directory: Path) -> bool:
        """Return whether the certificate and its key are in the directory. Blocks."""
        return all(path.parent.resolve().is_relative_to(directory.resolve()) for path in (self.path, self.key) if path)

    def check_replaceable(self, directory: Path) -> None:
        """Raise NotStored unless the files are a certificate and its key in the directory, or do not exist. Blocks."""
        if not self.is_in(directory):
            raise NotStored(f"{self.path} or its key is outside {directory}, so it is not replaced")
        for path, mark in ((self.path, b"-BEGIN CERTIFICATE-"), (self.key, b" PRIVATE KEY-")):
            if path and path.exists() and mark not in path.read_bytes():
                raise NotStored(f"{path} does not contain a certificate or key, so it is not replaced")

    def check_older_than(self, renewed_at: datetime) -> None:
        """Raise NotStored if the file was written after the renewal. HAProxy reports a renewal again and again while its worker runs."""
        if (stamp := self.read_stamp()) and stamp.written / 1e9 > renewed_at.timestamp():
            raise NotStored(f"{self.path} was written after the renewal, so it is not replaced")


class Keeper:
    """Stores renewed certificates."""

    def __init__(self, context: CommitContext, store: CertificateStore, base: Bases = lambda name: None) -> None:
        self.context, self.store, self._base = context, store, base

    async def keep(self, name: str, renewed_at: datetime) -> None:
        """Store the renewed certificate `name` unless its file already contains it. Logs failures.

        `renewed_at` may be long past, since HAProxy reports a renewal again and again.
        """
        try:
            renewed = await self._query_certificate(name)
            if await asyncio.to_thread(renewed.is_on_disk):
                return
            log.info("%s was renewed, and is stored as %s", name, await self._store_renewed(name, renewed, renewed_at))
        except (NativeError, NotStored) as error:
            log.error("%s was renewed, and storing it failed: %s", name, error)

    async def _query_certificate(self, name: str) -> RenewedCertificate:
        """Query HAProxy for a certificate. Raises RuntimeFailure, and BadRequest if the answer is not a certificate with its key."""
        runtime = self.context.runtime
        facts = dict(_FACT.findall(await ssl_files.show(runtime, CERTIFICATES, name)))
        own = facts.get("Crt filename") or facts["Filename"]
        key = facts.get("Key filename") or own
        pem = (await runtime.read_dump(f"dump ssl cert {argument(name)}", "-----BEGIN ")).strip("\n").encode() + b"\n"
        certificate.parse_loadable(pem)
        base = self._base(name) or Path(self.context.base(self.context.current.document))
        return RenewedCertificate(pem, base / own, None if key == own else base / key)

    async def _store_renewed(self, name: str, renewed: RenewedCertificate, renewed_at: datetime) -> Path:
        """Replace the file of a certificate, or create a copy in the store's directory if that is impossible. Return the path."""
        is_stored = await asyncio.to_thread(renewed.is_in, self.store.directory)
        if renewed.read_stamp() and is_stored:
            try:
                return await self._commit_file(renewed.path, lambda: self._draft_own_file(name, renewed_at))
            except WriteFailed as error:
                log.warning("%s", error)
        path = self.store.directory / renewed.path.name
        if path == renewed.path and not is_stored:
            raise NotStored(f"its key {renewed.key} is outside {self.store.directory}, so neither is replaced")
        return await self._commit_file(path, lambda: self._draft_copy(name, path, renewed_at))

    async def _commit_file(self, path: Path, draft: Callable[[], Awaitable[Drafted]]) -> Path:
        keep = FollowProcess(f"{self.store.kind}/{path.name}", draft)
        await commit(self.context, Change([keep], validation=Validation.NEVER, author=AUTHOR))
        return path

    async def _draft_own_file(self, name: str, renewed_at: datetime) -> Drafted:
        """Query HAProxy for the certificate, and draft the file from which HAProxy has read it.

        The commit calls this under its lock, so that HAProxy is not reloaded before the file is written. Raises NotStored.
        """
        renewed = await self._query_certificate(name)
        renewed.check_older_than(renewed_at)
        await asyncio.to_thread(renewed.check_replaceable, self.store.directory)
        return await asyncio.to_thread(self._create_drafts, renewed, [certificate_check(renewed.path, [name])])

    async def _draft_copy(self, name: str, path: Path, renewed_at: datetime) -> Drafted:
        """Query HAProxy for the certificate, and draft a copy of it at `path`. Raises NotStored, for example if a line names `path`."""
        renewed = replace(await self._query_certificate(name), path=path, key=None)
        current = self.context.current
        for reference in self.store.naming_lines(path, current.document, self.context.base(current.document)):
            raise NotStored(f"{path} is the file of another certificate: {reference.text}")
        renewed.check_older_than(renewed_at)
        await asyncio.to_thread(renewed.check_replaceable, self.store.directory)
        return await asyncio.to_thread(self._create_drafts, renewed)

    def _create_drafts(self, renewed: RenewedCertificate, steps: Sequence[Step] | None = None) -> Drafted:
        """Create a draft of each file of a renewed certificate. Raises WriteFailed."""
        texts = {renewed.path: renewed.pem}
        if renewed.key:
            own, key = certificate.split_key(renewed.pem)
            texts = {renewed.key: key, renewed.path: own}
        drafts = dict[Path, Draft | None]()
        try:
            for path, text in texts.items():
                drafts[path] = self.store.draft(path, text)
        except BaseException:
            discard(drafts)
            raise
        # The key is applied with its certificate.
        sent: dict[Path, Sequence[Step]] = {} if steps is None else {**dict.fromkeys(texts, ()), renewed.path: steps}
        return Drafted(drafts, dict.fromkeys(texts, self.store), steps=sent)
