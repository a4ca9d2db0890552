"""Keeps on disk what HAProxy has renewed: until then a certificate is in its memory only, and gone with the next reload."""

import asyncio
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from native.config.copies import write_copy
from native.config.directories import Directory
from native.errors import NativeError
from native.runtime.argument import argument
from native.runtime.client import Runtime

log = logging.getLogger(__name__)
_FACT = re.compile(r"^(Filename|Crt filename|Key filename): (.+)$", re.MULTILINE)
_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----\n?", re.DOTALL)
# The directory that the names in a crt-store are relative to, by the name of a certificate such as `@store/name`.
Bases = Callable[[str], Path | None]


class NotKept(Exception):
    """The text is for the operator."""


@dataclass(frozen=True)
class Files:
    """Where HAProxy reads a certificate, and its key where that is another file."""

    certificate: Path
    key: Path | None


class Keeper:
    """`keep` writes where HAProxy reads, and where that is not permitted into `storage` under the file's own name."""

    def __init__(self, runtime: Runtime, storage: Directory, base: Bases = lambda name: None) -> None:
        self.runtime, self.storage, self._base = runtime, storage, base

    async def keep(self, certificate: str) -> None:
        """A failure is told in the log."""
        try:
            files = await self._files(certificate)
            pem = (await self.runtime.read(f"dump ssl cert {argument(certificate)}", "-----BEGIN ")).strip("\n").encode() + b"\n"
            check(pem)
            written = await asyncio.to_thread(self._write, files, pem)
            log.info("%s was renewed, and is kept as %s", certificate, written)
        except (NotKept, NativeError) as error:
            log.error("%s was renewed, and cannot be kept on disk: %s", certificate, error)

    async def _files(self, certificate: str) -> Files:
        facts = dict(_FACT.findall(await self.runtime.read(f"show ssl cert {argument(certificate)}", "Filename: ")))
        own = facts.get("Crt filename") or facts["Filename"]
        key = facts.get("Key filename") or own
        base = self._base(certificate) or Path()
        return Files(base / own, None if key == own else base / key)

    def _write(self, files: Files, pem: bytes) -> Path:
        path = files.certificate
        try:
            if path.is_absolute() and path.exists():
                if files.key and not files.key.exists():
                    raise NotKept(f"its key is not in {files.key}, where HAProxy read it")
                if files.key:
                    write_copy(files.key, b"".join(_KEY.findall(pem)), files.key)
                write_copy(path, _KEY.sub(b"", pem) if files.key else pem, path)
                return path
        except OSError as error:
            log.warning("%s cannot be written: %s", path, error.strerror)
        with self.storage.used() as directory:
            copy = directory / path.name
            write_copy(copy, pem, copy if copy.exists() else None)
            return copy


def check(pem: bytes) -> None:
    """A certificate and the key that belongs to it. Raises NotKept."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        own = x509.load_pem_x509_certificates(pem)[0].public_key()
        key = load_pem_private_key(b"".join(_KEY.findall(pem)), None).public_key()
    except (ValueError, TypeError) as error:
        raise NotKept(f"what HAProxy dumps is no certificate with its key: {error}") from None
    if own != key:
        raise NotKept("what HAProxy dumps is a certificate and a key that do not belong together")
