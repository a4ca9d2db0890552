"""Who asks, and what it may do."""

from typing import Any

from dataplaneapi.api.call import ReadCall
from dataplaneapi.api.conventions import present, timestamp
from dataplaneapi.api.responses import Response, json_response
from haproxy_native.access.rights import VERBS, Rights, Rule
from haproxy_native.request_context import author


async def whoami(call: ReadCall) -> Response:
    by = author.get()
    shown: dict[str, Any] = {"name": by.name, "address": by.address, "limited": isinstance(by.rights, Rights)}
    if isinstance(by.rights, Rights):
        shown |= {"roles": list(by.rights.roles), "rules": [_rule(rule) for rule in by.rights.rules]}
    if token := call.caller.token:
        shown |= {"token": token.id, "creator": token.creator, "expires": timestamp(token.expires)}
    if call.services.settings.read_only:
        shown["read_only"] = True
    return json_response(200, shown)


def _rule(rule: Rule) -> dict[str, Any]:
    members = {
        "objects": rule.objects,
        "may": [verb for verb in VERBS if verb in rule.may],
        "fields": None if rule.fields is None else sorted(rule.fields),
        "reload": "any" if rule.reloads else "never",
        "max_objects": rule.most,
    }
    return present(members)
