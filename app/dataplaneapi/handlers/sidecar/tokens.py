"""List, create and revoke tokens: credentials that callers create for programs."""

from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.conventions import duration, timestamp, without_unset
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.request_log import note_name
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.auth.tokens import Token
from dataplaneapi.settings.proxies import network
from haproxy_native.access.rights import READ, Rights, includes, rights_of
from haproxy_native.errors import Forbidden, NotFound
from haproxy_native.planning.touches import DELETE

LONGEST_SECONDS = 366 * 86400.0
ROLES = "role in body must be the name of a role, or a list of names"


async def read_list(call: ReadCall) -> Response:
    rights, tokens = call.author.rights, call.services.bearers.tokens.all()
    if isinstance(rights, Rights):
        tokens = [token for token in tokens if _is_own(call, token) or rights.may_read(f"token/{token.id}")]
    return json_response(200, [_as_dict(call, token) for token in tokens])


async def read(call: ReadCall) -> Response:
    return json_response(200, _as_dict(call, _permitted_token(call, READ)))


async def create(call: JsonCall) -> Response:
    names, networks, seconds = _requested_token(call)
    author, note = call.author, call.body.get("note", "")
    token, secret = await call.services.bearers.tokens.create(names, author.group, author.name, seconds, networks, note)
    note_name(call, f"token/{token.id}")
    return json_response(201, _as_dict(call, token) | {"secret": secret})


def _requested_token(call: Call) -> tuple[list[str], list[str], float]:
    """Return the roles, the networks and the lifetime in seconds of a new token. Raises ApiError (409, 422) and Forbidden."""
    caller, body = call.author.caller, call.body
    if caller.no_tokens:
        raise Forbidden(caller.no_tokens)
    names, networks = _permitted_roles(call, body.get("role")), []
    for text in body.get("from", ()):
        try:
            networks.append(str(network(text)))
        except ValueError as error:
            message = f"from in body must be a network or an address, as in 10.0.0.0/8: {str(error)[:100]}"
            raise ApiError(422, message) from None
    seconds = duration("ttl", body["ttl"])
    if not 1 <= seconds <= LONGEST_SECONDS:
        raise ApiError(422, f"ttl in body must be from 1s to {LONGEST_SECONDS / 3600:.0f}h, not {body['ttl'][:50]}")
    return names, networks, seconds


async def revoke(call: JsonCall) -> Response:
    token = _permitted_token(call, DELETE)
    try:
        await call.services.bearers.tokens.revoke(token, call.author.name)
    finally:
        call.services.streams.review(call.services.roles)
    return empty(204)


def _permitted_roles(call: Call, given: Any) -> list[str]:
    """Return the names of a new token's roles; an empty list if the settings have no roles. `given` is the member `role` of the body.

    Raises Forbidden if a role permits more than the caller may do, and ApiError (409, 422).
    """
    roles, rights = call.services.roles, call.author.rights
    if roles is None or not isinstance(rights, Rights):
        if given is None:
            return []
        raise ApiError(409, "the settings have no roles, so a token cannot have one: omit role (docs/access.md)")
    if given is None:
        raise ApiError(422, "role in body is required")
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise ApiError(422, ROLES)
    for name in names:
        if name not in roles.rules:
            raise ApiError(422, f"role in body: unknown role {name[:50]!r}; expected one of {', '.join(roles.rules)}")
        if name not in rights.roles and not includes(rights, rights_of([(name, roles.rules[name])])):
            raise Forbidden(
                f"a token cannot have more permissions than its creator: role {', '.join(rights.roles)} lacks permissions of {name}"
            )
    return list(dict.fromkeys(names))


def _permitted_token(call: Call, verb: str) -> Token:
    """Return the token that the path names. Raises Forbidden if the caller may not use `verb` on a token of that id, and NotFound.

    Callers may use any verb on their own tokens.
    """
    id_, rights = call.path.id, call.author.rights
    token = call.services.bearers.tokens.get(id_)
    if isinstance(rights, Rights) and not (token and _is_own(call, token)):
        rights.require(verb, f"token/{id_[:40]}")
    if token is None:
        raise NotFound(f"token {id_[:40]} does not exist; GET /v3/sidecar/tokens lists the tokens")
    return token


def _is_own(call: Call, token: Token) -> bool:
    """Return whether a token belongs to the caller.

    If the caller authenticates with a token, only that token does. Otherwise, the tokens that the user or certificate has created do.
    """
    caller = call.author.caller
    return caller.token.id == token.id if caller.token else (caller.group, caller.name) == (token.group, token.creator)


def _as_dict(call: Call, token: Token) -> dict[str, Any]:
    return without_unset(
        {
            "id": token.id,
            "role": token.roles[0] if len(token.roles) == 1 else list(token.roles) or None,
            "ttl": f"{token.expires - token.created:.0f}s",
            "from": list(token.networks) or None,
            "note": token.note,
            "creator": token.creator,
            "created": timestamp(token.created),
            "expires": timestamp(token.expires),
            "last_used": None if token.used is None else timestamp(token.used),
            "last_address": token.used_from,
            "state": rights.why if (rights := call.services.bearers.caller_of(token).rights(call.services.roles)) else None,
        }
    )


async def check_new(call: Call) -> bool:
    _requested_token(call)
    return False


async def check_revocation(call: Call) -> bool:
    _permitted_token(call, DELETE)
    return False


CHECKS = {"create": check_new, "revoke": check_revocation}
