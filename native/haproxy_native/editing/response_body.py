"""The body of a response to a write: the request's object as the file now has it."""

from collections.abc import Mapping
from typing import Any

from haproxy_native.text.words import quoted

_WITHOUT_QUOTES = str.maketrans("", "", "\"'\\")


def as_it_stands(body: Any, stored: Any) -> Any:
    """The body with each text replaced by the stored one where that is the same with quotes."""
    if isinstance(body, dict) and isinstance(stored, dict):
        return {name: as_it_stands(value, _under(stored, name)) for name, value in body.items()}
    if isinstance(body, list) and isinstance(stored, list) and len(body) == len(stored):
        return [as_it_stands(element, other) for element, other in zip(body, stored, strict=True)]
    if isinstance(body, str) and isinstance(stored, str) and len(stored) > len(body) and _bare(body) == _bare(stored):
        return stored
    return body


def with_defaults(body: Any, stored: Any, defaults: Mapping[str, Any]) -> Any:
    """The body with the members that its schema gives a value, where the request leaves them out and the file now has them."""
    if not isinstance(body, dict) or not isinstance(stored, dict):
        return body
    added = {name: value for name, value in defaults.items() if name not in body and stored.get(name) == value}
    return {**body, **added}


def without_aliases(body: Any, stored: Any, aliases: Mapping[str, str]) -> Any:
    """The body with the list in the place of a deprecated member that gave its first element."""
    sent = [name for name in aliases if isinstance(body, dict) and name in body]
    lists = {aliases[name]: stored[aliases[name]] for name in sent if stored.get(aliases[name])}
    return {**lists, **{name: value for name, value in body.items() if name not in sent}} if sent else body


def _under(stored: dict[str, Any], name: str) -> Any:
    """Children are keyed by their names, which may have been quoted, too."""
    return stored[name] if name in stored else stored.get(quoted(name))


def _bare(text: str) -> list[str]:
    return text.translate(_WITHOUT_QUOTES).split()
