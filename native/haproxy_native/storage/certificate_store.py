"""Store certificates with their keys, and update a certificate in HAProxy's memory.

HAProxy may have loaded a file under several names: the path as a line spells it, or `@STORE/ALIAS` of a crt-store. A line may refer to the
file itself, to a crt-list that contains it, or to its directory, which HAProxy then loads like a crt-list. If HAProxy serves a file, a
change replaces it at runtime under all its names. A new file is added to the loaded directories. A change needs a reload if HAProxy also
uses the file as a CA or CRL file, or if the certificate has an extra file (`EXTRA_FILES`, see ssl-load-extra-files), which HAProxy reads
only when it starts.
"""

import asyncio
import os
import posixpath
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from haproxy_native.commit.context import CommitContext
from haproxy_native.editing.file_references import FileReference
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import BadRequest, InUse, NativeError, NeedsReload, RuntimeConflict, RuntimeFailure, RuntimeRefused
from haproxy_native.runtime import ssl_files
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.ssl_files import CA_FILES, CERTIFICATES, CRL_FILES
from haproxy_native.storage import certificate
from haproxy_native.storage.certificate import CertificateFile
from haproxy_native.storage.crt_list import lines_naming
from haproxy_native.storage.digests import PRINTED_CA_FILES, PRINTED_CRL_FILES
from haproxy_native.storage.store import RuntimeWay, Store
from haproxy_native.text.document import Document

# The largest certificate file, in bytes; a chain is parsed as a whole.
LARGEST = 1 << 20
# The extensions of extra files.
EXTRA_FILES = (".ocsp", ".sctl", ".issuer")


@dataclass(frozen=True)
class LoadedCertificate:
    """How HAProxy has loaded a certificate file."""

    # The names of the certificate in HAProxy.
    names: Sequence[str] = ()
    # Whether HAProxy uses the file under one of these names.
    is_used: bool = False
    # Directories that contain the file, and that HAProxy has loaded like crt-lists.
    directories: Sequence[str] = ()
    # Whether HAProxy has also loaded the file as a CA file or a CRL file.
    authority: bool = False
    # The name of an extra file; empty without one.
    extra_file: str = ""

    @property
    def is_served(self) -> bool:
        return bool(self.names and self.is_used) or bool(self.directories)


def certificate_way(path: Path, loaded: LoadedCertificate) -> RuntimeWay:
    """Return the steps for a file that HAProxy serves, or why it needs a reload."""
    if loaded.authority:
        return RuntimeWay(obstacle=f"HAProxy also uses {path.name} to verify others", is_loaded=True)
    if not loaded.is_served:
        return RuntimeWay(obstacle=f"HAProxy has not loaded {path.name}, though its configuration refers to it")
    if loaded.extra_file:
        return RuntimeWay(obstacle=f"HAProxy reads {loaded.extra_file} only when it starts", is_loaded=True)
    seen = [certificate_check(path, loaded.names)] if loaded.names else []
    return RuntimeWay([certificate_step(path, loaded.names, loaded.directories)], seen=seen)


_OTHER_CAUSES = re.compile(r"too big|closed the connection|Unknown command|must contain the directory path")


def needs_reload(error: RuntimeRefused) -> bool:
    """Return whether a reload can load a refused file, because the cause of the refusal is not its content."""
    return isinstance(error, RuntimeConflict) or _OTHER_CAUSES.search(error.answer) is not None


def certificate_step(path: Path, names: Sequence[str], directories: Sequence[str] = ()) -> Step:
    """Make a certificate in HAProxy's memory match the file at the time when the step is applied: replace, create or delete it.

    `names`: the names of the certificate in HAProxy. `directories`: loaded directories to which the certificate is added, or from which it
    is removed if the file is deleted. Raises NeedsReload if a reload is needed.
    """

    async def apply(runtime: Runtime) -> None:
        pem = await asyncio.to_thread(read_with_key, path)
        try:
            if pem is None:
                for name in names:
                    for directory in directories:
                        if await _is_in(runtime, directory, name):
                            await ssl_files.delete_crt_list_entry(runtime, directory, name)
                    await ssl_files.delete(runtime, CERTIFICATES, name)
            elif names:
                await _replace(runtime, names, directories, pem)
            else:
                await _create(runtime, path, directories, pem)
        except RuntimeRefused as error:
            if needs_reload(error):
                raise NeedsReload(error.answer) from error
            raise

    changes = [f"set ssl cert {name}" for name in names] or [f"new ssl cert {path}"]
    return Step([*changes, *(f"add ssl crt-list {name} {path}" for name in directories if not names)], apply)


async def _replace(runtime: Runtime, names: Sequence[str], directories: Sequence[str], pem: str) -> None:
    for number, name in enumerate(names):
        try:
            await ssl_files.replace(runtime, CERTIFICATES, name, pem)
        except RuntimeRefused as error:
            if number:
                raise NeedsReload(error.answer) from error
            raise
        await verify_shown(runtime, name, pem)
    await _add_to_directories(runtime, directories, names[0])


async def _create(runtime: Runtime, path: Path, directories: Sequence[str], pem: str) -> None:
    # The name that HAProxy would give the file in a directory that it loads like a crt-list.
    name = "/".join([directories[0].rstrip("/") if directories else str(path.parent), path.name])
    await ssl_files.create(runtime, CERTIFICATES, name, pem)
    try:
        await _add_to_directories(runtime, directories, name)
    except RuntimeRefused:
        with suppress(RuntimeRefused):
            await ssl_files.delete(runtime, CERTIFICATES, name)
        raise
    await verify_shown(runtime, name, pem)


async def _add_to_directories(runtime: Runtime, directories: Sequence[str], name: str) -> None:
    for directory in directories:
        if not await _is_in(runtime, directory, name):
            await ssl_files.add_crt_list_entry(runtime, directory, name)


async def _is_in(runtime: Runtime, directory: str, name: str) -> bool:
    return any(entry.file == name for entry in await ssl_files.read_crt_list(runtime, directory))


def certificate_check(path: Path, names: Sequence[str]) -> Step:
    """Verify that HAProxy already has the content of a file. A client may update HAProxy first and store the file afterwards.

    Raises NeedsReload if HAProxy has another content.
    """

    async def apply(runtime: Runtime) -> None:
        pem = await asyncio.to_thread(read_with_key, path)
        for name in names:
            await verify_shown(runtime, name, pem or "")

    return Step([f"show ssl cert {name}" for name in names], apply)


def read_with_key(path: Path) -> str | None:
    """Return the text of a certificate file, and of its `.key` file if the certificate file has no key; None if the file does not exist.

    Raises NeedsReload if the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NeedsReload(f"{path} cannot be read: {error.strerror}") from error
    if not certificate.holds_key(data) and (key := read_key_file(path)):
        data += b"\n" + key
    return data.decode("utf-8", "surrogateescape")


def read_key_file(path: Path) -> bytes | None:
    """Return the content of a certificate's `.key` file; None if it is missing or cannot be read."""
    try:
        return path.with_name(f"{path.name}.key").read_bytes()
    except OSError:
        return None


async def verify_shown(runtime: Runtime, name: str, pem: str) -> None:
    """Verify that HAProxy has loaded the certificate in `pem` under a name. Raises NeedsReload."""
    try:
        expected = certificate.parse_certificates(pem.encode("utf-8", "surrogateescape"))
    except BadRequest as error:
        raise NeedsReload(error.detail) from error
    shown = ssl_files.parse_certificate(await ssl_files.show(runtime, CERTIFICATES, name))
    if not expected.is_shown(shown):
        raise NeedsReload(f"HAProxy still shows another certificate for {name}")


def is_name_of(name: str, path: Path, base: str) -> bool:
    """Return whether HAProxy means the file at `path` by `name`, the name of a loaded file.

    Relative names start at the directory `base`. Follows links on the disk.
    """
    if posixpath.basename(name) != path.name:
        return False
    named = posixpath.join(base, name)
    return posixpath.normpath(named) == str(path) or os.path.realpath(named) == os.path.realpath(path)


class CertificateStore(Store):
    """The store `ssl_certificates`. Its directory may also contain crt-lists and CA files, which the store does not list."""

    kind = "certificate"
    description = created = "managed SSL file"
    printed_kinds = (PRINTED_CA_FILES, PRINTED_CRL_FILES)

    def files(self) -> list[Path]:
        """Return the files that contain a certificate with its key."""
        found = []
        for path in super().files():
            with suppress(OSError):
                if certificate.holds_certificate(self.content(path), read_key_file(path)):
                    found.append(path)
        return found

    def read(self, path: Path) -> tuple[CertificateFile, int]:
        """Return the certificates of a file, and its size in bytes. Raises BadRequest and OSError."""
        data = self.content(path)
        return certificate.parse_certificates(data), len(data)

    def check_content(self, path: Path, draft: Path) -> None:
        if draft.stat().st_size > LARGEST:
            raise BadRequest(f"a certificate file has at most {LARGEST} bytes")
        certificate.parse_loadable(draft.read_bytes(), read_key_file(path))

    def compared(self, context: CommitContext, path: Path, draft: Path | None) -> tuple[bytes, bytes] | None:
        return None

    async def differing(self, context: CommitContext) -> list[tuple[str, str, str]]:
        found, runtime, base = list[tuple[str, str, str]](), context.runtime, context.base(context.current.document)
        files = await asyncio.to_thread(self.files)
        known = await ssl_files.list_files(runtime, CERTIFICATES) if files else ()
        for path in files:
            for name in [each for each in known if is_name_of(each, path, base)]:
                shown = ssl_files.parse_certificate(await ssl_files.show(runtime, CERTIFICATES, name))
                with suppress(BadRequest, OSError):
                    held, _ = await asyncio.to_thread(self.read, path)
                    if not held.is_shown(shown):
                        served = str(shown.get("sha1_finger_print", shown.get("serial", "")))
                        found.append((spelled(self.kind, path.name), held.fingerprint, served))
        return found + await super().differing(context)

    async def find_runtime_way(
        self, context: CommitContext, path: Path, content: Path | None, running_lines: Sequence[FileReference]
    ) -> RuntimeWay:
        if (loaded := await self._loaded(context, path, running_lines)) is None:
            entries = await asyncio.to_thread(self._crt_list_entries, context, path)
            return RuntimeWay(obstacle="HAProxy cannot replace this certificate at runtime", further_lines=entries)
        return certificate_way(path, loaded)

    async def load_unreferenced(self, context: CommitContext, path: Path) -> None:
        """Load a file into HAProxy's memory, so that a crt-list can refer to the file at runtime. No line may refer to the file yet."""
        loaded = await self._loaded(context, path, ())
        if loaded is None or loaded.is_used or loaded.directories:
            return
        with suppress(NativeError):
            await certificate_step(path, loaded.names).apply(context.runtime)

    def naming_lines(self, path: Path, document: Document, directory: str) -> list[FileReference]:
        """Return the lines that name the file itself, not its directory: HAProxy can drop a file of a directory at runtime."""
        return [reference for reference in super().naming_lines(path, document, directory) if path.name in reference.text]

    def check_unused(self, context: CommitContext, path: Path) -> None:
        super().check_unused(context, path)
        # HAProxy would refuse a crt-list that names a missing certificate.
        for reference in self._crt_list_entries(context, path)[:1]:
            where = f"at line {reference.line}: {reference.text}"
            raise InUse(f"rejecting attempt to delete file {path} referenced in {reference.section} {where}")

    def _crt_list_entries(self, context: CommitContext, path: Path) -> list[FileReference]:
        return lines_naming(context.current.document, path, context.base(context.current.document))

    async def _loaded(self, context: CommitContext, path: Path, running_lines: Sequence[FileReference]) -> LoadedCertificate | None:
        """Return how HAProxy has loaded a file; None if HAProxy does not answer, or cannot replace certificates at runtime."""
        runtime, base = context.runtime, context.base(context.current.document)
        try:
            known = await ssl_files.list_files(runtime, CERTIFICATES)
            if not runtime.capabilities.can("set ssl cert"):
                return None
            names, is_used = [], False
            for name in known:
                if is_name_of(name, path, base) or (running_lines and name.startswith("@")):
                    certificate = ssl_files.parse_certificate(await ssl_files.show(runtime, CERTIFICATES, name))
                    if not name.startswith("@") or await asyncio.to_thread(self._is_alias_of, path, certificate, running_lines):
                        names.append(name)
                        is_used = is_used or certificate.get("status") == "Used"
            authorities = [*await ssl_files.list_files(runtime, CA_FILES), *await ssl_files.list_files(runtime, CRL_FILES)]
            lists = await ssl_files.list_crt_lists(runtime)
        except RuntimeFailure:
            return None
        directories = [name for name in lists if is_name_of(name, path.parent, base)]
        extra = next((f"{path.name}{end}" for end in EXTRA_FILES if path.with_name(f"{path.name}{end}").exists()), "")
        return LoadedCertificate(names, is_used, directories, any(is_name_of(name, path, base) for name in authorities), extra)

    def _is_alias_of(self, path: Path, shown: Mapping[str, Any], running_lines: Sequence[FileReference]) -> bool:
        """Return whether HAProxy has loaded the certificate `@STORE/ALIAS` from a file.

        The crt-store must refer to the file, and the name and the content of the certificate must match. `running_lines`: the lines that
        refer to the file. `shown`: the parsed answer to `show ssl cert`.
        """
        store = f" {shown['storage_name'][1:].partition('/')[0]}"
        if (
            not any(reference.section.endswith(store) for reference in running_lines)
            or posixpath.basename(shown.get("file", path.name)) != path.name
        ):
            return False
        try:
            return self.read(path)[0].is_shown(shown)
        except (BadRequest, OSError):
            return False
