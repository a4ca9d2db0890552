"""`ctl` shows each answer that the document allows: with all members, with some, and with the required ones alone."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from dataplaneapi.ctl.client import Answer, Client
from dataplaneapi.ctl.failures import Failure
from dataplaneapi.ctl.main import run
from dataplaneapi.ctl.schemas import DOCUMENT
from tests.acceptance.bodies import Bodies
from tests.openapi.documents import document

LINES = (
    "history",
    "history --refused",
    "history 3",
    "lint",
    "lint --fail-on note",
    "references backend/shop",
    "drift",
    "workers",
    "overrides",
    "whoami",
    "stats",
    "explain http://127.0.0.1/x",
    "test",
    "test --coverage",
    "split",
    "split canary",
    "drain shop/web1",
    "maint shop/web1",
    "ready shop/web1",
    "maint shop/web1 --dry-run",
    "weight shop/web1 5 --dry-run",
    "rename backend/shop to --dry-run",
    "split canary a=1 b=2",
    "weight shop/web1 5",
    "set backend/shop/server/web1 weight=5",
    "delete backend/shop/server/web1",
    "rename backend/shop to",
    "reload",
    "revert 3",
    "confirm",
    "map list",
    "map show hosts.map",
    "cert list",
    "get backend",
    "get backend/shop",
    "get backend/shop/server",
    "get backend/shop/server -r",
    "get info -r",
    "get certificate -r",
    "get map -r",
    "get operation",
    "get reload",
    "get confirmation",
    "get owner",
    "get transaction",
)
DRAWS = 12


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Random]:
    """Whatever is asked of the server is answered with a success that the document declares; what is random comes from here."""
    random = Random()
    bodies = Bodies(document()["components"]["schemas"], random)

    def answer(self: Client, method: str, path: str, query: Any = None, body: Any = None, *args: Any, **headers: str) -> Answer:
        if path == DOCUMENT:
            return Answer(200, {}, json.dumps(document()).encode())
        declared = operation(method, path)
        status, success = next((int(code), each) for code, each in declared["responses"].items() if code.startswith("2"))
        content = success.get("content", {})
        if not content:
            return Answer(status, {}, b"")
        kind, media = next(iter(content.items()))
        if "json" not in kind:
            return Answer(status, {"content-type": kind}, b"text\n")
        # One question has one answer, though a list is declared.
        schema = {"$ref": "#/components/schemas/explanation"} if path.endswith("/explain") else media["schema"]
        return Answer(status, {"content-type": kind}, json.dumps(bodies.valid(schema)).encode())

    monkeypatch.setattr(Client, "send", answer)
    return random


def operation(method: str, path: str) -> Mapping[str, Any]:
    """Return the operation of a path as it is called, preferably one with few parameters."""
    asked = path.strip("/").split("/")
    fitting = [
        (template.count("{"), template)
        for template, item in document()["paths"].items()
        if method.lower() in item and fits(f"/v3{template}".strip("/").split("/"), asked)
    ]
    assert fitting, f"the document has no {method} {path}"
    return document()["paths"][min(fitting)[1]][method.lower()]


def fits(template: list[str], asked: list[str]) -> bool:
    return len(template) == len(asked) and all(each.startswith("{") or each == word for each, word in zip(template, asked, strict=True))


@pytest.mark.parametrize("line", LINES)
def test_it_is_shown(line: str, answers: Random, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(DRAWS):
        answers.seed(seed)
        # A failed reload or run of tests is told, and has a status of its own.
        with suppress(Failure):
            run(line.split())
    capsys.readouterr()
