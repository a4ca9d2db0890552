"""Compare stored files with what HAProxy has loaded from them, by digests.

HAProxy prints the certificates, revocations or entries of a file, not its text. A digest is computed from these, so it ignores comments. It
ignores the order as well, except for lists, whose order has an effect. A digest contains no secret.
"""

import hashlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

from haproxy_native.runtime import ssl_files
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.ssl_files import CA_FILES, CRL_FILES
from haproxy_native.storage import certificate, crt_list


@dataclass(frozen=True)
class PrintedKind:
    """A kind of files whose contents HAProxy prints. The functions that take a Runtime raise RuntimeFailure."""

    # Returns the names of the files that the worker has loaded, as HAProxy spells them.
    loaded_names: Callable[[Runtime], Awaitable[Sequence[str]]]
    # Returns the digest of what the worker has loaded under a name.
    loaded_digest: Callable[[Runtime, str], Awaitable[str]]
    # Returns the digest of a file. Blocks. Raises OSError, and BadRequest if it is not a file of this kind.
    file_digest: Callable[[BinaryIO], str]


async def _ca_digest(runtime: Runtime, name: str) -> str:
    return _set_digest(map(" ".join, ssl_files.parse_authorities(await ssl_files.show(runtime, CA_FILES, name))))


async def _crl_digest(runtime: Runtime, name: str) -> str:
    return _digest(sorted(map(_revocations, ssl_files.parse_revocations(await ssl_files.show(runtime, CRL_FILES, name)))))


async def _crt_list_digest(runtime: Runtime, name: str) -> str:
    return _digest(" ".join((row.file, *row.filters)) for row in await ssl_files.read_crt_list(runtime, name))


def _crt_list_file_digest(file: BinaryIO) -> str:
    entries = crt_list.entries(file.read().decode("utf-8", "surrogateescape"))
    return _digest(" ".join((entry.file, *entry.filters)) for entry in entries)


def _revocations(members: tuple[str, str, Sequence[str]]) -> str:
    last, following, serials = members
    return " ".join((last, following, *serials))


def _set_digest(rows: Iterable[str]) -> str:
    return _digest(sorted(set(rows)))


def _digest(rows: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogateescape")).hexdigest()[:16]


PRINTED_CA_FILES = PrintedKind(
    partial(ssl_files.list_files, kind=CA_FILES),
    _ca_digest,
    lambda file: _set_digest(map(" ".join, certificate.parse_certificates(file.read()).identities())),
)
PRINTED_CRL_FILES = PrintedKind(
    partial(ssl_files.list_files, kind=CRL_FILES),
    _crl_digest,
    lambda file: _digest(sorted(map(_revocations, certificate.parse_revocations(file.read())))),
)
PRINTED_CRT_LISTS = PrintedKind(ssl_files.list_crt_lists, _crt_list_digest, _crt_list_file_digest)
