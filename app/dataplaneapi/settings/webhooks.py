"""Webhooks as YAML has them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from haproxy_native.webhooks.webhook import SENDABLE, UNSENDABLE, Webhook, key

_MEMBERS = ("name", "url", "secret", "secret_file", "types", "object", "ca_file")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def read_webhooks(given: Sequence[Mapping[str, Any]]) -> list[Webhook]:
    """Raises ValueError, which names the webhook and its member. Files that it names are not read."""
    webhooks = [_read(row, place) for place, row in enumerate(given, 1)]
    names = [webhook.name for webhook in webhooks]
    if doubled := [name for place, name in enumerate(names) if name in names[:place]]:
        raise ValueError(f"two have the name {doubled[0]}")
    return webhooks


def _read(given: Mapping[str, Any], place: int) -> Webhook:
    name = str(given.get("name", ""))
    if not _NAME.fullmatch(name):
        raise ValueError(f"number {place} needs a name of letters, digits, `-`, `_` and `.`, not {name[:70]!r}")
    try:
        return _of(name, given)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _of(name: str, given: Mapping[str, Any]) -> Webhook:
    for member in given:
        if member not in _MEMBERS:
            raise ValueError(f"a webhook has no member {str(member)[:40]!r}; it has {', '.join(_MEMBERS)}")
    texts = {member: _text(given, member) for member in _MEMBERS if member not in ("name", "types")}
    _check_url(texts["url"])
    if bool(texts["secret"]) == bool(texts["secret_file"]):
        raise ValueError("either secret or secret_file is needed, which holds one a line")
    if texts["secret"]:
        key(texts["secret"])
    return Webhook(name, types=_types(given.get("types")), **texts)


def _text(given: Mapping[str, Any], member: str) -> str:
    value = given.get(member, "")
    if isinstance(value, str):
        return value
    raise ValueError(f"{member} is a text")


def _check_url(url: str) -> None:
    """A user in it would be shown in the log."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or not url.isascii() or " " in url:
        raise ValueError("url is as in https://hooks.example.com/haproxy, without a user")
    _ = parts.port


def _types(given: Any) -> tuple[str, ...]:
    if given is None:
        return SENDABLE
    if not isinstance(given, list) or not given:
        raise ValueError(f"types is a list of {', '.join(SENDABLE)}")
    if UNSENDABLE in given:
        raise ValueError(f"types: {UNSENDABLE} are not sent, as thousands may change within a second; read them at /v3/sidecar/events")
    if unknown := [name for name in given if name not in SENDABLE]:
        raise ValueError(f"types: {str(unknown[0])[:40]!r} is no type of events; they are {', '.join(SENDABLE)}")
    return tuple(given)
