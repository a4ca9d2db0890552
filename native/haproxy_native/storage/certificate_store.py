"""Certificates with their keys; loaded ones are replaced live wherever they are served (lists, directories, ssl-f-use lines)."""

import asyncio
import os
import posixpath
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from haproxy_native.commit.context import CommitContext
from haproxy_native.editing.file_references import Reference
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import BadRequest, InUse, NativeError, RuntimeFailure
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.runtime import ssl_files
from haproxy_native.runtime.ssl_files import CA_FILES, CERTIFICATES, CRL_FILES
from haproxy_native.storage import certificate, ssl_shown
from haproxy_native.storage.certificate import CertificateFile
from haproxy_native.storage.crt_list import listed
from haproxy_native.storage.plans import InProcess, by_reload, certificate_plan
from haproxy_native.storage.store import Store
from haproxy_native.storage.tls_steps import CertificateStep, key_beside
from haproxy_native.text.document import Document

# In bytes; a chain is read as a whole.
LARGEST = 1 << 20
# What HAProxy reads with a certificate, at its start only.
BESIDE = (".ocsp", ".sctl", ".issuer")


class CertificateStore(Store):
    kind = "certificate"
    description = created = "managed SSL file"

    def files(self) -> list[Path]:
        """Returns the files that hold a certificate with its key; lists and authorities are in the same directory."""
        return [path for path in super().files() if self._is_certificate(path)]

    def read(self, path: Path) -> tuple[CertificateFile, int]:
        """What a file says, and its size. Raises BadRequest and OSError."""
        data = self.content(path)
        return certificate.read(data), len(data)

    def check_content(self, path: Path, draft: Path) -> None:
        if draft.stat().st_size > LARGEST:
            raise BadRequest(f"a certificate file may have {LARGEST} bytes")
        certificate.accepted(draft.read_bytes(), key_beside(path))

    def compared(self, context: CommitContext, path: Path, draft: Path | None) -> tuple[bytes, bytes] | None:
        return None

    async def differing(self, context: CommitContext) -> list[tuple[str, str, str]]:
        found, runtime, base = list[tuple[str, str, str]](), context.runtime, str(context.current.path.parent)
        files = await asyncio.to_thread(self.files)
        known = ssl_files.parse_names(await ssl_files.show(runtime, CERTIFICATES)) if files else ()
        for path in files:
            for name in [each for each in known if means(each, path, base)]:
                shown = ssl_files.parse_certificate(await ssl_files.show(runtime, CERTIFICATES, name))
                with suppress(BadRequest, OSError):
                    held, _ = await asyncio.to_thread(self.read, path)
                    if not held.is_shown(shown):
                        served = str(shown.get("sha1_finger_print", shown.get("serial", "")))
                        found.append((spelled(self.kind, path.name), held.fingerprint, served))
        return found + [each for kind in (CA_FILES, CRL_FILES) for each in await ssl_shown.differing(context, self, kind)]

    async def plan(self, context: CommitContext, path: Path, content: Path | None) -> FilePlan:
        used, wanted = self.used(context, path), self.references(context, path)
        loaded = await self._loaded(context, path, used)
        if loaded is None:
            used += await asyncio.to_thread(self._listed, context, path)
            return by_reload(used, wanted, "HAProxy cannot take a certificate live")
        return certificate_plan(path, loaded, used, wanted)

    async def offer(self, context: CommitContext, path: Path) -> None:
        """Keeps the memory of HAProxy in line with a file that nothing refers to, so that a list may refer to it at once."""
        loaded = await self._loaded(context, path, ())
        if loaded is None or loaded.used or loaded.directories:
            return
        with suppress(NativeError):
            await CertificateStep(path, loaded.names).apply(context.runtime)

    def naming_lines(self, path: Path, document: Document, directory: str) -> list[Reference]:
        """Returns the lines that name the file itself: a directory that is served loses a certificate live."""
        return [reference for reference in super().naming_lines(path, document, directory) if path.name in reference.text]

    def _check_unused(self, context: CommitContext, path: Path) -> None:
        """Nor does a list that names it load without it."""
        super()._check_unused(context, path)
        for reference in self._listed(context, path)[:1]:
            where = f"at line {reference.line}: {reference.text}"
            raise InUse(f"rejecting attempt to delete file {path} referenced in {reference.section} {where}")

    def _listed(self, context: CommitContext, path: Path) -> list[Reference]:
        return listed(context.current.document, path, str(context.current.path.parent))

    def _is_certificate(self, path: Path) -> bool:
        try:
            return certificate.holds_certificate(self.content(path), key_beside(path))
        except OSError:
            return False

    async def _loaded(self, context: CommitContext, path: Path, used: Sequence[Reference]) -> InProcess | None:
        """What HAProxy has of a file; None where it cannot be asked, or cannot take one live."""
        runtime, base = context.runtime, str(context.current.path.parent)
        try:
            known = ssl_files.parse_names(await ssl_files.show(runtime, CERTIFICATES))
            if not runtime.capabilities.can("set ssl cert"):
                return None
            names, is_used = [], False
            for name in known:
                if means(name, path, base) or (used and name.startswith("@")):
                    certificate = ssl_files.parse_certificate(await ssl_files.show(runtime, CERTIFICATES, name))
                    if not name.startswith("@") or await asyncio.to_thread(self._is_alias, certificate, path, used):
                        names.append(name)
                        is_used = is_used or certificate.get("status") == "Used"
            others = [row["storage_name"] for row in ssl_files.parse_ca_files(await ssl_files.show(runtime, CA_FILES))]
            others += ssl_files.parse_names(await ssl_files.show(runtime, CRL_FILES))
            lists = await ssl_files.list_crt_lists(runtime)
        except RuntimeFailure:
            return None
        directories = [name for name in lists if means(name, path.parent, base)]
        beside = next((f"{path.name}{end}" for end in BESIDE if path.with_name(f"{path.name}{end}").exists()), "")
        return InProcess(names, is_used, directories, any(means(name, path, base) for name in others), beside)

    def _is_alias(self, shown: Mapping[str, Any], path: Path, used: Sequence[Reference]) -> bool:
        """`@STORE/ALIAS`, where the section of that name refers to the file: certificate and name, where that is given, are the file's."""
        store = f" {shown['storage_name'][1:].partition('/')[0]}"
        if (
            not any(reference.section.endswith(store) for reference in used)
            or posixpath.basename(shown.get("file", path.name)) != path.name
        ):
            return False
        try:
            return self.read(path)[0].is_shown(shown)
        except (BadRequest, OSError):
            return False


def means(name: str, path: Path, base: str) -> bool:
    """Whether a name in HAProxy's memory is that of a file; relative ones begin at the configuration's directory, links are followed."""
    if posixpath.basename(name) != path.name:
        return False
    place = posixpath.join(base, name)
    return posixpath.normpath(place) == str(path) or os.path.realpath(place) == os.path.realpath(path)
