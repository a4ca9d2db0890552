"""Edits the text of a settings file where it stands: a value is replaced or a line added, all else stays, byte for byte.

Places come from the composed nodes, which know where in the text they begin and end.
"""

import json
import re
from typing import Any

_PLAIN = re.compile(r"[A-Za-z/][\w./-]*")
_SPECIAL = frozenset("y n yes no on off true false null nan inf".split())


def with_value(text: str, path: str, value: Any) -> str:
    """The text in which a dotted path has a value: a text, a number or a list of texts."""
    keys, root = path.split("."), _composed(text)
    if root is None:
        return _appended(text, len(text), "", keys, value)
    node, rest = _deepest(root, keys)
    if not rest:
        return text[: node.start_mark.index] + _spelled(value) + text[node.end_mark.index :]
    if not isinstance(node.value, list):
        return _below_its_key(text, root, keys[: len(keys) - len(rest)], rest, value)
    if not node.flow_style:
        return _appended(text, _end(node), " " * node.value[0][0].start_mark.column, rest, value)
    place = _end(node) if node.value else node.start_mark.index + 1
    return text[:place] + (", " if node.value else "") + _flow(rest, value) + text[place:]


def without(text: str, key: str) -> str:
    """The text without a key of the outermost map and its value."""
    for name, value in _composed(text).value:
        if name.value == key:
            return text[: name.start_mark.index] + text[_line_end(text, value.end_mark.index) + 1 :]
    return text


def _composed(text: str) -> Any:
    from ruamel.yaml import YAML

    return YAML(pure=True).compose(text)


def _deepest(node: Any, keys: list[str]) -> tuple[Any, list[str]]:
    """The innermost node on the path that exists, and the keys that do not."""
    while keys and isinstance(node.value, list):
        inner = next((value for name, value in node.value if name.value == keys[0]), None)
        if inner is None:
            break
        node, keys = inner, keys[1:]
    return node, keys


def _end(node: Any) -> int:
    """Where the last thing in a node ends; a block's own end is that of the blank lines below it."""
    while isinstance(node.value, list) and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
        if isinstance(node.value, list) and node.flow_style:
            break
    return int(node.end_mark.index)


def _below_its_key(text: str, root: Any, above: list[str], rest: list[str], value: Any) -> str:
    """Below a key that has no value."""
    parent, (key,) = _deepest(root, above[:-1])[0], above[-1:]
    name = next(name for name, _ in parent.value if name.value == key)
    return _appended(text, name.end_mark.index, " " * (name.start_mark.column + 2), rest, value)


def _appended(text: str, after: int, indent: str, keys: list[str], value: Any) -> str:
    """New lines below the one in which `after` is."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"{indent}{'  ' * depth}{key}:" for depth, key in enumerate(keys)]
    lines[-1] += f" {_spelled(value)}"
    end = _line_end(text, len(text[:after].rstrip()))
    before, behind = text[:end], text[end + 1 :]
    before = before.removesuffix("\r") + newline if before.strip() else before
    return before + "".join(line + newline for line in lines) + behind


def _line_end(text: str, after: int) -> int:
    found = text.find("\n", after)
    return len(text) if found < 0 else found


def _flow(keys: list[str], value: Any) -> str:
    *above, last = keys
    return "".join(f"{key}: {{" for key in above) + f"{last}: {_spelled(value)}" + "}" * len(above)


def _spelled(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_spelled, value))}]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _SPECIAL:
        return value
    return json.dumps(value, ensure_ascii=False)
