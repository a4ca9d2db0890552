"""Edit the text of a settings file in place: replace a value, add lines or remove a key, and keep every other byte.

The positions in the text are the start and end marks of ruamel's composed nodes.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

TextEdit = Callable[[str], str]
# A map from keys to values. A value that is a tree is a nested map.
Tree = Mapping[str, Any]

_PLAIN = re.compile(r"[A-Za-z/][\w./-]*")
_SPECIAL = frozenset("y n yes no on off true false null nan inf".split())


def with_values(text: str, values: Mapping[str, Any]) -> str:
    """Return the text with values set at dotted paths. A value is a text, a number or a list of texts. Raises YAMLError.

    The edits are made from the end of the text to its beginning, so that the positions of the remaining edits stay valid.
    """
    root, missing = _composed(text), dict[tuple[str, ...], dict[str, Any]]()
    edits: list[tuple[int, int, TextEdit]] = []
    for path, value in values.items():
        keys = path.split(".")
        node, rest = _deepest(root, keys)
        if rest:
            tree = missing.setdefault(tuple(keys[: len(keys) - len(rest)]), {})
            for key in rest[:-1]:
                tree = tree.setdefault(key, {})
            tree[rest[-1]] = value
        else:
            edits.append((node.start_mark.index, 0, partial(_replace_value, node=node, value=value)))
    edits += [_insertion(text, root, list(above), tree) for above, tree in missing.items()]
    # If two insertions have the same position, the inner one comes first in the text, so it is made last.
    for _, _, edit in sorted(edits, key=lambda row: (-row[0], row[1])):
        text = edit(text)
    return text


def _replace_value(text: str, node: Any, value: Any) -> str:
    return text[: node.start_mark.index] + _spelled(value) + text[node.end_mark.index :]


def _insertion(text: str, root: Any, above: list[str], tree: Tree) -> tuple[int, int, TextEdit]:
    """Return (position, depth, edit) for the insertion of keys below the existing path `above`."""
    if root is None:
        return len(text), 0, partial(_append_lines, after=len(text), indent="", tree=tree)
    node, _ = _deepest(root, above)
    if not isinstance(node.value, list):
        parent, _ = _deepest(root, above[:-1])
        name = next(name for name, _ in parent.value if name.value == above[-1])
        position, indent = name.end_mark.index, " " * (name.start_mark.column + 2)
        return position, len(above), partial(_append_lines, after=position, indent=indent, tree=tree)
    if not node.flow_style:
        position, indent = _end(node), " " * node.value[0][0].start_mark.column
        return position, len(above), partial(_append_lines, after=position, indent=indent, tree=tree)
    position = _end(node) if node.value else node.start_mark.index + 1
    new = (", " if node.value else "") + _flow(tree)
    return position, len(above), lambda text: text[:position] + new + text[position:]


def without(text: str, key: str) -> str:
    """Return the text without a top-level key and its value."""
    for name, value in _composed(text).value:
        if name.value == key:
            return text[: name.start_mark.index] + text[_line_end(text, value.end_mark.index) + 1 :]
    return text


def _composed(text: str) -> Any:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).compose(text)


def _deepest(node: Any, keys: list[str]) -> tuple[Any, list[str]]:
    """Return the innermost existing node on a path, and the missing rest of the path."""
    while keys and node is not None and isinstance(node.value, list):
        inner = next((value for name, value in node.value if name.value == keys[0]), None)
        if inner is None:
            break
        node, keys = inner, keys[1:]
    return node, keys


def _end(node: Any) -> int:
    """Return the position of the end of a node's last item. The end mark of a block would be after the blank lines that follow."""
    while isinstance(node.value, list) and node.value:
        last = node.value[-1]
        # If a key has no value, the end of the empty value is after the comments that follow, so use the end of the key.
        key, node = last if isinstance(last, tuple) else (None, last)
        if key and node.start_mark.index == node.end_mark.index:
            return int(key.end_mark.index)
        if isinstance(node.value, list) and node.flow_style:
            break
    return int(node.end_mark.index)


def _append_lines(text: str, after: int, indent: str, tree: Tree) -> str:
    """Return the text with new lines below the line that contains the position `after`."""
    newline = "\r\n" if "\r\n" in text else "\n"
    end = _line_end(text, len(text[:after].rstrip()))
    before, behind = text[:end], text[end + 1 :]
    before = before.removesuffix("\r") + newline if before.strip() else before
    return before + "".join(line + newline for line in _lines(tree, indent)) + behind


def _lines(tree: Tree, indent: str) -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield f"{indent}{key}:"
            yield from _lines(value, indent + "  ")
        else:
            yield f"{indent}{key}: {_spelled(value)}"


def _line_end(text: str, after: int) -> int:
    end = text.find("\n", after)
    return len(text) if end < 0 else end


def _flow(tree: Tree) -> str:
    return ", ".join(f"{key}: " + (f"{{{_flow(value)}}}" if isinstance(value, dict) else _spelled(value)) for key, value in tree.items())


def _spelled(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_spelled, value))}]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _SPECIAL:
        return value
    return json.dumps(value, ensure_ascii=False)
