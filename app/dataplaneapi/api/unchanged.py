"""Members that a client sends back as it read them: zeros, `false` and "" that stand in the file; elsewhere they mean absent
(normalize.py)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any


def sent_back(body: Any, sent: Any, now: Any) -> Any:
    """Return the body with the zeros of `sent` that the object has `now`; elsewhere a zero means that the member is absent."""
    if isinstance(body, dict) and isinstance(sent, Mapping) and isinstance(now, Mapping):
        unchanged = {name: value for name, value in sent.items() if name not in body and _stands(value, now.get(name))}
        return {name: sent_back(element, sent.get(name), now.get(name)) for name, element in body.items()} | unchanged
    if isinstance(body, list) and isinstance(sent, list) and isinstance(now, list) and len(body) == len(sent) and has_zero(sent):
        pairs = zip(body, sent, _counterparts(sent, now), strict=True)
        return [sent_back(element, own, other) for element, own, other in pairs]
    return body


def has_zero(sent: Any) -> bool:
    """Whether there is a 0, a false or a "" anywhere."""
    if isinstance(sent, (Mapping, list)):
        return any(map(has_zero, sent.values() if isinstance(sent, Mapping) else sent))
    return isinstance(sent, (int, float, str)) and not sent


def _stands(value: Any, now: Any) -> bool:
    return isinstance(value, (int, float, str)) and not value and type(now) is type(value) and now == value


def _counterparts(sent: Sequence[Any], now: Sequence[Any]) -> list[Any]:
    """Returns for each element its equal in the present list, else the one at its position."""
    by_content = {json.dumps(element, sort_keys=True): element for element in now}
    there = [*now, *[None] * len(sent)]
    return [by_content.get(json.dumps(element, sort_keys=True), there[place]) for place, element in enumerate(sent)]


def rebased(body: Any, before: Any, now: Any) -> Any:
    """Return the body with its unchanged members (equal to `before`) taken from `now`: a renamed object may refer to itself."""
    if body == before:
        return now
    if isinstance(body, dict) and isinstance(before, Mapping) and isinstance(now, Mapping):
        return {name: rebased(value, before[name], now[name]) if name in before and name in now else value for name, value in body.items()}
    if isinstance(body, list) and isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        by_content = {json.dumps(old, sort_keys=True): new for old, new in zip(before, now, strict=True)}
        return [by_content.get(json.dumps(element, sort_keys=True), element) for element in body]
    return body
