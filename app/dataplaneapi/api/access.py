"""What a caller of a role may ask for. What a change may do is checked where it is committed.

Who has no role, where roles are configured, is answered who it is, and nothing else. Reading needs the right to read everything; without
the right to secrets these are shown as fingerprints.
"""

import functools
import json

from dataplaneapi.api.call import Call
from dataplaneapi.api.operations import ANY, ANYONE, EFFECTS, READING, Handler, Operation
from dataplaneapi.api.responses import CONFIGURATION_CHECKSUM, CONTENT_LENGTH, CONTENT_TYPE, JSON, TEXT, Response, to_json
from haproxy_native.access.rights import ALL, READ, SECRETS, Rights
from haproxy_native.beside import LARGE, beside, beside_if
from haproxy_native.editing.object_names import encoded
from haproxy_native.editing.secrets import MARK, Mask
from haproxy_native.errors import Forbidden, Incomplete
from haproxy_native.planning.touches import CHANGE, CREATE, DELETE
from haproxy_native.request_context import author

_VERBS = {"GET": READ, "HEAD": READ, "POST": CREATE, "PUT": CHANGE, "PATCH": CHANGE, "DELETE": DELETE}


def limited(operation: Operation, handler: Handler) -> Handler:
    """The handler of an operation, for callers with and without roles."""

    @functools.wraps(handler)
    async def serve(call: Call) -> Response:
        rights = author.get().rights
        if not isinstance(rights, Rights):
            return await handler(call)
        await _require(operation, call, rights)
        response = await handler(call)
        return response if rights.may_all(SECRETS) else await _masked(response, await call.services.history.mask())

    return serve


async def _require(operation: Operation, call: Call, rights: Rights) -> None:
    """Raises Forbidden, and Incomplete for a body with fingerprints of secrets."""
    verb = READ if operation.access == READING else _VERBS[operation.method]
    if not rights.rules and operation.access != ANYONE:
        name = author.get().name
        who = f"{name!r} has no role" if name else "a caller without a name has no role"
        raise Forbidden(rights.why or f"{who}; an administrator gives it one in the settings, as role of a user or in role_of")
    if operation.access in (ANY, ANYONE):
        return
    if verb == READ or not operation.access:
        if not rights.may_all(verb):
            raise _forbidden(rights, verb, ALL)
    elif operation.access != EFFECTS:
        object_ = operation.access.format(**{name: encoded(value) for name, value in call.values.items()})
        if not rights.may(verb, object_):
            raise _forbidden(rights, verb, object_)
    if call.body is not None and MARK in (call.body if isinstance(call.body, bytes) else await beside(to_json, call.sent)):
        raise Incomplete("a secret is sent as its fingerprint <masked:...>, from which it cannot be made; send the secret, or leave it out")


def _forbidden(rights: Rights, verb: str, object_: str) -> Forbidden:
    rule = f"{{objects: '{object_}', may: [{verb}]}}"
    return Forbidden(f"role {', '.join(rights.roles)} may not {verb} {object_}; a rule that allows it: {rule}")


async def _masked(response: Response, mask: Mask) -> Response:
    """With fingerprints in the place of secrets; of JSON and of texts that are complete."""
    kinds = [value for name, value in response.raw_headers if name == CONTENT_TYPE]
    if not response.body or not kinds or not kinds[0].startswith((JSON, TEXT)):
        return response
    body = await beside_if(len(response.body) > LARGE, _masked_body, bytes(response.body), mask, is_json=kinds[0].startswith(JSON))
    if body == response.body:
        return response
    # A checksum is that of the text with its secrets.
    headers = [each for each in response.raw_headers if each[0] not in (CONTENT_LENGTH, CONFIGURATION_CHECKSUM)]
    response.body, response.raw_headers = body, [*headers, (CONTENT_LENGTH, b"%d" % len(body))]
    return response


def _masked_body(body: bytes, mask: Mask, *, is_json: bool) -> bytes:
    if is_json:
        return to_json(mask.value(json.loads(body)))
    return mask.text(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
