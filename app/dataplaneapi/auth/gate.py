"""Authentication of every request, by password or by token; a verdict on a password is cached, so that reads do not pay for slow hashes."""

import asyncio
import base64
import binascii
import hashlib
import json
import logging
import os
import time
from collections import Counter
from collections.abc import Callable

from dataplaneapi.api.errors import error_response
from dataplaneapi.api.responses import Header, HeaderName, Response
from dataplaneapi.auth import passwords
from dataplaneapi.auth.bearers import Bearers, parse_bearer
from dataplaneapi.auth.caller import Caller
from dataplaneapi.auth.users import Users
from dataplaneapi.settings.roles import USERS

LOGGED_NAME = 64
REMEMBERED_SECONDS, REMEMBERED_AT_MOST = 60.0, 1024
logger = logging.getLogger(__name__)
CHALLENGE = (HeaderName(b"WWW-Authenticate"), b'Basic realm="API"')
BEARER_CHALLENGE = (HeaderName(b"WWW-Authenticate"), b'Bearer realm="API", error="invalid_token"')


class Gate:
    """Lets a request in, or says why not."""

    def __init__(self, users: Users, clock: Callable[[], float] = time.monotonic, bearers: Bearers | None = None) -> None:
        self._users, self._clock, self._bearers = users, clock, bearers
        self._key = os.urandom(32)
        self._verdicts: dict[bytes, float] = {}
        self._generation = users.generation
        # Requests by why they were refused; the same for known and unknown names, since anybody may read it as a metric.
        self.refused: Counter[str] = Counter()

    def admits_at_once(self, authorization: bytes, address: str = "-") -> bool:
        """Whether this header was found good a short while ago, or holds a token that is good now."""
        self._users.refresh()
        if self._generation != self._users.generation:
            self._verdicts.clear()
            self._generation = self._users.generation
            return False
        if self._bearers and (bearer := parse_bearer(authorization)) is not None:
            return self._bearers.admits(bearer, address)
        return self._verdicts.get(self._digest(authorization), 0.0) > self._clock()

    async def refusal(self, authorization: bytes, address: str = "-") -> Response | None:
        """None for a user with the right password; a wrong one is logged with the name that was sent and the client's address."""
        if self.admits_at_once(authorization, address):
            return None
        if self._bearers and (bearer := parse_bearer(authorization)) is not None:
            text = self._bearers.refusal(bearer, address)
            logger.warning("a token from %s is refused: %s", address, text)
            return self._refused("token", text, BEARER_CHALLENGE)
        credentials = parse_basic(authorization)
        if credentials is None:
            return self._refused("malformed" if authorization else "none", "missing or invalid authorization")
        if not len(self._users):
            return self._refused("no_users", "no configured users")
        generation = self._users.generation
        name, password = credentials
        right = await asyncio.to_thread(passwords.verify_evenly, password, self._users.find(name), self._users.hashes)
        if not right:
            logger.warning("login of user %s from %s failed", json.dumps(name[:LOGGED_NAME]), address)
            return self._refused("wrong", "unauthorized")
        if generation == self._users.generation:
            self._remember(authorization)
        return None

    def caller(self, authorization: bytes) -> Caller | None:
        """Of a request that was admitted; None where it has sent no credentials."""
        if self._bearers and (bearer := parse_bearer(authorization)) is not None:
            return self._bearers.caller(bearer)
        credentials = parse_basic(authorization)
        return Caller(USERS, credentials[0]) if credentials else None

    def _remember(self, authorization: bytes) -> None:
        if len(self._verdicts) >= REMEMBERED_AT_MOST:
            self._verdicts.clear()
        self._verdicts[self._digest(authorization)] = self._clock() + REMEMBERED_SECONDS

    def _refused(self, reason: str, text: str, challenge: Header = CHALLENGE) -> Response:
        self.refused[reason] += 1
        return error_response(401, text, [challenge])

    def _digest(self, authorization: bytes) -> bytes:
        return hashlib.blake2b(authorization, key=self._key, digest_size=16).digest()


def parse_basic(authorization: bytes) -> tuple[str, str] | None:
    """(name, password) of an `Authorization: Basic` value; None for anything else."""
    scheme, _, encoded = authorization.partition(b" ")
    if scheme.lower() != b"basic":
        return None
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode("utf-8", "surrogateescape")
    except (binascii.Error, ValueError):
        return None
    name, colon, password = text.partition(":")
    return (name, password) if colon else None
