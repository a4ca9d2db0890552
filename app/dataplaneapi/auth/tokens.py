"""Tokens: credentials that a caller creates for programs, kept as hashes in one file.

A token is a random text of 256 bits, so that a plain SHA-256 of it is enough; it is looked up by that hash, whose time tells nothing of it.
"""

import asyncio
import json
import logging
import re
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from types import TracebackType
from typing import Self

from dataplaneapi.api.errors import ApiError
from dataplaneapi.settings.proxies import network
from haproxy_native.disk.atomic import write_atomically

log = logging.getLogger(__name__)
PREFIX = "dps_"
MOST, MOST_OF_ONE = 1000, 100
# How often last uses are written, and tokens that have expired are dropped.
TIDY_SECONDS = 60.0
_WELL_FORMED = re.compile(rb"dps_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True)
class Token:
    """`group` and `creator`: who has created it, as role_of has it. Times are Unix times. `networks`: where it may come from, empty for
    any address.
    """

    id: str
    hash: str
    roles: tuple[str, ...]
    group: str
    creator: str
    created: float
    expires: float
    networks: tuple[str, ...] = ()
    note: str = ""
    used: float | None = None
    used_from: str = ""

    def is_from(self, address: str) -> bool:
        """Whether a client of this address may use it; one of a unix socket has none."""
        if not self.networks:
            return True
        with suppress(ValueError):
            client = ip_address(address)
            client = (isinstance(client, IPv6Address) and client.ipv4_mapped) or client
            return any(client in network(each) for each in self.networks)
        return False


def is_well_formed(secret: bytes) -> bool:
    return _WELL_FORMED.fullmatch(secret) is not None


class Tokens:
    """The tokens of one file. As a context manager it writes last uses now and then, and at the end."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock
        self._by_hash: dict[str, Token] = {}
        self._lock, self._is_written = asyncio.Lock(), True
        self._read()

    async def __aenter__(self) -> Self:
        self._tidying = asyncio.create_task(self._tidy_often())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._tidying.cancel()
        await asyncio.wait([self._tidying])
        await self.tidy()

    def all(self) -> list[Token]:
        """The newest first."""
        now = self._clock()
        return sorted((token for token in self._by_hash.values() if token.expires > now), key=lambda token: -token.created)

    def get(self, id_: str) -> Token | None:
        return next((token for token in self.all() if token.id == id_), None)

    def find(self, secret: bytes) -> Token | None:
        """The token with this secret, unless it has expired."""
        token = self._by_hash.get(_hash(secret)) if is_well_formed(secret) else None
        return token if token and token.expires > self._clock() else None

    async def create(
        self, roles: Sequence[str], group: str, creator: str, seconds: float, networks: Sequence[str] = (), note: str = ""
    ) -> tuple[Token, str]:
        """A new token and its secret, which is kept nowhere. Raises ApiError: 429 for too many, 500 where the disk takes none."""
        self._drop_expired()
        own = sum((token.group, token.creator) == (group, creator) for token in self._by_hash.values())
        if own >= MOST_OF_ONE or len(self._by_hash) >= MOST:
            count = f"this creator has {own}" if own >= MOST_OF_ONE else f"there are {len(self._by_hash)}"
            raise ApiError(429, f"{count} tokens, and more are not kept; DELETE /v3/sidecar/tokens/{{id}} revokes one")
        secret, now = PREFIX + secrets.token_urlsafe(32), self._clock()
        token = Token(self._new_id(), _hash(secret.encode()), tuple(roles), group, creator, now, now + seconds, tuple(networks), note)
        self._by_hash[token.hash] = token
        try:
            await self._write()
        except OSError as error:
            self._by_hash.pop(token.hash, None)
            raise ApiError(500, f"the token is not created: cannot write {self._path}: {error.strerror}") from None
        log.info("token %s of %s is created: role %s, for %.0f seconds", token.id, creator, ", ".join(roles) or "none", seconds)
        return token, secret

    async def revoke(self, token: Token, by: str) -> None:
        """Ends it at once, for a caller of this name. Raises ApiError where the file still has it."""
        self._by_hash.pop(token.hash, None)
        log.info("token %s of %s is revoked by %s", token.id, token.creator, by)
        try:
            await self._write()
        except OSError as error:
            text = f"the token is revoked until this server starts again, for {self._path} cannot be written: {error.strerror}"
            raise ApiError(500, text) from None

    def use(self, token: Token, address: str) -> None:
        """Remembers when and from where it was used."""
        self._by_hash[token.hash] = replace(token, used=self._clock(), used_from=address)
        self._is_written = False

    async def tidy(self) -> None:
        """Drops what has expired, and writes what has changed."""
        self._drop_expired()
        if not self._is_written:
            try:
                await self._write(durable=False)
            except OSError as error:
                log.warning("cannot write %s: %s; the last uses of tokens are forgotten at a restart", self._path, error.strerror)

    async def _tidy_often(self) -> None:
        while True:
            await asyncio.sleep(TIDY_SECONDS)
            await self.tidy()

    def _drop_expired(self) -> None:
        now = self._clock()
        if gone := [token.hash for token in self._by_hash.values() if token.expires <= now]:
            self._is_written = False
        for token in gone:
            del self._by_hash[token]

    def _new_id(self) -> str:
        known = {token.id for token in self._by_hash.values()}
        return next(id_ for id_ in iter(lambda: secrets.token_hex(4), "") if id_ not in known)

    async def _write(self, *, durable: bool = True) -> None:
        """Goes on to its end where its caller is cancelled, so that an older state never follows a newer one. Raises OSError."""
        await asyncio.shield(asyncio.ensure_future(self._write_alone(durable)))

    async def _write_alone(self, durable: bool) -> None:
        async with self._lock:
            data = json.dumps({"tokens": [asdict(token) for token in self._by_hash.values()]}).encode() + b"\n"
            self._is_written = True
            try:
                await asyncio.to_thread(write_atomically, self._path, data, durable=durable)
            except OSError:
                self._is_written = False
                raise

    def _read(self) -> None:
        try:
            self._by_hash = {token.hash: token for token in _parsed(json.loads(self._path.read_bytes())["tokens"])}
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.error("cannot read %s, so that no token is known: %s: %s", self._path, type(error).__name__, error)


def _parsed(rows: Iterable[dict[str, object]]) -> list[Token]:
    known = {field.name for field in fields(Token)}
    lists = ("roles", "networks")
    return [
        Token(**{name: tuple(value) if name in lists else value for name, value in row.items() if name in known})  # type: ignore[arg-type]
        for row in rows
    ]


def _hash(secret: bytes) -> str:
    return sha256(secret).hexdigest()
