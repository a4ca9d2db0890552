"""Compare stored CA files, CRL files and crt-lists with what HAProxy has loaded, by digests.

HAProxy prints the certificates, revocations or entries of a file, not its text. A digest is computed from these, so it ignores comments and
the order, except for crt-lists, whose order has an effect. A digest contains no secret.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress

from haproxy_native.commit.context import CommitContext
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import BadRequest, RuntimeRefused
from haproxy_native.runtime import ssl_files
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.ssl_files import CA_FILES, TlsFileKind
from haproxy_native.storage import certificate, crt_list
from haproxy_native.storage.store import Store

CRT_LISTS = "crt-list"


async def differing(context: CommitContext, store: Store, kind: TlsFileKind | str) -> list[tuple[str, str, str]]:
    """Return (object name, digest of the file, digest of what HAProxy has loaded) for each file of a kind whose digests differ."""
    runtime, found = context.runtime, list[tuple[str, str, str]]()
    for name in await _loaded_names(runtime, kind):
        if (path := store.file_loaded_as(context, name)) is None:
            continue
        worker = await loaded_digest(runtime, kind, name)
        with suppress(OSError):
            on_disk = file_digest(kind, await asyncio.to_thread(store.content, path))
            if None not in (on_disk, worker) and on_disk != worker:
                found.append((spelled(store.kind, path.name), str(on_disk), str(worker)))
    return found


async def _loaded_names(runtime: Runtime, kind: TlsFileKind | str) -> list[str]:
    """Return the names of the loaded files; none if HAProxy is built without TLS or does not have the command."""
    with suppress(RuntimeRefused):
        if isinstance(kind, str):
            return await ssl_files.list_crt_lists(runtime)
        shown = await ssl_files.show(runtime, kind)
        return [row["storage_name"] for row in ssl_files.parse_ca_files(shown)] if kind is CA_FILES else ssl_files.parse_names(shown)
    return []


async def loaded_digest(runtime: Runtime, kind: TlsFileKind | str, name: str) -> str | None:
    """Return the digest of the file that is loaded under a name; None if there is none. Raises RuntimeFailure."""
    try:
        if isinstance(kind, str):
            return _digest(_row(row.file, row.filters) for row in await ssl_files.read_crt_list(runtime, name))
        shown = await ssl_files.show(runtime, kind, name)
    except RuntimeRefused:
        return None
    if kind is CA_FILES:
        return _digest(sorted({" ".join(each) for each in ssl_files.parse_authorities(shown)}))
    return _digest(sorted(map(_list, ssl_files.parse_revocations(shown))))


def file_digest(kind: TlsFileKind | str, data: bytes) -> str | None:
    """Return the digest of a file's content; None if it is not a file of this kind."""
    try:
        if isinstance(kind, str):
            entries = crt_list.entries(data.decode("utf-8", "surrogateescape"))
            return _digest(_row(entry.file, entry.filters) for entry in entries)
        if kind is CA_FILES:
            return _digest(sorted({" ".join(each) for each in certificate.parse_certificates(data).identities()}))
        return _digest(sorted(map(_list, certificate.parse_revocations(data))))
    except BadRequest:
        return None


def _row(file: str, filters: Sequence[str]) -> str:
    return " ".join((file, *filters))


def _list(members: tuple[str, str, Sequence[str]]) -> str:
    last, following, serials = members
    return " ".join((last, following, *serials))


def _digest(rows: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogateescape")).hexdigest()[:16]
