"""No operation has HAProxy evaluate what a caller sends, unless the same caller may commit it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.api.operations import Operation
from haproxy_native.child import Child
from tests.app.api.test_access import held, limited
from tests.app.client import CONFIG, CONFIGURATION, Client, Got, settings

TEXT, FORM, FILE = "text/plain", "multipart/form-data; boundary=b", "application/octet-stream"
LUA = 'core.register_init(function() io.open("/tmp/trace", "w") end)\n'
# As it stands, HAProxy would execute a file of the caller's, and read the environment.
OWN = CONFIGURATION.replace("maxconn 1000", "maxconn 1000\n  lua-load general/own.lua") + '  http-request set-header X "${HOME}"\n'
RULE = {"type": "set-header", "hdr_name": "X", "hdr_format": "%[env(HOME)]"}
BODIES: dict[str, list[Any]] = {
    "explainRequest": [{"url": "http://a:8080/", "config": OWN}],
    "runRoutingTests": [{"config": OWN, "cases": [{"request": {"url": "http://a:8080/"}, "expect": {"status": 204}}]}],
    "createBatch": [[{"method": "POST", "path": f"{CONFIG}/backends/app/http_request_rules/0", "body": RULE}]],
    "renameObject": [{"object": "backend/app", "to": "other"}],
    "applyDeclaration": [{"backends": [{"name": "app", "http_request_rule_list": [RULE]}]}],
}
QUERIES = {"applyDeclaration": "owner=own", "postHAProxyConfiguration": "version=1"}
PATHS = {"{store}": "general", "{name}": "own.lua"}
REFUSED: dict[str, Any] = {
    "viewer": None,
    "operator": None,
    "narrow": [
        {"objects": "**", "may": ["read"]},
        {"objects": "owner/**", "may": ["change"]},
        {"objects": "general/mine_*", "may": ["change"]},
    ],
}


@dataclass(frozen=True)
class Question:
    """A call that evaluates what the caller sends, and changes nothing."""

    operation: Operation
    path: str
    body: Any = None
    kind: str = ""

    def ask(self, client: Client) -> Got:
        body = self.body.encode() if isinstance(self.body, str) else self.body
        return client(self.operation.method, self.path, body, headers={"content-type": self.kind} if self.kind else {})

    def described(self) -> dict[str, Any]:
        """Return the question as `access/check` has it."""
        described = {"method": self.operation.method, "path": self.path, "body": self.body, "content_type": self.kind}
        return {name: value for name, value in described.items() if value}


def form(*parts: tuple[str, str, str]) -> str:
    rows = (f'--b\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\n\r\n{data}\r\n' for name, file, data in parts)
    return "".join(rows) + "--b--\r\n"


def is_question(operation: Operation) -> bool:
    """Tell whether an operation takes a text, a file or an object, and changes nothing."""
    return operation.method != "GET" and operation.body is not None and bool(operation.dry_runs or operation.access == "read")


def questions(client: Client) -> Iterator[Question]:
    for operation in filter(is_question, client.app.services.index.operations):
        path = "/v3" + operation.path
        for name, value in PATHS.items():
            path = path.replace(name, value)
        query = [QUERIES.get(operation.id, ""), *(f"{name}=true" for name in operation.dry_runs)]
        path += "?" + "&".join(filter(None, query))
        assert operation.body
        for kind in operation.body.media_types:
            if kind == "application/json":
                yield from (Question(operation, path, body, "application/json") for body in BODIES[operation.id])
            elif kind == TEXT:
                is_file = operation.id == "planStoredFile"
                yield Question(
                    operation, path, LUA if is_file else OWN if operation.id != "applyDeclaration" else OWN.partition("\n\n")[2], TEXT
                )
            elif kind == FILE:
                yield Question(operation, path, LUA, FILE)
            elif kind == "multipart/form-data":
                own = OWN.partition("\n\n")[2] if operation.id == "applyDeclaration" else OWN
                yield Question(operation, path, form(("configuration", "", own), ("general", "own.lua", LUA)), FORM)
                yield Question(operation, path, form(("general", "own.lua", LUA)), FORM)
        if operation.id == "planConfiguration":
            yield Question(operation, f"{path}add=ring")


@dataclass
class Starts:
    """Programs that were started."""

    words: list[list[str]] = field(default_factory=list)


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Starts:
    seen, init = Starts(), Child.__init__

    def counted(child: Child, words: Any, *given: Any, **more: Any) -> None:
        seen.words.append(list(words))
        init(child, words, *given, **more)

    monkeypatch.setattr(Child, "__init__", counted)
    return seen


@pytest.fixture
def client(tmp_path: Path, haproxy_binary: str) -> Iterator[Client]:
    (tmp_path / "general").mkdir()
    (tmp_path / "general" / "own.lua").write_text("-- the administrator's\n")
    with Client(replace(settings(tmp_path), haproxy_bin=haproxy_binary, validate_cmd="")) as client:
        yield client


@pytest.mark.parametrize("role", REFUSED)
@pytest.mark.parametrize("read_only", [False, True])
def test_what_may_not_be_committed_is_not_evaluated(client: Client, starts: Starts, role: str, *, read_only: bool) -> None:
    before, asked = held(client), [*questions(client)]
    own = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    client.put(f"{CONFIG}/backends/app/http_request_rules?transaction_id={own}", [RULE])
    limited(client, **{role: REFUSED[role]})
    assert client.post(f"{CONFIG}/raw?version=1", OWN.encode(), headers={"content-type": TEXT}).status == 403, "nor is it committed"
    client.app.services.settings = replace(client.app.services.settings, read_only=read_only)
    starts.words.clear()
    plan, explain, tests = (f"/v3/sidecar/{name}?transaction_id={own}" for name in ("plan", "explain", "test_runs"))
    answers = [(question, question.ask(client)) for question in asked]
    answers += [
        (path, client.post(path, body)) for path, body in ((plan, None), (explain, {"url": "http://a:8080/"}), (tests, {"cases": []}))
    ]
    for question, answer in answers:
        assert answer.status == 403, (question, answer.body)
    for question in asked:
        verdict = client.post("/v3/sidecar/access/check", question.described()).json
        assert not verdict["allowed"] and verdict["code"] == 403, (question, verdict)
    assert starts.words == [], "HAProxy was started"
    assert held(client) == before


@pytest.mark.parametrize("role", ["editor", "admin"])
def test_what_may_be_committed_is_evaluated(client: Client, starts: Starts, role: str) -> None:
    before, asked = held(client), [*questions(client)]
    assert {*map(type, BODIES)} and {question.operation.id for question in asked} >= {*BODIES, *QUERIES}
    limited(client, **({"editor": None} if role == "editor" else {"admin": None}))
    for question in asked:
        starts.words.clear()
        assert client.post("/v3/sidecar/access/check", question.described()).json["allowed"] or "add=" in question.path, question
        assert starts.words == [], "a check asks HAProxy nothing"
        answer = question.ask(client)
        assert answer.status < 500 and answer.status != 403, (question, answer.body)
        assert starts.words or question.operation.id == "planStoredFile", (question, answer.body)
    assert held(client) == before


def test_a_change_within_the_rules_is_evaluated(client: Client, starts: Starts) -> None:
    limited(client, team=[{"objects": "backend/app", "may": ["read", "create", "change", "delete"]}])
    own = CONFIGURATION.replace("127.0.0.1:8081", "127.0.0.1:8081 check").encode()
    assert client.post("/v3/sidecar/plan", own, headers={"content-type": TEXT}).json["valid"]
    assert client.post(f"{CONFIG}/raw?only_validate=true", own, headers={"content-type": TEXT}).status == 202
    assert len(starts.words) == 2
    wider = own.replace(b"maxconn 1000", b"maxconn 1001")
    refused = client.post("/v3/sidecar/plan", wider, headers={"content-type": TEXT})
    assert refused.status == 403 and "may not change performance_options of global" in refused.message
    assert len(starts.words) == 2
