"""Record examples for the API reference: requests of the walk to a real server with a real HAProxy, and the answers.

`RECORD_EXAMPLES=1 pytest tests/acceptance/test_walk.py` writes the examples to EXAMPLES. Otherwise the test compares their shapes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from tests.rules.sources import CHECKOUT

EXAMPLES = CHECKOUT / "app/dataplaneapi/static/examples.json"
# Longer texts are left out of the examples: a reader uses a file of their own.
LONGEST_TEXT = 200
HOME = "/etc/haproxy"
Example = dict[str, Any]


@dataclass(frozen=True)
class Upload:
    """A request body that is a file."""

    name: str
    data: bytes


class Examples:
    """The first successful call of each operation. Of a read, only path and query are recorded."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.by_id: dict[str, Example] = {}

    def add(self, id_: str, path: str, query: Mapping[str, Any], body: Any, answer: httpx2.Response) -> None:
        if id_ in self.by_id:
            return
        asked = {name: _spelled(value) for name, value in query.items() if name != "version"}
        example: Example = {"path": path} | ({"query": asked} if asked else {})
        if answer.request.method != "GET":
            example |= {"version": "version" in query, **_sent(path, body, answer), "status": answer.status_code}
            if answer.content:
                example["answer"] = answer.json() if "json" in answer.headers.get("Content-Type", "") else answer.text
        text = json.dumps(example).replace(str(self._directory), HOME).replace(quote(str(self._directory), safe=""), quote(HOME, safe=""))
        self.by_id[id_] = json.loads(text)

    def text(self) -> str:
        """Return the text of the file with examples, which has one line for each operation."""
        return "{\n" + ",\n".join(f"{json.dumps(id_)}: {json.dumps(self.by_id[id_])}" for id_ in sorted(self.by_id)) + "\n}\n"


def _spelled(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _sent(path: str, body: Any, answer: httpx2.Response) -> Example:
    if isinstance(body, Upload):
        return {"file": {"name": body.name, "upload": True, **_content(body.data.decode())}}
    if answer.request.headers.get("Content-Type", "").startswith("text/plain"):
        name = path.rsplit("/", 1)[-1] if "." in path else "haproxy.cfg"
        return {"file": {"name": name, "upload": False, **_content(str(body))}}
    return {} if body is None else {"body": body}


def _content(text: str) -> Example:
    return {"content": text} if len(text) <= LONGEST_TEXT else {}


def shapes(examples: Mapping[str, Example]) -> dict[str, Any]:
    """Return the members and types of the examples, which are the same in every run. Ids, times and ports differ."""
    return {id_: _shape(example) | ({"status": example["status"]} if "status" in example else {}) for id_, example in examples.items()}


def _shape(value: Any) -> Any:
    match value:
        case dict():
            return {name: _shape(each) for name, each in sorted(value.items())}
        case list():
            return [_shape(each) for each in value[:1]]
        case _:
            return type(value).__name__
