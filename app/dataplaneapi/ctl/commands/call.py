"""`ctl call`: any operation of the API by its id, with its parameters as options."""

import argparse
import json
import os
import sys
from typing import Any

from dataplaneapi.ctl import tables, waiting
from dataplaneapi.ctl.client import JSON, TEXT, Answer
from dataplaneapi.ctl.client import name as quoted
from dataplaneapi.ctl.failures import Failure
from dataplaneapi.ctl.operations import Operations, operations
from dataplaneapi.ctl.session import Session

FORM = "multipart/form-data"
BOUNDARY = "dataplaneapi-ctl-7d1c0ab95e"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "dataplaneapi ctl call OPERATION_ID [--PARAMETER VALUE ...] [-d BODY|@FILE|@-]"
    parser.add_argument("operation", nargs="?", metavar="OPERATION_ID", help="as in getBackends; without it all are listed")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="--PARAMETER VALUE", help="as in --parent_name shop")
    parser.add_argument("-d", "--data", metavar="BODY", help="the body, or @FILE that has it, or @- for standard input")


def run(session: Session) -> int:
    known = operations(session.client)
    given = session.given
    if not given.operation:
        rows = [{"id": name, **{key: operation[key] for key in ("method", "path", "summary")}} for name, operation in known.items()]
        session.show(
            rows,
            lambda operations_: tables.table(("id", "method", "path"), [[row["id"], row["method"], row["path"]] for row in operations_]),
        )
        return 0
    operation = _operation(known, given.operation)
    values, data = _values(given.rest, operation)
    answer = _asked(session, operation, values, given.data if data is None else data)
    _show(session, answer)
    return waiting.written(session, answer, None)


def _operation(known: Operations, name: str) -> dict[str, Any]:
    if name in known:
        return known[name]
    from difflib import get_close_matches

    close = get_close_matches(name, known, 3)
    raise Failure(f"operation {name} is not known" + (f"; did you mean {' or '.join(close)}?" if close else "; ctl call lists them"))


def _values(words: list[str], operation: dict[str, Any]) -> tuple[dict[str, str], str | None]:
    """The parameters, and the body where it stands among them."""
    values: dict[str, str] = {}
    data = None
    rest = list(words)
    while rest:
        word, sign, value = rest.pop(0).partition("=")
        if not word.startswith("-"):
            raise Failure(f"{word!r} is no parameter; they are given as --name value")
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
            raise Failure(f"{word} is no parameter of it; there are {', '.join(operation['parameters']) or 'none'}")
    return values, data


def _asked(session: Session, operation: dict[str, Any], values: dict[str, str], data: str | None) -> Answer:
    path, query, headers = f"/v3{operation['path']}", {}, {}
    for name, place in operation["parameters"].items():
        if place == "path":
            if name not in values:
                raise Failure(f"--{name} is required: the path is {operation['path']}")
            path = path.replace(f"{{{name}}}", quoted(values[name]))
        elif name in values and place == "query":
            query[name] = values[name]
        elif name in values:
            headers[name] = values[name]
    body, kind = (None, JSON) if data is None else _body(data, operation)
    return session.client.ask(operation["method"], path, query, body, kind, **headers)


def _body(data: str, operation: dict[str, Any]) -> tuple[bytes, str]:
    """A form where the operation takes nothing else, with the file's own name."""
    file = data[1:] if data.startswith("@") else ""
    try:
        if file == "-":
            content = sys.stdin.buffer.read()
        elif file:
            with open(file, "rb") as opened:
                content = opened.read()
        else:
            content = data.encode()
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}") from None
    takes = operation["takes"]
    if JSON in takes or not takes:
        return content, JSON if TEXT not in takes or _is_json(content) else TEXT
    if TEXT in takes:
        return content, TEXT
    if FORM not in takes:
        return content, str(takes[0])
    name = os.path.basename(file).replace('"', "")
    if not name or file == "-":
        raise Failure("it takes a file: -d @FILE")
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file_upload"; filename="{name}"\r\n\r\n'
    return head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode(), f"{FORM}; boundary={BOUNDARY}"


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except ValueError:
        return False
    return True


def _show(session: Session, answer: Answer) -> None:
    """JSON unless another format was asked for; anything else as it is, but for the characters that a terminal must not get."""
    if not answer.body:
        return
    if "json" in answer.headers.get("content-type", ""):
        session.format = getattr(session.given, "output", None) or "json"
        value = answer.json()
        if isinstance(value, list):
            session.show_list("value", value)
        else:
            session.show_one(value)
    elif sys.stdout.isatty():
        session.write(answer.body.decode("utf-8", "replace"))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(answer.body)
        sys.stdout.buffer.flush()
