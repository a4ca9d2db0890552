"""Write JSON compactly, so that a change of one thing is a change of one line.

What fits a line stands on one line; members keep the order they were declared in, which is also the order of answers.
"""

import json
from typing import Any

WIDTH = 160


def text(value: Any) -> str:
    return _laid_out(value, 0) + "\n"


def _laid_out(value: Any, depth: int) -> str:
    flat = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if len(flat) + depth <= WIDTH or not isinstance(value, (dict, list)) or not value:
        return flat
    if isinstance(value, dict):
        items = [f"{json.dumps(key, ensure_ascii=False)}:{_laid_out(item, depth + 1)}" for key, item in value.items()]
        opening, closing = "{", "}"
    else:
        items = [_laid_out(item, depth + 1) for item in value]
        opening, closing = "[", "]"
    indent = " " * (depth + 1)
    return f"{opening}\n{indent}" + f",\n{indent}".join(items) + f"\n{' ' * depth}{closing}"
