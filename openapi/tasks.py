"""Group the operations for the API reference at /v3/docs, from tasks.yaml."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from openapi.bundle import HERE, Mistake, load

FILE = HERE / "tasks.yaml"


def module(document: Mapping[str, Any], file: Path = FILE) -> str:
    """Return the groups as JSON: name, text, and the ids of their operations. Raises Mistake for an operation without a group."""
    tasks = load(file)
    groups: dict[str, list[str]] = {task["name"]: [] for task in tasks}
    for path, item in document["paths"].items():
        for operation in item.values():
            groups[_task(tasks, path, operation["tags"][0])].append(operation["operationId"])
    empty = [name for name, operations in groups.items() if not operations]
    if empty:
        raise Mistake(f"tasks.yaml: no operation belongs to {empty[0]!r}")
    rows = [{"name": task["name"], "text": task["text"], "operations": groups[task["name"]]} for task in tasks]
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n"


def _task(tasks: list[dict[str, Any]], path: str, tag: str) -> str:
    """A path takes precedence over a tag: storage has one tag for all of its stores."""
    by_path = (task["name"] for task in tasks if path.startswith(tuple(task.get("paths", ()))))
    by_tag = (task["name"] for task in tasks if tag in task.get("tags", ()))
    found = next(by_path, None) or next(by_tag, None)
    if found is None:
        raise Mistake(f"tasks.yaml: no group has the tag {tag!r} or a path that begins {path}")
    return str(found)
