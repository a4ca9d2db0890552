"""The callers of requests: one class for each kind of credentials. `rights` determines what a caller may do."""

from dataclasses import dataclass, field, replace

from dataplaneapi.auth.tokens import Token
from dataplaneapi.settings.roles import CLAIMS, Roles
from haproxy_native.access.rights import Rights
from haproxy_native.request_context import Author

TOKENS = "tokens"


class IssuerUnavailable(Exception):
    """Raised if no JWT can be verified, because no key of the issuer is known."""


class BadToken(Exception):
    """Raised for an invalid token. The message is the reason."""


@dataclass(frozen=True)
class Caller:
    """A caller that is a user or the name in a client certificate. Subclasses are callers with other credentials."""

    # The group in `role_of` that the name belongs to, or TOKENS.
    group: str = ""
    name: str = ""
    # The token of a TokenCaller. None for any other caller.
    token: Token | None = None

    @property
    def expires(self) -> float:
        """The Unix time when the credentials expire, or infinity if they do not expire."""
        return self.token.expires if self.token else float("inf")

    def rights(self, roles: Roles | None) -> Rights | None:
        """Return what the caller may do. None means everything, which is the case if the settings have no roles."""
        return roles.rights(self.group, self.name) if roles else None

    @property
    def no_tokens(self) -> str:
        """Why the caller may not create tokens. Empty if the caller may create tokens."""
        return ""


@dataclass(frozen=True)
class TokenCaller(Caller):
    """A caller with a token of this server."""

    # Whether the creator of the token is no longer a user.
    is_orphan: bool = False

    @classmethod
    def of(cls, token: Token, *, is_orphan: bool) -> "TokenCaller":
        return cls(TOKENS, f"token {token.id} of {token.creator}", token, is_orphan)

    @property
    def no_tokens(self) -> str:
        assert self.token is not None
        return f"a token cannot create tokens; {self.token.creator} can, with its own credentials"

    def rights(self, roles: Roles | None) -> Rights | None:
        """Return what the roles of the token permit, limited to what the creator of the token may do at present.

        A token without roles may do everything (None) if the settings have no roles, and nothing if they have roles.
        """
        assert self.token is not None
        creator = self.token.creator
        if not self.token.roles:
            if roles is None and not self.is_orphan:
                return None
            why = f"{creator} no longer exists" if self.is_orphan else "the settings now have roles, and it has none; create a new one"
            return Rights(why=f"{self.name} is no longer valid: {why}")
        if roles is None:
            return Rights(why=f"{self.name} is no longer valid: the settings no longer have roles")
        limit = Rights() if self.is_orphan else roles.rights(self.token.group, creator)
        if not limit.rules:
            return Rights(why=f"{self.name} is no longer valid: {creator} no longer {'exists' if self.is_orphan else 'has a role'}")
        own = roles.of(self.token.roles)
        why = "" if own.rules else f"{self.name} is no longer valid: the settings no longer have role {', '.join(self.token.roles)}"
        return replace(own, why=why, limit=limit)


@dataclass(frozen=True)
class JwtCaller(Caller):
    """A caller with a JWT."""

    # The values of the claim that determines the roles.
    values: tuple[str, ...] = ()
    # The Unix time when the JWT expires.
    until: float = 0.0
    issuer: str = ""

    @classmethod
    def of(cls, name: str, values: tuple[str, ...], until: float, issuer: str) -> "JwtCaller":
        return cls(CLAIMS, f"jwt of {name}", None, values, until, issuer)

    @property
    def expires(self) -> float:
        return self.until

    @property
    def no_tokens(self) -> str:
        return "a caller with a JWT cannot create tokens: its permissions are known only as long as the JWT is valid"

    def rights(self, roles: Roles | None) -> Rights:
        if roles is None:
            return Rights(why=f"{self.name} has no rights: the settings have no roles")
        return roles.rights(self.group, *self.values)


def id_of(name: str) -> str:
    """Return the id of the token from the name of a TokenCaller."""
    return name.split(" ")[1]


@dataclass(frozen=True)
class CallAuthor(Author):
    """The author of the changes that a call makes. `caller` has sent the call."""

    caller: Caller = field(default_factory=Caller, compare=False, repr=False)
