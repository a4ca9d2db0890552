"""Authenticate every request by password or token, and limit the guessing of passwords.

A password check computes a slow hash, so correct passwords are cached for REMEMBERED_SECONDS. A change of the users clears the cache.

The number of wrong passwords is limited by address and name (guessing.py). Above the limit, the gate refuses passwords without a check
(429). The exception is a name that has logged in from the address before. Its passwords are still checked, so that other clients at the
address cannot lock the user out. These checks run one at a time, with a pause of PAUSE seconds after a wrong password. A correct password
is then not cached, because an immediate answer would reveal that a guess was correct.

A valid token is always accepted. Unknown tokens are limited by address like wrong passwords.
"""

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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

from dataplaneapi.api.errors import error_response
from dataplaneapi.api.responses import RETRY_AFTER, Header, HeaderName, Response
from dataplaneapi.auth import passwords
from dataplaneapi.auth.bearers import Bearers, parse_bearer
from dataplaneapi.auth.caller import BadToken, Caller, IssuerUnavailable
from dataplaneapi.auth.guessing import Guessing, Pair, pair
from dataplaneapi.auth.users import Users
from dataplaneapi.server.log_rate import RateLimit
from dataplaneapi.settings.roles import USERS

LOGGED_NAME = 64
REMEMBERED_SECONDS, REMEMBERED_AT_MOST = 60.0, 1024
# Seconds: the value of Retry-After if the keys of the issuer cannot be fetched.
RETRY_SECONDS = 10
# The pause in seconds after a wrong password that is checked although the limit is exceeded.
PAUSE = 0.2
logger = logging.getLogger(__name__)
# A separate pool, so that many wrong passwords from many addresses do not occupy the threads that write to the disk.
_HASHING = ThreadPoolExecutor(max(2, os.cpu_count() or 1), "passwords")
limit_logger = logger.getChild("limit")
limit_logger.addFilter(RateLimit())
CHALLENGE = (HeaderName(b"WWW-Authenticate"), b'Basic realm="API"')
BEARER_CHALLENGE = (HeaderName(b"WWW-Authenticate"), b'Bearer realm="API", error="invalid_token"')


@dataclass(frozen=True, repr=False)
class Login:
    """An attempt to log in. `digest` identifies the address and the credentials."""

    name: str
    password: str
    address: str
    digest: bytes

    @cached_property
    def pair(self) -> Pair:
        return pair(self.address, self.name)


class Gate:
    """The authentication of all requests. In all methods `address` is the address of the client."""

    def __init__(self, users: Users, clock: Callable[[], float] = time.monotonic, bearers: Bearers | None = None) -> None:
        self._users, self._clock, self._bearers = users, clock, bearers
        self._key = os.urandom(32)
        # The cache of correct credentials by digest: the time until which they need no check, their address and name, and their caller.
        self._correct_logins: dict[bytes, tuple[float, Pair, Caller]] = {}
        self._generation = users.generation
        self.guessing = Guessing(clock)
        # The running checks by digest. All requests with the same credentials wait for one check.
        self._checks: dict[bytes, asyncio.Task[Response | None]] = {}
        # For each pair, the last of the checks that run one at a time.
        self._turns: dict[Pair, asyncio.Task[Any]] = {}
        # The number of refused requests by reason. It is a public metric, so the reasons do not reveal whether a name is known.
        self.refused: Counter[str] = Counter()

    def known_caller(self, authorization: bytes, address: str) -> Caller | None:
        """Return the caller of an Authorization header with a valid token, or with a password that the cache contains for this address.

        Return None for any other header, which `authenticate` checks.
        """
        self._users.refresh()
        if self._generation != self._users.generation:
            self._correct_logins.clear()
            self._generation = self._users.generation
        if self._bearers and (bearer := parse_bearer(authorization)) is not None:
            return self._bearers.known_caller(bearer, address)
        known = self._correct_logins.get(self._digest(authorization, address))
        return known[2] if known and known[0] > self._clock() else None

    async def authenticate(self, authorization: bytes, address: str) -> Caller | Response:
        """Check an Authorization header, with a hash in a thread if necessary. Return its caller, or the error response if it is invalid.

        Log the name of a user whose password is wrong.
        """
        if caller := self.known_caller(authorization, address):
            return caller
        if self._bearers and (bearer := parse_bearer(authorization)) is not None:
            return await self._authenticate_bearer(self._bearers, bearer, address)
        credentials = parse_basic(authorization)
        if credentials is None:
            return self._refused_response("malformed" if authorization else "none", "missing or invalid authorization")
        if not len(self._users):
            return self._refused_response("no_users", "no configured users")
        login = Login(*credentials, address, self._digest(authorization, address))
        if (check := self._checks.get(login.digest)) is None:
            seconds = self.guessing.wait(login.pair)
            if seconds and not self.guessing.has_succeeded(login.pair):
                return self._limited_response(address, seconds)
            if not seconds:
                # The attempt counts as failed until it succeeds, so that parallel attempts cannot exceed the limit.
                self.guessing.fail(login.pair)
                self._forget_limited_logins(login.pair)
            check = self._checks[login.digest] = asyncio.ensure_future(self._check_login(login, is_limited=seconds > 0))
            check.add_done_callback(lambda _: self._checks.pop(login.digest))
        return await asyncio.shield(check) or Caller(USERS, login.name)

    async def _authenticate_bearer(self, bearers: Bearers, bearer: bytes, address: str) -> Caller | Response:
        """Verify a JWT, and refuse any other bearer token. Count an unknown token as a failure of its address."""
        if bearers.is_guess(bearer):
            counted_pair = pair(address, "")
            if seconds := self.guessing.wait(counted_pair):
                return self._limited_response(address, seconds)
            self.guessing.fail(counted_pair)
            self._forget_limited_logins(counted_pair)
        try:
            return await bearers.verify(bearer, address)
        except IssuerUnavailable as error:
            self.refused["issuer"] += 1
            return error_response(503, str(error), [(RETRY_AFTER, b"%d" % RETRY_SECONDS)])
        except BadToken as error:
            limit_logger.warning("a token from %s is refused: %s", address, error)
            return self._refused_response("token", str(error), BEARER_CHALLENGE if bearers.supports(bearer) else CHALLENGE)

    async def _check_login(self, login: Login, *, is_limited: bool) -> Response | None:
        """Check a login. Return None if the password is correct, or else the error response.

        `is_limited` means that the limit is exceeded. The check then waits for the preceding check of the same pair, and pauses after a
        wrong password.
        """
        if not is_limited:
            return None if await self._verify_password(login) else self._refused_response("wrong", "unauthorized")
        before, turn = self._turns.get(login.pair), asyncio.current_task()
        assert turn is not None
        self._turns[login.pair] = turn
        try:
            if before:
                await asyncio.wait([before])
            if await self._verify_password(login):
                return None
            await asyncio.sleep(PAUSE)
            return self._limited_response(login.address, self.guessing.wait(login.pair))
        finally:
            if self._turns.get(login.pair) is turn:
                del self._turns[login.pair]

    async def _verify_password(self, login: Login) -> bool:
        """Return whether the password is correct. Log a wrong password. Cache a correct one, unless the limit is exceeded."""
        generation, loop = self._users.generation, asyncio.get_running_loop()
        user = self._users.find(login.name)
        if not await loop.run_in_executor(_HASHING, passwords.verify_evenly, login.password, user, self._users.hashes):
            logger.warning("login of user %s from %s failed", json.dumps(login.name[:LOGGED_NAME]), login.address)
            return False
        self.guessing.succeed(login.pair)
        if generation == self._users.generation and not self.guessing.wait(login.pair):
            if len(self._correct_logins) >= REMEMBERED_AT_MOST:
                self._correct_logins.clear()
            self._correct_logins[login.digest] = self._clock() + REMEMBERED_SECONDS, login.pair, Caller(USERS, login.name)
        return True

    def _limited_response(self, address: str, seconds: float) -> Response:
        """Return the response 429 to credentials that may be sent again after `seconds`."""
        self.refused["limited"] += 1
        limit_logger.warning("too many wrong passwords or tokens from %s", address)
        seconds = max(1, ceil(seconds))
        text = f"too many wrong passwords or tokens from {address}; try again in {seconds} seconds"
        return error_response(429, text, [(RETRY_AFTER, b"%d" % seconds)])

    def _forget_limited_logins(self, counted_pair: Pair) -> None:
        """Remove cached credentials of the pair's address, if their own pair exceeds a limit."""
        if self.guessing.wait(counted_pair):
            remaining = {
                key: known
                for key, known in self._correct_logins.items()
                if known[1][0] != counted_pair[0] or not self.guessing.wait(known[1])
            }
            self._correct_logins = remaining

    def _refused_response(self, reason: str, text: str, challenge: Header = CHALLENGE) -> Response:
        self.refused[reason] += 1
        return error_response(401, text, [challenge])

    def _digest(self, authorization: bytes, address: str) -> bytes:
        return hashlib.blake2b(address.encode() + b" " + authorization, key=self._key, digest_size=16).digest()


def parse_basic(authorization: bytes) -> tuple[str, str] | None:
    """Return (name, password) of an `Authorization: Basic` value, or None for anything else."""
    scheme, _, encoded = authorization.partition(b" ")
    if scheme.lower() != b"basic":
        return None
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode("utf-8", "surrogateescape")
    except (binascii.Error, ValueError):
        return None
    name, colon, password = text.partition(":")
    return (name, password) if colon else None
