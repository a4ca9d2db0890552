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
    """Returns the operations by id: `method`, `path`, `summary`, where each of `parameters` goes, and the media types of the body
    (`takes`).
    """
    cached = _read(client)
    headers = {"If_None_Match": cached["etag"]} if cached else {}
    answer = client.ask("GET", DOCUMENT, **headers)
    if answer.status == 304 and cached:
        return dict(cached["operations"])
    fetched = _of(answer.json())
    if etag := answer.headers.get("etag"):
        _write(client, {"etag": etag, "operations": fetched})
    return fetched


def _of(document: dict[str, Any]) -> Operations:
    shared = document["components"]["parameters"]
    by_id = {}
    for path, item in document["paths"].items():
        for method in METHODS:
            if "operationId" in (operation := item.get(method, {})):
                declared = [*item.get("parameters", []), *operation.get("parameters", []), *operation.get("x-further-parameters", [])]
                whole = [shared[parameter["$ref"].rpartition("/")[2]] if "$ref" in parameter else parameter for parameter in declared]
                by_id[operation["operationId"]] = {
                    "method": method.upper(),
                    "path": path,
                    "summary": operation.get("summary", ""),
                    "parameters": {parameter["name"]: parameter["in"] for parameter in whole},
                    "takes": list(operation.get("requestBody", {}).get("content", {})),
                }
    return by_id


def _file(client: Client) -> str:
    above = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    address = hashlib.sha256((client.context.get("socket") or client.context.url).encode()).hexdigest()[:16]
    return os.path.join(above, "dataplaneapi", f"operations-{address}.json")


def _read(client: Client) -> dict[str, Any] | None:
    try:
        with open(_file(client), encoding="utf-8") as file:
            cached = json.load(file)
        return cached if isinstance(cached, dict) and "etag" in cached and "operations" in cached else None
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
