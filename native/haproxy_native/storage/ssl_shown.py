"""Marks of what HAProxy has loaded of authorities, revocation lists and crt-lists, and of what a file holds of them.

Two marks are equal where both say the same; they show nothing that is secret.
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
from haproxy_native.runtime.ssl_files import CA_FILES, Kind
from haproxy_native.storage import certificate, crt_list
from haproxy_native.storage.store import Store

CRT_LISTS = "crt-list"


async def differing(context: CommitContext, store: Store, kind: Kind | str) -> list[tuple[str, str, str]]:
    """Files of a store of which HAProxy has loaded something else: as `Store.differing` gives them."""
    runtime, found = context.runtime, list[tuple[str, str, str]]()
    for name in await _names(runtime, kind):
        if (path := store.own(context, name)) is None:
            continue
        worker = await of_process(runtime, kind, name)
        with suppress(OSError):
            held = of_file(kind, await asyncio.to_thread(store.content, path))
            if None not in (held, worker) and held != worker:
                found.append((spelled(store.kind, path.name), str(held), str(worker)))
    return found


async def _names(runtime: Runtime, kind: Kind | str) -> list[str]:
    """Of what is loaded; nothing from a HAProxy without TLS, or without the command."""
    with suppress(RuntimeRefused):
        if isinstance(kind, str):
            return await ssl_files.list_crt_lists(runtime)
        shown = await ssl_files.show(runtime, kind)
        return [row["storage_name"] for row in ssl_files.parse_ca_files(shown)] if kind is CA_FILES else ssl_files.parse_names(shown)
    return []


async def of_process(runtime: Runtime, kind: Kind | str, name: str) -> str | None:
    """The mark of what is loaded under a name, None where nothing is. Raises RuntimeFailure."""
    try:
        if isinstance(kind, str):
            return _mark(_row(row.file, row.filters) for row in await ssl_files.read_crt_list(runtime, name))
        shown = await ssl_files.show(runtime, kind, name)
    except RuntimeRefused:
        return None
    return _mark_shown(kind, shown)


def _mark_shown(kind: Kind, shown: str) -> str:
    if kind is CA_FILES:
        return _mark(sorted({" ".join(each) for each in ssl_files.parse_authorities(shown)}))
    return _mark(sorted(map(_list, ssl_files.parse_revocations(shown))))


def of_file(kind: Kind | str, data: bytes) -> str | None:
    """The same of a file's content, None where it is no such file."""
    try:
        if isinstance(kind, str):
            entries = crt_list.entries(data.decode("utf-8", "surrogateescape"))
            return _mark(_row(entry.file, entry.filters) for entry in entries)
        if kind is CA_FILES:
            return _mark(sorted({" ".join(each) for each in certificate.read(data).identities()}))
        return _mark(sorted(map(_list, certificate.revocations(data))))
    except BadRequest:
        return None


def _row(file: str, filters: Sequence[str]) -> str:
    return " ".join((file, *filters))


def _list(members: tuple[str, str, Sequence[str]]) -> str:
    last, following, serials = members
    return " ".join((last, following, *serials))


def _mark(rows: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogateescape")).hexdigest()[:16]
