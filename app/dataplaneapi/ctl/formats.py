"""JSON and YAML, read and written; the YAML library is imported where YAML is at hand, and not before."""

import json
from typing import Any

from dataplaneapi.ctl.failures import Failure


def to_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def to_yaml(value: Any) -> str:
    """Block style, members in their order; texts of several lines as blocks."""
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
    """YAML 1.2, of which JSON is a part. Raises Failure with the place."""
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
