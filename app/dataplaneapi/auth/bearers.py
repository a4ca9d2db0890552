"""Callers that come with a bearer token (RFC 6750)."""

from dataplaneapi.auth.caller import TOKENS, Caller, EndedCaller, TokenCaller, id_of
from dataplaneapi.auth.tokens import Token, Tokens, is_well_formed
from dataplaneapi.auth.users import Users
from dataplaneapi.settings.roles import USERS, Roles
from haproxy_native.access.rights import Rights


class Bearers:
    """Those with tokens of this server, whose creators are `users` or names in client certificates."""

    def __init__(self, users: Users, tokens: Tokens) -> None:
        self._users, self.tokens = users, tokens

    def caller(self, bearer: bytes) -> Caller:
        """Of a request that was admitted."""
        token = self.tokens.find(bearer)
        return self.of(token) if token else EndedCaller()

    def present(self, caller: Caller) -> Caller | None:
        """The same caller as it is now; None where its token has ended."""
        if caller.token is None:
            return caller
        token = self.tokens.get(caller.token.id)
        return self.of(token) if token else None

    def of(self, token: Token) -> TokenCaller:
        is_orphan = token.group == USERS and self._users.find(token.creator) is None
        return TokenCaller.of(token, is_orphan=is_orphan)

    def rights_now(self, roles: Roles | None, group: str, name: str) -> Rights | None:
        """Those of a caller who is not there to ask, by the group and name that its changes have; none of one who is gone."""
        if group == TOKENS:
            token = self.tokens.get(id_of(name))
            return self.of(token).rights(roles) if token else Rights(why=f"{name} has ended")
        if roles and group == USERS and self._users.find(name) is None:
            return Rights(why=f"{name} is no user any more")
        return Caller(group, name).rights(roles)

    def admits(self, bearer: bytes, address: str) -> bool:
        """Whether the token is good for a request of this address, which counts as a use of it."""
        token = self.tokens.find(bearer)
        if token is None or not token.is_from(address):
            return False
        self.tokens.use(token, address)
        return True

    def is_guess(self, bearer: bytes) -> bool:
        """Whether it looks like a token, and is none that is known."""
        return is_well_formed(bearer) and self.tokens.find(bearer) is None

    def refusal(self, bearer: bytes, address: str) -> str:
        """Why a token is not good for a request of this address."""
        if (token := self.tokens.find(bearer)) is not None:
            return f"token {token.id} may not be used from {address}"
        return "the token is not known: it has expired, was revoked, or is none of this server's"


def parse_bearer(authorization: bytes) -> bytes | None:
    """The token of an `Authorization: Bearer` value; None for anything else."""
    scheme, _, token = authorization.partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else None
