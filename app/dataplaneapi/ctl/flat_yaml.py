"""Reads YAML that is nothing but mappings of plain words, without a library: what the file of contexts is written like.

Importing the library takes longer than a call takes.
"""

import re

_LINE = re.compile(
    r"(?P<indent> *)(?P<key>[A-Za-z_][\w.-]*):(?: +(?:(?P<plain>[A-Za-z/][\w./@:+-]*)|\"(?P<double>[^\"\\]*)\"|'(?P<single>[^']*)'))? *"
)
_BLANK = re.compile(r" *(#.*)?")
# What is no text when it is not quoted.
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

Mapping = dict[str, object]


def flat(text: str) -> Mapping | None:
    """Mappings of texts and mappings; None for all other YAML, of which it does not say what it means."""
    top: Mapping = {}
    # Mappings that are open, each with its indent; that of the innermost is None until its first line.
    open_: list[tuple[int | None, Mapping]] = [(0, top)]
    for line in text.splitlines():
        if _BLANK.fullmatch(line):
            continue
        if not (match := _LINE.fullmatch(line)):
            return None
        indent, key = len(match["indent"]), match["key"]
        if not _closed(open_, indent):
            return None
        inner, value = open_[-1][1], _value(match)
        if key in inner or key.lower() in _WORDS or value is None:
            return None
        inner[key] = value
        if isinstance(value, dict):
            open_.append((None, value))
    return top if open_[-1][0] is not None else None


def _closed(open_: list[tuple[int | None, Mapping]], indent: int) -> bool:
    """Ends the mappings that a line of this indent is not in. False where it belongs to none."""
    if open_[-1][0] is None:
        if indent <= (open_[-2][0] or 0):
            return False
        open_[-1] = (indent, open_[-1][1])
    while open_[-1][0] != indent:
        open_.pop()
        if not open_:
            return False
    return True


def _value(found: re.Match[str]) -> str | Mapping | None:
    for name in ("double", "single"):
        if found[name] is not None:
            return found[name]
    plain = found["plain"]
    if plain is None:
        return {}
    return None if plain.lower() in _WORDS or plain.endswith(":") else plain
