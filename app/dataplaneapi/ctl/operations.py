"""The operations of the API by their ids, as the server's own document has them; kept with its ETag, so that it is sent once."""

import hashlib
import json
import os
from typing import Any

from dataplaneapi.ctl import files
from dataplaneapi.ctl.client import Client

DOCUMENT = "/v3/specification_openapiv3"
METHODS = ("get", "put", "post", "delete", "patch")

Operations = dict[str, dict[str, Any]]


def operations(client: Client) -> Operations:
    """By id: `method`, `path`, `summary`, the place of each of its `parameters` by its name, and the media types of its body (`takes`)."""
    kept = _read(client)
    headers = {"If_None_Match": kept["etag"]} if kept else {}
    answer = client.ask("GET", DOCUMENT, **headers)
    if answer.status == 304 and kept:
        return dict(kept["operations"])
    found = _of(answer.json())
    if etag := answer.headers.get("etag"):
        _write(client, {"etag": etag, "operations": found})
    return found


def _of(document: dict[str, Any]) -> Operations:
    shared = document["components"]["parameters"]
    found = {}
    for path, item in document["paths"].items():
        for method in METHODS:
            if "operationId" in (operation := item.get(method, {})):
                declared = [*item.get("parameters", []), *operation.get("parameters", []), *operation.get("x-further-parameters", [])]
                whole = [shared[each["$ref"].rpartition("/")[2]] if "$ref" in each else each for each in declared]
                found[operation["operationId"]] = {
                    "method": method.upper(),
                    "path": path,
                    "summary": operation.get("summary", ""),
                    "parameters": {each["name"]: each["in"] for each in whole},
                    "takes": list(operation.get("requestBody", {}).get("content", {})),
                }
    return found


def _file(client: Client) -> str:
    above = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    address = hashlib.sha256((client.context.get("socket") or client.context.url).encode()).hexdigest()[:16]
    return os.path.join(above, "dataplaneapi", f"operations-{address}.json")


def _read(client: Client) -> dict[str, Any] | None:
    try:
        with open(_file(client), encoding="utf-8") as file:
            kept = json.load(file)
        return kept if isinstance(kept, dict) and "etag" in kept and "operations" in kept else None
    except (OSError, ValueError):
        return None


def _write(client: Client, kept: dict[str, Any]) -> None:
    """What cannot be kept is asked for again."""
    path = _file(client)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        files.replace(path, json.dumps(kept))
    except OSError:
        return
