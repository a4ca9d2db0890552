"""Read and replace the user's files, and convert JSON and YAML.

Importing the YAML library takes longer than a call, so functions import it only when they need it. Every command reads the file of
contexts. Usually, `parse_flat_yaml` can parse this file without the library.
"""

import json
import os
import re
from typing import Any

from dataplaneapi.ctl.failures import Failure

_LINE = re.compile(
    r"(?P<indent> *)(?P<key>[A-Za-z_][\w.-]*):(?: +(?:(?P<plain>[A-Za-z/][\w./@:+-]*)|\"(?P<double>[^\"\\]*)\"|'(?P<single>[^']*)'))? *"
)
_BLANK = re.compile(r" *(#.*)?")
# Words that are not strings unless they are quoted.
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

Mapping = dict[str, object]


def read(path: str) -> bytes:
    """Return the content of a file. Raises Failure."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None


def replace(path: str, text: str, mode: int = 0o600) -> None:
    """Write a new file and rename it to `path`, so that the file at `path` is replaced atomically. Raises OSError."""
    draft = f"{path}.{os.getpid()}"
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        if os.path.exists(draft):
            os.unlink(draft)
        raise


def to_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def to_yaml(value: Any) -> str:
    """Return a value as YAML in block style. Texts of several lines are literal blocks."""
    from io import StringIO

    from ruamel.yaml import YAML
    from ruamel.yaml.representer import SafeRepresenter
    from ruamel.yaml.scalarstring import walk_tree

    yaml = YAML()
    yaml.width = 4096
    yaml.allow_unicode = True
    yaml.representer.add_representer(type(None), SafeRepresenter.represent_none)
    text = StringIO()
    value = [value] if isinstance(value, str) else value
    walk_tree(value)
    yaml.dump(value, text)
    return text.getvalue()


def parse_yaml(text: str, name: str) -> Any:
    """Parse YAML 1.2, which includes JSON. Raises Failure, whose message begins with `name`, the name of the file."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise Failure(f"{name}: {' '.join(str(error).split())}") from None


def parse_json(text: str | bytes, name: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise Failure(f"{name}: {error}") from None


def parse_flat_yaml(text: str) -> Mapping | None:
    """Parse YAML that consists only of nested mappings of strings. Return None for any other YAML: parsing it needs the library."""
    top: Mapping = {}
    # The open mappings with their indentation. The indentation of the innermost mapping is None until its first line.
    open_: list[tuple[int | None, Mapping]] = [(0, top)]
    for line in text.splitlines():
        if _BLANK.fullmatch(line):
            continue
        if not (match := _LINE.fullmatch(line)):
            return None
        indent, key = len(match["indent"]), match["key"]
        if open_[-1][0] is None:
            # The first line of a mapping.
            if indent <= (open_[-2][0] or 0):
                return None
            open_[-1] = (indent, open_[-1][1])
        while open_ and open_[-1][0] != indent:
            open_.pop()
        if not open_:
            return None
        inner, plain = open_[-1][1], match["plain"]
        if key in inner or key.lower() in _WORDS or (plain and (plain.lower() in _WORDS or plain.endswith(":"))):
            return None
        texts = [text for text in (match["double"], match["single"], plain) if text is not None]
        value: str | Mapping = texts[0] if texts else {}
        inner[key] = value
        if isinstance(value, dict):
            open_.append((None, value))
    return top if open_[-1][0] is not None else None
