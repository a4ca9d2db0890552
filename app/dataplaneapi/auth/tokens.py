"""Create, verify and revoke tokens: the credentials that callers create for programs.

Only the hash of a token is stored. A token has 256 random bits, so a plain SHA-256 is a sufficient hash. A token is looked up by its hash,
so the time of the lookup reveals nothing about valid tokens.

The database is the source of truth, and `Tokens` has all tokens in memory. A new token is written before its secret is returned. A revoked
token is invalid at once. If the revocation cannot be written, the token is valid again after a restart, and the caller gets an error. Last
uses are written every TIDY_SECONDS, so a crash loses the latest.
"""

import asyncio
import json
import logging
import re
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from types import TracebackType
from typing import Self

from dataplaneapi.api.errors import ApiError
from dataplaneapi.settings.proxies import network
from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.errors import Unusable

log = logging.getLogger(__name__)
PREFIX = "dps_"
# The most tokens in all, and of one creator.
MOST, MOST_OF_ONE = 1000, 100
# The interval in seconds at which last uses are written and expired tokens are deleted.
TIDY_SECONDS = 60.0
TABLES = Tables("tokens", "CREATE TABLE token (hash TEXT PRIMARY KEY, data TEXT NOT NULL)")
_WELL_FORMED = re.compile(rb"dps_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True)
class Token:
    """A token without its secret. Times are Unix times."""

    id: str
    hash: str
    roles: tuple[str, ...]
    # The group and the name of the creator, as in `role_of`.
    group: str
    creator: str
    created: float
    expires: float
    # The networks of clients that may use the token. Empty: any client.
    networks: tuple[str, ...] = ()
    note: str = ""
    # The time of the last use, and the address of its client.
    used: float | None = None
    used_from: str = ""

    def is_from(self, address: str) -> bool:
        """Return whether a client with this address may use the token. Clients of a Unix socket may not if the token has networks."""
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
    """All tokens, in memory and in a database. As a context manager, call `tidy` every TIDY_SECONDS while the body runs."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        database.declare(TABLES)
        self._database, self._clock = database, clock
        self._by_hash: dict[str, Token] = {}
        # The hashes of the tokens whose last use is not written yet, and whether the tokens in the database have been read.
        self._used, self._is_read = set[str](), False
        try:
            self._add_stored(database.read(_read_tokens))
        except Unusable as error:
            log.error("reading the tokens failed, so all tokens are refused: %s", error)

    async def __aenter__(self) -> Self:
        self._tidying = asyncio.create_task(self._tidy_periodically())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._tidying.cancel()
        await asyncio.wait([self._tidying])
        await self.tidy()

    def _add_stored(self, stored: Iterable[Token]) -> None:
        self._by_hash, self._is_read = {token.hash: token for token in stored} | self._by_hash, True

    def all(self) -> list[Token]:
        """Return the valid tokens, newest first."""
        now = self._clock()
        return sorted((token for token in self._by_hash.values() if token.expires > now), key=lambda token: -token.created)

    def get(self, id_: str) -> Token | None:
        return next((token for token in self.all() if token.id == id_), None)

    def find(self, secret: bytes) -> Token | None:
        """Return the token with this secret; None if the token is unknown or has expired."""
        token = self._by_hash.get(_hash(secret)) if is_well_formed(secret) else None
        return token if token and token.expires > self._clock() else None

    async def create(
        self, roles: Sequence[str], group: str, creator: str, seconds: float, networks: Sequence[str] = (), note: str = ""
    ) -> tuple[Token, str]:
        """Create a token that is valid for this many seconds. Return the token and its secret, which is not stored.

        Raises ApiError (429) if there are too many tokens, and Unusable if the token cannot be stored.
        """
        self._drop_expired()
        own = sum((token.group, token.creator) == (group, creator) for token in self._by_hash.values())
        if own >= MOST_OF_ONE or len(self._by_hash) >= MOST:
            count = f"this creator has {own}" if own >= MOST_OF_ONE else f"there are {len(self._by_hash)}"
            raise ApiError(429, f"{count} tokens, which is the maximum; DELETE /v3/sidecar/tokens/{{id}} revokes one")
        secret, now = PREFIX + secrets.token_urlsafe(32), self._clock()
        id_ = secrets.token_hex(4)
        while any(token.id == id_ for token in self._by_hash.values()):
            id_ = secrets.token_hex(4)
        token = Token(id_, _hash(secret.encode()), tuple(roles), group, creator, now, now + seconds, tuple(networks), note)
        self._by_hash[token.hash] = token
        try:
            await self._database.store(partial(_write_tokens, [token]))
        except Unusable as error:
            self._by_hash.pop(token.hash, None)
            raise Unusable(f"creating the token failed: {error}") from error
        log.info("created token %s of %s: role %s, valid for %.0f seconds", token.id, creator, ", ".join(roles) or "none", seconds)
        return token, secret

    async def revoke(self, token: Token, by: str) -> None:
        """Revoke a token. `by` is the name of the caller for the log. Raises Unusable if a restart could make the token valid again."""
        self._by_hash.pop(token.hash, None)
        log.info("token %s of %s was revoked by %s", token.id, token.creator, by)
        delete = partial(_delete_tokens, [token.hash])
        try:
            await self._database.store(delete)
        except Unusable as error:
            self._database.post(delete)
            raise Unusable(
                f"the token is revoked, but it becomes valid again if the server restarts before the change is written: {error}"
            ) from error

    def use(self, token: Token, address: str) -> None:
        """Record the time of a use and the address of the client."""
        self._by_hash[token.hash] = replace(token, used=self._clock(), used_from=address)
        self._used.add(token.hash)

    async def tidy(self) -> None:
        """Delete expired tokens, and write the last uses. If the stored tokens could not be read before, read them."""
        if not self._is_read:
            with suppress(Unusable):
                self._add_stored(await self._database.run(_read_tokens))
        self._drop_expired()
        if used := [token for hash_ in self._used if (token := self._by_hash.get(hash_))]:
            self._used.clear()
            self._database.post(partial(_write_tokens, used, is_synced=False))

    async def _tidy_periodically(self) -> None:
        while True:
            await asyncio.sleep(TIDY_SECONDS)
            await self.tidy()

    def _drop_expired(self) -> None:
        now = self._clock()
        if gone := [token.hash for token in self._by_hash.values() if token.expires <= now]:
            for hash_ in gone:
                del self._by_hash[hash_]
            self._database.post(partial(_delete_tokens, gone))


def _read_tokens(state: State) -> list[Token]:
    """Return the tokens in the database. Raises sqlite3.Error."""
    rows = [json.loads(data) for (data,) in state.execute("SELECT data FROM token")]
    return [Token(**{**row, "roles": tuple(row["roles"]), "networks": tuple(row["networks"])}) for row in rows]


def _write_tokens(tokens: Sequence[Token], state: State, *, is_synced: bool = True) -> None:
    with state.transaction(is_synced=is_synced):
        state.executemany("INSERT OR REPLACE INTO token VALUES (?, ?)", [(token.hash, json.dumps(asdict(token))) for token in tokens])


def _delete_tokens(hashes: Sequence[str], state: State) -> None:
    with state.transaction():
        state.executemany("DELETE FROM token WHERE hash = ?", [(hash_,) for hash_ in hashes])


def _hash(secret: bytes) -> str:
    return sha256(secret).hexdigest()
