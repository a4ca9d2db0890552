"""The public keys of an issuer (RFC 7517), fetched when they are needed and kept while it is away."""

import asyncio
import json
import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2
from jwt import PyJWK

from dataplaneapi.settings.jwt import JwtSettings
from haproxy_native.background import Background

log = logging.getLogger(__name__)
# A fetch takes so long at most, and the next one begins so much later; keys of that age are fetched again.
FETCH_SECONDS, PAUSE_SECONDS, FRESH_SECONDS = 3.0, 10.0, 900.0
MOST_BYTES, MOST_KEYS = 1 << 18, 100
# Of an RSA key (RFC 7518, section 3.3).
LEAST_BITS = 2048
DISCOVERY = "/.well-known/openid-configuration"
# By the type of a key that does not say what it is for; shared secrets are none of these.
ALGORITHMS = {"RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")}
ASYMMETRIC = frozenset((*ALGORITHMS["RSA"], "ES256", "ES384", "ES512", "EdDSA"))


class KeysFailed(Exception):
    """The keys cannot be fetched, or none can be used."""


@dataclass(frozen=True)
class Key:
    key: Any
    algorithms: tuple[str, ...]


class KeySet:
    """`fetch` returns the document with the keys; `generation` is another number when they are other ones."""

    def __init__(self, fetch: Callable[[], Awaitable[Any]], clock: Callable[[], float] = time.monotonic) -> None:
        self._fetch, self._clock = fetch, clock
        self._keys: dict[str, Key] = {}
        self._document: Any = None
        self._works = Background("fetching keys")
        self._fetching: asyncio.Task[None] | None = None
        self._tried, self._fetched = float("-inf"), float("-inf")
        self.generation, self.trouble = 0, ""

    async def close(self) -> None:
        await self._works.stop()

    def get(self, id_: str | None) -> Key | None:
        """The key of that id, or the only one there is for a JWT that names none."""
        if id_ is not None:
            return self._keys.get(id_)
        return next(iter(self._keys.values())) if len(self._keys) == 1 else None

    def __len__(self) -> int:
        return len(self._keys)

    def freshen(self) -> None:
        """Begins to fetch keys that are old; nothing waits for it."""
        if self._clock() - self._fetched > FRESH_SECONDS:
            self._begin()

    async def look_for(self, id_: str | None) -> Key | None:
        """Returns a key as `get` does, fetching the set if it is missing: for FETCH_SECONDS at most, and not within PAUSE_SECONDS of the
        last fetch.
        """
        if self.get(id_) is None and (fetching := self._begin()) is not None:
            await asyncio.wait([fetching])
        return self.get(id_)

    def _begin(self) -> "asyncio.Task[None] | None":
        if self._fetching is None or self._fetching.done():
            if self._clock() - self._tried < PAUSE_SECONDS:
                return None
            self._tried = self._clock()
            self._fetching = self._works.begin(self._renew())
        return self._fetching

    async def _renew(self) -> None:
        """Keys that cannot be fetched stay as they were."""
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                document = await self._fetch()
            keys = usable(document)
        except (KeysFailed, TimeoutError, OSError, ValueError) as error:
            self.trouble = str(error) or f"no answer within {FETCH_SECONDS:g} seconds"
            log.warning("the keys of the issuer of JWTs are not fetched, and those that are known stay good: %s", self.trouble)
            return
        self._fetched, self.trouble = self._clock(), ""
        if document != self._document:
            self._document, self._keys = document, keys
            self.generation += 1


def usable(document: Any) -> dict[str, Key]:
    """Return the keys for signatures by their ids. Others are skipped, and logged if they cannot be used. Raises KeysFailed."""
    rows = document.get("keys") if isinstance(document, Mapping) else None
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise KeysFailed("it has no list of keys (RFC 7517)")
    keys = {str(row.get("kid", "")): key for row in rows[:MOST_KEYS] if isinstance(row, Mapping) and (key := _key(row))}
    if not keys:
        raise KeysFailed(f"none of its keys is for signatures by one of {', '.join(sorted(ASYMMETRIC))}")
    return keys


def _key(row: Mapping[str, Any]) -> Key | None:
    if row.get("use", "sig") != "sig" or row.get("kty") not in ("RSA", "EC", "OKP"):
        return None
    try:
        known = PyJWK(dict(row))
        if row["kty"] == "RSA" and known.key.key_size < LEAST_BITS:
            raise ValueError(f"it has {known.key.key_size} bits, {LEAST_BITS} are required")
        algorithms = (known.algorithm_name,) if row.get("alg") else ALGORITHMS.get(row["kty"], (known.algorithm_name,))
        if not ASYMMETRIC.issuperset(algorithms):
            raise ValueError(f"its algorithm {', '.join(algorithms)} is none of {', '.join(sorted(ASYMMETRIC))}")
    # PyJWT passes on what each of its algorithms raises: NotImplementedError for `none`.
    except Exception as error:  # noqa: BLE001 - what cannot be used is skipped
        log.warning("skipping key %r of the issuer of JWTs: %s", str(row.get("kid", ""))[:100], error or type(error).__name__)
        return None
    return Key(known.key, algorithms)


async def fetch(settings: JwtSettings) -> Any:
    """The document with the keys of an issuer, by its discovery document where the settings do not say where it is. Raises KeysFailed."""
    try:
        context = await asyncio.to_thread(ssl.create_default_context, cafile=settings.ca_file or None)
        async with httpx2.AsyncClient(verify=context, timeout=FETCH_SECONDS) as client:
            return await _json(client, settings.jwks or await _discovered(client, settings.issuer))
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise KeysFailed(f"{settings.jwks or settings.issuer}: {type(error).__name__}: {error}") from None


async def _discovered(client: httpx2.AsyncClient, issuer: str) -> str:
    """OpenID Connect Discovery 1.0, section 4."""
    document = await _json(client, issuer.rstrip("/") + DISCOVERY)
    members = document if isinstance(document, Mapping) else {}
    if members.get("issuer") != issuer:
        raise KeysFailed(f"the discovery document of {issuer} is that of {str(members.get('issuer'))[:200]!r}")
    url = members.get("jwks_uri")
    if not isinstance(url, str) or (issuer.startswith("https:") and not url.startswith("https:")):
        raise KeysFailed(f"the discovery document of {issuer} has no jwks_uri with https")
    return url


async def _json(client: httpx2.AsyncClient, url: str) -> Any:
    async with client.stream("GET", url) as answer:
        if answer.status_code != 200:
            raise KeysFailed(f"{url} is answered {answer.status_code}")
        data = b""
        async for part in answer.aiter_bytes():
            data += part
            if len(data) > MOST_BYTES:
                raise KeysFailed(f"{url} has more than {MOST_BYTES} bytes")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise KeysFailed(f"{url} is no JSON") from None
