"""Authenticate callers by a bearer token (RFC 6750): a token of this server, or a JWT of the issuer in the settings."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from dataplaneapi.auth.caller import TOKENS, BadToken, Caller, JwtCaller, TokenCaller, id_of
from dataplaneapi.auth.tokens import Token, Tokens, is_well_formed
from dataplaneapi.auth.users import Users
from dataplaneapi.settings.jwt import JwtSettings
from dataplaneapi.settings.roles import CLAIMS, USERS, Roles
from haproxy_native.access.rights import Rights
from haproxy_native.editing.userlist import User

if TYPE_CHECKING:
    from dataplaneapi.auth.jwt import Issuer


class Bearers:
    """The tokens of this server, and the issuer of JWTs if the settings have one. Use it as an async context manager.

    A token permits nothing if its creator was a user that no longer exists.
    """

    def __init__(self, users: Users, tokens: Tokens, jwt: JwtSettings | None = None) -> None:
        self._users, self.tokens = users, tokens
        self._issuer: Issuer | None = None
        self._jwt: JwtSettings | None = None
        self._set_issuer(jwt)

    async def __aenter__(self) -> Self:
        await self.tokens.__aenter__()
        if self._issuer:
            self._issuer.begin()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._issuer:
            await self._issuer.close()
        await self.tokens.__aexit__(kind, error, trace)

    async def change(self, jwt: JwtSettings | None) -> None:
        """Apply new settings. If they have changed, verify all JWTs again. Reuse the known keys if their source is the same."""
        if jwt != self._jwt:
            former = self._issuer
            self._set_issuer(jwt)
            if self._issuer:
                self._issuer.begin()
            if former and not (self._issuer and self._issuer.keys is former.keys):
                await former.close()

    def _set_issuer(self, jwt: JwtSettings | None) -> None:
        former, self._jwt, self._issuer = self._issuer, jwt, None
        if jwt:
            # Imported here, because it imports packages that only the extra `oidc` installs.
            from dataplaneapi.auth.jwt import Issuer

            self._issuer = Issuer(jwt, former.keys if former and former.settings.source == jwt.source else None)

    def refreshed(self, caller: Caller) -> Caller | None:
        """Return the caller with the current state of its token.

        Return None if the token has ended, or if the settings no longer name the issuer of its JWT.
        """
        if isinstance(caller, JwtCaller):
            return caller if self._jwt and caller.issuer == self._jwt.issuer else None
        if caller.token is None:
            return caller
        token = self.tokens.get(caller.token.id)
        return self.caller_of(token) if token else None

    def user(self, caller: Caller) -> User | None:
        """Return the user that the caller logged in as. Return None if the caller has other credentials or the user no longer exists."""
        return self._users.find(caller.name) if caller.group == USERS else None

    def caller_of(self, token: Token) -> TokenCaller:
        is_orphan = token.group == USERS and self._users.find(token.creator) is None
        return TokenCaller.of(token, is_orphan=is_orphan)

    def rights_now(self, roles: Roles | None, group: str, name: str) -> Rights | None:
        """Return the current permissions of the author of an earlier change, by the group and the name that the change has recorded.

        None means that everything is permitted. A caller that no longer exists is permitted nothing.
        """
        if group == TOKENS:
            token = self.tokens.get(id_of(name))
            return self.caller_of(token).rights(roles) if token else Rights(why=f"{name} has expired or was revoked")
        if group == CLAIMS:
            return Rights(why=f"the current permissions of {name} are unknown: its JWT came with an earlier request")
        if roles and group == USERS and self._users.find(name) is None:
            return Rights(why=f"user {name} does not exist")
        return Caller(group, name).rights(roles)

    def known_caller(self, bearer: bytes, address: str) -> Caller | None:
        """Return the caller of a token that is valid for a request from this address. Record the use of a token of this server.

        Return None for any other token, and for a JWT that is not verified yet.
        """
        token = self.tokens.find(bearer)
        if token is None:
            return self._issuer.cached_caller(bearer) if self._issuer else None
        if not token.is_from(address):
            return None
        self.tokens.use(token, address)
        return self.caller_of(token)

    def supports(self, bearer: bytes) -> bool:
        """Return whether a token is of a kind that this server supports. Any other token is refused like a wrong password."""
        return self._issuer is not None or is_well_formed(bearer)

    def is_guess(self, bearer: bytes) -> bool:
        """Return whether a token is a well-formed token of this server but unknown, as a guess would be."""
        return is_well_formed(bearer) and self.tokens.find(bearer) is None

    async def verify(self, bearer: bytes, address: str) -> Caller:
        """Verify a JWT and return its caller. Waits for the keys of the issuer if they are unknown.

        Raises IssuerUnavailable, and BadToken for an invalid JWT and any other token that has no `known_caller`.
        """
        if self._issuer and bearer.count(b".") == 2:
            return await self._issuer.verify(bearer)
        if (token := self.tokens.find(bearer)) is not None:
            raise BadToken(f"token {token.id} may not be used from {address}")
        raise BadToken("unknown token: it has expired, was revoked, or was created by another server")


def parse_bearer(authorization: bytes) -> bytes | None:
    """Return the token of an `Authorization: Bearer` value, or None for anything else."""
    scheme, _, token = authorization.partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else None
