"""Return who the caller is and what it may do, and check whether a call would be allowed."""

from dataclasses import replace
from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.conventions import timestamp, without_unset
from dataplaneapi.api.described import DescribedCall, check_described_call
from dataplaneapi.api.errors import ApiError, response_to
from dataplaneapi.api.responses import Response, json_response
from dataplaneapi.auth.caller import CallAuthor, Caller
from dataplaneapi.settings.roles import USERS
from haproxy_native.access.rights import VERBS, Rights
from haproxy_native.errors import Forbidden, NativeError


async def whoami(call: ReadCall) -> Response:
    author = call.author
    shown: dict[str, Any] = {"name": author.name, "address": author.address, "limited": isinstance(author.rights, Rights)}
    if isinstance(author.rights, Rights):
        rules = []
        for rule in author.rights.rules:
            members = {
                "objects": rule.objects,
                "may": [verb for verb in VERBS if verb in rule.may],
                "fields": None if rule.fields is None else sorted(rule.fields),
                "reload": "any" if rule.reloads else "never",
                "max_objects": rule.most,
            }
            rules.append(without_unset(members))
        shown |= {"roles": list(author.rights.roles), "rules": rules}
    if token := author.caller.token:
        shown |= {"token": token.id, "creator": token.creator, "expires": timestamp(token.expires)}
    if call.services.settings.read_only:
        shown["read_only"] = True
    return json_response(200, shown)


async def check(call: JsonCall) -> Response:
    """Check a call without making it. Return whether the call would be allowed and, if so, whether the call would reload HAProxy."""
    described = DescribedCall(call.body["method"], call.body["path"], call.sent.get("body"), call.body.get("content_type", ""))
    author = _author_to_check(call)
    try:
        return json_response(200, without_unset({"allowed": True, "reload": await check_described_call(call, described, author)}))
    except (ApiError, NativeError) as error:
        refusal = response_to(error)
    return json_response(200, {"allowed": False, "code": refusal.status_code, "reason": refusal.value["message"]})


def _author_to_check(call: Call) -> CallAuthor:
    """Return the author whose permissions are checked: the caller, or the user or role in the body, which only admins may name.

    Raises ApiError (422) and Forbidden.
    """
    author, user, role = call.author, call.body.get("user"), call.body.get("role")
    if user is None and role is None:
        return author
    if user is not None and role is not None:
        raise ApiError(422, "user and role in body: send one of the two")
    if isinstance(author.rights, Rights) and not author.rights.are_all:
        raise Forbidden(f"role {', '.join(author.rights.roles)} may not check the permissions of others; role admin may")
    roles = call.services.roles
    if user is not None:
        rights = call.services.bearers.rights_now(roles, USERS, user)
        return replace(author, name=user, group=USERS, rights=rights, caller=Caller(USERS, user))
    if roles is None or role not in roles.rules:
        raise ApiError(422, f"role in body: unknown role {role[:50]!r}; expected one of {', '.join(roles.rules) if roles else 'none'}")
    return replace(author, name="", group="", rights=roles.of([role]), caller=Caller())
