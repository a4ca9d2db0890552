"""Verify JWTs (RFC 7519) of an OpenID Connect issuer: signature, times, issuer and audience.

`KeySet` fetches the public keys of the issuer, and `Issuer` verifies JWTs with them. A verified JWT is cached, so that later requests with
it need no check. A claim of the JWT determines the roles of the caller.

The server starts without waiting for the issuer. If the issuer does not answer, the known keys remain valid without limit. Only if no key
is known, no JWT can be verified (IssuerUnavailable).
"""

import asyncio
import hashlib
import json
import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx2
import jwt
from jwt import PyJWK

from dataplaneapi.auth.caller import BadToken, IssuerUnavailable, JwtCaller
from dataplaneapi.settings.jwt import JwtSettings
from haproxy_native.background import Background

log = logging.getLogger(__name__)
# Seconds: the timeout of a fetch, the shortest time between two fetches, and the age at which keys are fetched again.
FETCH_SECONDS, PAUSE_SECONDS, FRESH_SECONDS = 3.0, 10.0, 900.0
MOST_BYTES, MOST_KEYS = 1 << 18, 100
# The shortest RSA key (RFC 7518, section 3.3).
LEAST_BITS = 2048
DISCOVERY = "/.well-known/openid-configuration"
# The algorithms of a key without `alg`, by its type. Algorithms with a shared secret are not supported.
ALGORITHMS = {"RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")}
ASYMMETRIC = frozenset((*ALGORITHMS["RSA"], "ES256", "ES384", "ES512", "EdDSA"))


class KeysFailed(Exception):
    """Raised if the keys of the issuer cannot be fetched, or if no key can be used."""


@dataclass(frozen=True)
class VerificationKey:
    """A public key of the issuer, with the algorithms that its signatures may use."""

    key: Any
    algorithms: tuple[str, ...]


class KeySet:
    """The public keys of an issuer (RFC 7517), which are fetched when needed. If fetching fails, the known keys remain valid.

    `fetch` returns the document with the keys. `generation` is a number that changes whenever the keys change. `fetch_error` is the reason
    why the last fetch failed, or empty.
    """

    def __init__(self, fetch: Callable[[], Awaitable[Any]], clock: Callable[[], float] = time.monotonic) -> None:
        self._fetch, self._clock = fetch, clock
        self._keys: dict[str, VerificationKey] = {}
        self._document: Any = None
        self._works = Background("fetching keys")
        self._fetching: asyncio.Task[None] | None = None
        self._tried, self._fetched = float("-inf"), float("-inf")
        self.generation, self.fetch_error = 0, ""

    async def close(self) -> None:
        await self._works.stop()

    def get(self, id_: str | None) -> VerificationKey | None:
        """Return the key with this id. If the id is None, return the only key of the issuer. Return None if there is no such key."""
        if id_ is not None:
            return self._keys.get(id_)
        return next(iter(self._keys.values())) if len(self._keys) == 1 else None

    def __len__(self) -> int:
        return len(self._keys)

    def fetch_if_old(self) -> None:
        """Start fetching the keys again if they are older than FRESH_SECONDS. Does not wait for the result."""
        if self._clock() - self._fetched > FRESH_SECONDS:
            self._begin()

    async def fetch_missing(self, id_: str | None) -> VerificationKey | None:
        """Return the key with this id, like `get`. Return None if there is no such key.

        If the key is unknown, first fetch the keys, unless the last fetch began less than PAUSE_SECONDS ago. Waits for at most
        FETCH_SECONDS.
        """
        if self.get(id_) is None and (fetching := self._begin()) is not None:
            await asyncio.wait([fetching])
        return self.get(id_)

    def _begin(self) -> "asyncio.Task[None] | None":
        if self._fetching is None or self._fetching.done():
            if self._clock() - self._tried < PAUSE_SECONDS:
                return None
            self._tried = self._clock()
            self._fetching = self._works.begin(self._fetch_keys())
        return self._fetching

    async def _fetch_keys(self) -> None:
        """Fetch the keys. If that fails, keep the known keys, and store the reason in `fetch_error`."""
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                document = await self._fetch()
            keys = usable(document)
        except (KeysFailed, TimeoutError, OSError, ValueError) as error:
            self.fetch_error = str(error) or f"no answer within {FETCH_SECONDS:g} seconds"
            log.warning("fetching the keys of the JWT issuer failed; the known keys stay valid: %s", self.fetch_error)
            return
        self._fetched, self.fetch_error = self._clock(), ""
        if document != self._document:
            self._document, self._keys = document, keys
            self.generation += 1


def usable(document: Any) -> dict[str, VerificationKey]:
    """Return the signature keys of a JWK set by id. Skip other keys, and log unusable signature keys. Raises KeysFailed."""
    rows = document.get("keys") if isinstance(document, Mapping) else None
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise KeysFailed("it has no list of keys (RFC 7517)")
    keys: dict[str, VerificationKey] = {}
    for row in rows[:MOST_KEYS]:
        if not isinstance(row, Mapping) or row.get("use", "sig") != "sig" or row.get("kty") not in ("RSA", "EC", "OKP"):
            continue
        try:
            key = PyJWK(dict(row))
            if row["kty"] == "RSA" and key.key.key_size < LEAST_BITS:
                raise ValueError(f"it has {key.key.key_size} bits, {LEAST_BITS} are required")
            algorithms = (key.algorithm_name,) if row.get("alg") else ALGORITHMS.get(row["kty"], (key.algorithm_name,))
            if not ASYMMETRIC.issuperset(algorithms):
                raise ValueError(f"its algorithm {', '.join(algorithms)} is not one of {', '.join(sorted(ASYMMETRIC))}")
        # PyJWT passes on the exceptions of its algorithms, such as NotImplementedError for `none`.
        except Exception as error:  # noqa: BLE001 - an unusable key is skipped
            log.warning("skipping key %r of the JWT issuer: %s", str(row.get("kid", ""))[:100], error or type(error).__name__)
            continue
        keys[str(row.get("kid", ""))] = VerificationKey(key.key, algorithms)
    if not keys:
        raise KeysFailed(f"none of its keys is for signatures by one of {', '.join(sorted(ASYMMETRIC))}")
    return keys


async def fetch(settings: JwtSettings) -> Any:
    """Fetch the document with the keys of an issuer. Raises KeysFailed.

    The URL of the document is `jwks` in the settings. If `jwks` is not set, the URL is in the discovery document of the issuer (OpenID
    Connect Discovery 1.0, section 4).
    """
    issuer = settings.issuer
    try:
        context = await asyncio.to_thread(ssl.create_default_context, cafile=settings.ca_file or None)
        async with httpx2.AsyncClient(verify=context, timeout=FETCH_SECONDS) as client:
            if settings.jwks:
                return await _json(client, settings.jwks)
            discovery = await _json(client, issuer.rstrip("/") + DISCOVERY)
            discovery = discovery if isinstance(discovery, Mapping) else {}
            if discovery.get("issuer") != issuer:
                raise KeysFailed(f"the discovery document of {issuer} names another issuer: {str(discovery.get('issuer'))[:200]!r}")
            url = discovery.get("jwks_uri")
            if not isinstance(url, str) or (issuer.startswith("https:") and not url.startswith("https:")):
                raise KeysFailed(f"the discovery document of {issuer} has no jwks_uri with https")
            return await _json(client, url)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise KeysFailed(f"{settings.jwks or issuer}: {type(error).__name__}: {error}") from None


async def _json(client: httpx2.AsyncClient, url: str) -> Any:
    async with client.stream("GET", url) as answer:
        if answer.status_code != 200:
            raise KeysFailed(f"{url} answers with status {answer.status_code}")
        data = b""
        async for part in answer.aiter_bytes():
            data += part
            if len(data) > MOST_BYTES:
                raise KeysFailed(f"{url} has more than {MOST_BYTES} bytes")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise KeysFailed(f"{url} does not return JSON") from None


# The tolerated difference between the clocks of the issuer and this server.
LEEWAY_SECONDS = 10.0
LONGEST, LONGEST_NAME, MOST_VALUES, REMEMBERED_AT_MOST = 1 << 14, 200, 500, 1024
# The claims whose value is a list of words in one text (RFC 8693, section 4.2).
SCOPES = ("scope", "scp")
_DECODER = jwt.PyJWT({"require": ["exp", "iss", "aud"]})


class Issuer:
    """The issuer of JWTs in the settings, and the cache of verified JWTs. A JWT is cached until it expires or the keys change."""

    def __init__(self, settings: JwtSettings, keys: KeySet | None = None, clock: Callable[[], float] = time.time) -> None:
        self.settings, self._clock = settings, clock
        self.keys = KeySet(partial(fetch, settings)) if keys is None else keys
        self._verified_jwts: dict[bytes, JwtCaller] = {}
        self._generation = self.keys.generation

    def begin(self) -> None:
        """Start fetching the keys, before a request needs them."""
        self.keys.fetch_if_old()

    async def close(self) -> None:
        await self.keys.close()

    def cached_caller(self, token: bytes) -> JwtCaller | None:
        """Return the caller of a JWT that the cache contains. Return None if the JWT is not cached or has expired."""
        self.keys.fetch_if_old()
        self._forget_if_keys_changed()
        caller = self._verified_jwts.get(_digest(token))
        return caller if caller and caller.expires > self._clock() else None

    async def verify(self, token: bytes) -> JwtCaller:
        """Verify a JWT, cache its caller and return it. If the key is unknown, fetch the keys. Raises BadToken and IssuerUnavailable."""
        caller = self._decode(token, await self._key_of(token))
        self._forget_if_keys_changed()
        if len(self._verified_jwts) >= REMEMBERED_AT_MOST:
            self._verified_jwts.clear()
        self._verified_jwts[_digest(token)] = caller
        return caller

    def _forget_if_keys_changed(self) -> None:
        """Clear the cache of verified JWTs if the keys have changed."""
        if self._generation != self.keys.generation:
            self._verified_jwts.clear()
            self._generation = self.keys.generation

    async def _key_of(self, token: bytes) -> VerificationKey:
        """Return the key that the header of a JWT names. Raises BadToken and IssuerUnavailable."""
        if len(token) > LONGEST:
            raise BadToken(f"the JWT has more than {LONGEST} bytes")
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise BadToken("the JWT has no valid header") from None
        id_, algorithm = header.get("kid"), header.get("alg")
        if id_ is not None and not isinstance(id_, str):
            raise BadToken("the JWT has no valid header")
        # Older versions of PyJWT ignore `crit`.
        if "crit" in header:
            raise BadToken("the JWT has a header crit, and this server supports no extensions")
        if not isinstance(algorithm, str) or algorithm not in ASYMMETRIC:
            raise BadToken(f"the JWT is signed by {str(algorithm)[:20]!r}; expected one of {', '.join(sorted(ASYMMETRIC))}")
        key = await self.keys.fetch_missing(id_)
        if not self.keys:
            raise IssuerUnavailable(
                f"the keys of {self.settings.issuer} cannot be fetched, so no JWT can be verified; the log has the reason"
            )
        if key is None:
            raise BadToken(f"{self.settings.issuer} has no key {str(id_)[:100]!r} for the JWT")
        return key

    def _decode(self, token: bytes, key: VerificationKey) -> JwtCaller:
        """Verify the signature and the claims of a JWT, and return its caller. Raises BadToken."""
        settings = self.settings
        try:
            claims: Mapping[str, Any] = _DECODER.decode(
                token, key.key, list(key.algorithms), audience=settings.audience, issuer=settings.issuer, leeway=LEEWAY_SECONDS
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
            raise BadToken(f"invalid JWT: {' '.join(str(error).split())[:200]}") from None
        if not isinstance(claims["exp"], int | float):
            raise BadToken("invalid JWT: exp is not a number")
        claim, name = settings.name, claims.get(settings.name)
        if not isinstance(name, str) or not name.strip():
            raise BadToken(f"the JWT has no claim {claim} with the name of the caller")
        # A long name is refused instead of truncated, because the truncated name could be that of another caller.
        if len(name) > LONGEST_NAME:
            raise BadToken(f"the claim {claim} of the JWT has more than {LONGEST_NAME} characters")
        if not name.isprintable():
            raise BadToken(f"the claim {claim} of the JWT has characters that cannot be printed")
        return JwtCaller.of(name, values(claims, settings.claim), claims["exp"] + LEEWAY_SECONDS, settings.issuer)


def values(claims: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return the texts of the claim `name`. If there is no such claim, read `name` as the path of a nested claim: `realm_access.roles`."""
    claim: Any = claims.get(name)
    if claim is None:
        claim = claims
        for part in name.split("."):
            claim = claim.get(part) if isinstance(claim, Mapping) else None
    if isinstance(claim, str):
        return tuple(claim.split()[:MOST_VALUES]) if name in SCOPES else (claim,)
    return tuple(value for value in claim[:MOST_VALUES] if isinstance(value, str)) if isinstance(claim, list) else ()


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
