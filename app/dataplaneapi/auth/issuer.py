"""JWTs of an OpenID Connect issuer (RFC 7519): signature, times, issuer and audience are checked, and a claim says which roles it has."""

import hashlib
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jwt

from dataplaneapi.auth.caller import IssuerAway, JwtCaller
from dataplaneapi.auth.key_set import ASYMMETRIC, Key, KeySet, fetch
from dataplaneapi.settings.jwt import JwtSettings

# How far the clocks of issuer and server may be apart.
LEEWAY_SECONDS = 10.0
LONGEST, LONGEST_NAME, MOST_VALUES, REMEMBERED_AT_MOST = 1 << 14, 200, 500, 1024
# Texts of several words (RFC 8693, section 4.2).
SCOPES = ("scope", "scp")
_DECODER = jwt.PyJWT({"require": ["exp", "iss", "aud"]})


class BadJwt(Exception):
    """Why a JWT is not good."""


class Issuer:
    """A verdict is remembered until its JWT expires, or the keys are other ones."""

    def __init__(self, settings: JwtSettings, keys: KeySet | None = None, clock: Callable[[], float] = time.time) -> None:
        self.settings, self._clock = settings, clock
        self.keys = KeySet(partial(fetch, settings)) if keys is None else keys
        self._verdicts: dict[bytes, JwtCaller] = {}
        self._generation = self.keys.generation

    def begin(self) -> None:
        """Fetches the keys before anyone needs them."""
        self.keys.freshen()

    async def close(self) -> None:
        await self.keys.close()

    def known(self, token: bytes) -> JwtCaller | None:
        """Returns the caller of a JWT that was verified before and is still valid, or None."""
        self.keys.freshen()
        self._follow_keys()
        caller = self._verdicts.get(_digest(token))
        return caller if caller and caller.expires > self._clock() else None

    async def refusal(self, token: bytes) -> str:
        """Why a JWT is not good; empty for one that is, which is known from now on. Raises IssuerAway."""
        try:
            caller = await self._verified(token)
        except BadJwt as error:
            return str(error)
        self._follow_keys()
        if len(self._verdicts) >= REMEMBERED_AT_MOST:
            self._verdicts.clear()
        self._verdicts[_digest(token)] = caller
        return ""

    def _follow_keys(self) -> None:
        """What was signed by former keys is verified again."""
        if self._generation != self.keys.generation:
            self._verdicts.clear()
            self._generation = self.keys.generation

    async def _verified(self, token: bytes) -> JwtCaller:
        """Raises BadJwt and IssuerAway. Waits for the keys of the issuer where there is none of the JWT's."""
        header = _header(token)
        id_, algorithm = header.get("kid"), header.get("alg")
        if id_ is not None and not isinstance(id_, str):
            raise BadJwt("the JWT has no valid header")
        # Older versions of PyJWT pass over it.
        if "crit" in header:
            raise BadJwt("the JWT has a header crit, and no extension is known here")
        if not isinstance(algorithm, str) or algorithm not in ASYMMETRIC:
            raise BadJwt(f"the JWT is signed by {str(algorithm)[:20]!r}; {', '.join(sorted(ASYMMETRIC))} are taken")
        key = await self.keys.look_for(id_)
        if not self.keys:
            raise IssuerAway(f"the keys of {self.settings.issuer} cannot be fetched, so that no JWT is known to be good; the log says why")
        if key is None:
            raise BadJwt(f"{self.settings.issuer} has no key {str(id_)[:100]!r} for the JWT")
        return self._caller(_claims(token, key, self.settings))

    def _caller(self, claims: Mapping[str, Any]) -> JwtCaller:
        """Return the claim with the caller's name, unchanged: a shortened or normalized name could be another caller's. Raises BadJwt."""
        claim, name = self.settings.name, claims.get(self.settings.name)
        if not isinstance(name, str) or not name.strip():
            raise BadJwt(f"the JWT has no claim {claim} with the name of the caller")
        if len(name) > LONGEST_NAME:
            raise BadJwt(f"the claim {claim} of the JWT has more than {LONGEST_NAME} characters")
        if not name.isprintable():
            raise BadJwt(f"the claim {claim} of the JWT has characters that cannot be printed")
        return JwtCaller.of(name, values(claims, self.settings.claim), claims["exp"] + LEEWAY_SECONDS, self.settings.issuer)


def values(claims: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The texts of a claim; a name with dots that is none may be a path, as in realm_access.roles."""
    claim: Any = claims.get(name)
    if claim is None:
        claim = claims
        for part in name.split("."):
            claim = claim.get(part) if isinstance(claim, Mapping) else None
    if isinstance(claim, str):
        return tuple(claim.split()[:MOST_VALUES]) if name in SCOPES else (claim,)
    return tuple(value for value in claim[:MOST_VALUES] if isinstance(value, str)) if isinstance(claim, list) else ()


def _header(token: bytes) -> Mapping[str, Any]:
    if len(token) > LONGEST:
        raise BadJwt(f"the JWT has more than {LONGEST} bytes")
    try:
        return jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise BadJwt("the JWT has no valid header") from None


def _claims(token: bytes, key: Key, settings: JwtSettings) -> Mapping[str, Any]:
    try:
        claims: Mapping[str, Any] = _DECODER.decode(
            token, key.key, list(key.algorithms), audience=settings.audience, issuer=settings.issuer, leeway=LEEWAY_SECONDS
        )
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise BadJwt(f"the JWT is not good: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(claims["exp"], int | float):
        raise BadJwt("the JWT is not good: exp is no number")
    return claims


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
