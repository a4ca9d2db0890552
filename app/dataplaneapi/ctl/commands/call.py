"""`ctl call`: call any operation of the API by its id. The parameters of the operation are options of the command.

The operations come from the server's OpenAPI document, which is cached with its ETag.
"""

import argparse
import hashlib
import json
import os
import sys
from typing import Any

from dataplaneapi.ctl import files, output
from dataplaneapi.ctl.client import JSON, TEXT, Answer, Client, quote_name
from dataplaneapi.ctl.failures import OK, Failure
from dataplaneapi.ctl.schemas import DOCUMENT
from dataplaneapi.ctl.session import Session

FORM = "multipart/form-data"
BOUNDARY = "dataplaneapi-ctl-7d1c0ab95e"
METHODS = ("get", "put", "post", "delete", "patch")

Operations = dict[str, dict[str, Any]]


def call_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "dataplaneapi ctl call OPERATION_ID [--PARAMETER VALUE ...] [-d BODY|@FILE|@-]"
    parser.add_argument("operation", nargs="?", metavar="OPERATION_ID", help="such as getBackends; without it, list all operations")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="--PARAMETER VALUE", help="as in --parent_name shop")
    parser.add_argument("-d", "--data", metavar="BODY", help="the body, @FILE to read it from a file, or @- from standard input")


def run_call(session: Session) -> int:
    known = operations(session.client)
    given = session.given
    if not given.operation:
        rows = [{"id": name, **{key: operation[key] for key in ("method", "path", "summary")}} for name, operation in known.items()]
        session.show(rows, lambda shown: output.table_of_members(("id", "method", "path"), shown))
        return OK
    if given.operation not in known:
        from difflib import get_close_matches

        close = get_close_matches(given.operation, known, 3)
        hint = f"; did you mean {' or '.join(close)}?" if close else "; ctl call lists them"
        raise Failure(f"unknown operation {given.operation}{hint}")
    operation = known[given.operation]
    values, data = _parse_parameters(given.rest, operation)
    answer = _send(session, operation, values, given.data if data is None else data)
    session.format = given.output or "json"
    if answer.body and "json" in answer.headers.get("content-type", ""):
        value = answer.json()
        if isinstance(value, list):
            session.show_list("value", value)
        else:
            session.show_one(value)
    elif answer.body and sys.stdout.isatty():
        session.write(answer.body.decode("utf-8", "replace"))
    elif answer.body:
        sys.stdout.flush()
        sys.stdout.buffer.write(answer.body)
        sys.stdout.buffer.flush()
    return OK if operation["method"] == "GET" else session.report_write(answer, otherwise="")


def _parse_parameters(words: list[str], operation: dict[str, Any]) -> tuple[dict[str, str], str | None]:
    """Return the values of the operation's parameters, by name, and the value of `-d`, or None if there is no `-d`. Raises Failure."""
    values: dict[str, str] = {}
    data = None
    rest = list(words)
    while rest:
        word, sign, value = rest.pop(0).partition("=")
        if not word.startswith("-"):
            raise Failure(f"{word!r} is not a parameter; write --name value")
        if not sign:
            if not rest:
                raise Failure(f"{word} needs a value")
            value = rest.pop(0)
        name = word.lstrip("-")
        if word in ("-d", "--data"):
            data = value
        elif name in operation["parameters"]:
            values[name] = value
        else:
            raise Failure(f"unknown parameter {word}; the operation has {', '.join(operation['parameters']) or 'none'}")
    return values, data


def _send(session: Session, operation: dict[str, Any], values: dict[str, str], data: str | None) -> Answer:
    path, query, headers = f"/v3{operation['path']}", {}, {}
    for name, location in operation["parameters"].items():
        if location == "path":
            if name not in values:
                raise Failure(f"--{name} is required: the path is {operation['path']}")
            path = path.replace(f"{{{name}}}", quote_name(values[name]))
        elif name in values and location == "query":
            query[name] = values[name]
        elif name in values:
            headers[name] = values[name]
    body, kind = (None, JSON) if data is None else _body(data, operation["takes"])
    return session.client.request(operation["method"], path, query, body, kind, **headers)


def _body(data: str, accepted: list[str]) -> tuple[bytes, str]:
    """Return the body that the value of `-d` means, and the media type of this body, which is one of `accepted`. Raises Failure."""
    file = data[1:] if data.startswith("@") else ""
    content = data.encode()
    if file:
        content = sys.stdin.buffer.read() if file == "-" else files.read(file)
    if JSON in accepted and TEXT in accepted:
        try:
            json.loads(content)
        except ValueError:
            return content, TEXT
    if JSON in accepted or not accepted:
        return content, JSON
    if TEXT in accepted:
        return content, TEXT
    if FORM not in accepted:
        return content, accepted[0]
    name = os.path.basename(file).replace('"', "")
    if not name or file == "-":
        raise Failure("the operation needs a file: -d @FILE")
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file_upload"; filename="{name}"\r\n\r\n'
    return head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode(), f"{FORM}; boundary={BOUNDARY}"


def operations(client: Client) -> Operations:
    """Return the operations by id. Each has the members `method`, `path`, `summary`, `parameters` and `takes`.

    `parameters` maps the name of a parameter to `path`, `query` or `header`. `takes` lists the media types of the body.
    """
    directory = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    address = hashlib.sha256((client.context.get("socket") or client.context.url).encode()).hexdigest()[:16]
    path = os.path.join(directory, "dataplaneapi", f"operations-{address}.json")
    try:
        with open(path, encoding="utf-8") as file:
            cached = json.load(file)
    except (OSError, ValueError):
        cached = None
    if not isinstance(cached, dict) or "etag" not in cached or "operations" not in cached:
        cached = None
    headers = {"If_None_Match": cached["etag"]} if cached else {}
    answer = client.request("GET", DOCUMENT, **headers)
    if answer.status == 304 and cached:
        return dict(cached["operations"])
    fetched = _operations_in(answer.json())
    if etag := answer.headers.get("etag"):
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            files.replace(path, json.dumps({"etag": etag, "operations": fetched}))
        except OSError:
            # Without a cache, each call fetches the document.
            pass
    return fetched


def _operations_in(document: dict[str, Any]) -> Operations:
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
