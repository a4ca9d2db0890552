"""Call all operations with a limited caller: no answer, successful or not, may contain values that the caller may not read.

All values of others contain one word, which must not be in any answer.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest

from dataplaneapi.api.operations import Operation
from dataplaneapi.settings.roles import read_roles
from haproxy_native.request_context import NOBODY
from tests.acceptance.bodies import Bodies
from tests.acceptance.targets import SANE_NAME, target
from tests.acceptance.test_fuzz import CONFIGURATION, EVERY
from tests.app.client import CONFIG, Client, Got, settings

WORD, SECRET = "canary7", "hunter7"
# The lines after the header of a section, by its kind.
LINES = {
    "global": "  description {0}\n  setenv DB_PASSWORD hunter7\n",
    "defaults": "  option httpchk GET /{0}\n",
    "frontend": "  description {0}\n  acl {0} path /{0}\n  http-request set-header X-{0} {0}\n",
    "backend": '  description {0}\n  server {0} 127.0.0.1:9\n  option httpchk GET / HTTP/1.1 "Host: {0}\\r\\nAuthorization: A hunter7"\n',
    "listen": "  description {0}\n  stats auth root:hunter7\n",
    "peers": "  peer {0} 127.0.0.1:10002\n",
    "userlist": "  user {0} password hunter7\n",
}
OTHERS = "".join(f"\n{kind} {WORD}\n" for kind in ("defaults", "frontend", "backend", "listen", "peers", "userlist", "resolvers", "cache"))
MINE = "\nbackend mine from one\n  server web 127.0.0.1:1\n"
RULES = [{"objects": each, "may": ["read", "create", "change", "delete"]} for each in ("backend/mine", "map/mine*", "owner/mine")]
ALL = [{"objects": "**", "may": ["read", "create", "change", "delete"]}]
DELETIONS = [("DELETE", f"{path}/{name}") for path in ("backends", "backends/one/servers", "frontends") for name in (WORD, "nosuch")]
# Names in calls: those of objects, and similar names.
ASKED = f"{WORD}x"
NAMES = (SANE_NAME, "canary", ASKED)
TEXT = b"global\ndefaults\n  mode http\n"


def configuration() -> str:
    text = CONFIGURATION + OTHERS + MINE
    for kind, lines in LINES.items():
        named = "" if kind == "global" else f" ({SANE_NAME}|{WORD})"
        text = re.sub(rf"^{kind}{named}( .*)?\n", lambda match, lines=lines: match[0] + lines.format(WORD), text, flags=re.MULTILINE)
    return text


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    directory = tmp_path_factory.mktemp("unread")
    for name in ("maps", "ssl", "general", "spoe"):
        (directory / name).mkdir()
        for file in (SANE_NAME, WORD):
            (directory / name / f"{file}.map").write_text(f"{WORD} {WORD}\n")
    users = [{"name": name, "password": name, "insecure": True} for name in ("admin", "other")]
    with Client(settings(directory, users=users), configuration()) as client:
        _remembered(client)
        yield client


def _remembered(client: Client) -> None:
    """Let others make and send changes that contain the word, so that the server stores them."""
    api = "/v3/services/haproxy"
    for method, path, body in (
        ("POST", f"{api}/configuration/backends?version=1", {"name": f"{WORD}-2"}),
        ("DELETE", f"{api}/configuration/backends/{WORD}-2?version=2", None),
        ("POST", f"{api}/configuration/backends?version=1", {"name": f"{WORD}-3"}),
        ("POST", f"{api}/transactions?version=3", None),
        ("PUT", f"/v3/sidecar/apply?owner={WORD}", {"backends": [{"name": WORD}]}),
        ("POST", "/v3/service_discovery/consul", {"address": WORD, "port": 1, "enabled": False, "retry_timeout": 10, "token": SECRET}),
        ("PUT", f"/v3/sidecar/tests/{WORD}", {"request": {"url": f"http://{WORD}/"}, "expect": {"backend": WORD}}),
    ):
        answer = client(method, path, body, auth="admin:admin")
        assert answer.status < 300 or answer.status in (409, 422), (path, answer.status, answer.body)


def asked(client: Client, method: str, path: str, body: Any = None, **headers: str) -> Got:
    """Send a request as the caller with a role."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client(method, path, body, auth="other:other", headers=named)


@contextmanager
def _role(client: Client, role: str) -> Iterator[None]:
    users = [{"name": "other", "role": role}]
    client.app.services.roles = read_roles({"some": RULES, "all": ALL}, {"certificates": {"root": "admin"}}, users)
    try:
        yield
    finally:
        client.app.services.roles = None


@pytest.fixture
def limited(client: Client) -> Iterator[None]:
    with _role(client, "some"):
        yield


def _calls(client: Client, random: Random, *, every: bool) -> Iterator[tuple[Operation, str, Any]]:
    """Yield calls of each operation: `every` call, or the first and a random quarter of the others."""
    for calls in _calls_by_operation(client, random):
        yield from calls if every else calls[:1] + random.sample(calls[1:], len(calls) // 4)


def _calls_by_operation(client: Client, random: Random) -> Iterator[list[tuple[Operation, str, Any]]]:
    bodies = Bodies(client.app.services.bundle["components"]["schemas"], random)
    transaction = client.engine.transactions(author=NOBODY)[0].id
    for operation in client.app.services.index.operations:
        if operation.path == "/sidecar/events":
            continue
        body = None
        if operation.body is not None and "application/json" in operation.body.media_types:
            body = bodies.valid(operation.body.schema)
            if operation.method in ("PUT", "PATCH") and isinstance(body, dict) and "name" in body and "name" in operation.names:
                body["name"] = SANE_NAME
        names = {each.name for each in operation.parameters}
        where = target(operation, random, sane=True)
        version = "&version=4" if "version" in names else ""
        calls = [(operation, where.replace("one", name) + version, body) for name in NAMES]
        for option in ("full_section=true", "dry_run=true", "only_validate=true", f"transaction_id={transaction}"):
            if option.partition("=")[0] in names:
                calls.append((operation, f"{where}&{option}", body))
        if "object" in names:
            for object_ in ("backend/one", "backend/canary", "stick_table/one", "map/one.map", "map/canary.map", "global", "frontend/one"):
                calls.append((operation, re.sub("object=[^&]*", f"object={object_}", where), body))
        yield calls


@pytest.mark.parametrize(("seed", "every"), [(0, False), *(pytest.param(seed, True, marks=pytest.mark.soak) for seed in range(5))])
def test_nothing_of_others(client: Client, limited: None, seed: int, every: bool) -> None:
    for operation, where, body in _calls(client, Random(seed), every=every):
        answer = asked(client, operation.method, where, body)
        assert answer.status < 500 or answer.status in (501, 503) or b"runtime client" in answer.body, (where, answer.status, answer.body)
        shown = (answer.body + repr(answer.headers).encode()).replace(ASKED.encode(), b"")
        assert WORD.encode() not in shown and SECRET.encode() not in shown, (operation.method, where, body, answer.status, answer.body)


def test_nothing_by_names_and_texts(client: Client, limited: None) -> None:
    for path, text in (("raw?only_validate=true", TEXT), ("raw?skip_version=true", TEXT)):
        answer = asked(client, "POST", f"{CONFIG}/{path}", text, content_type="text/plain")
        assert answer.status == 403 and SECRET.encode() not in answer.body, (path, answer.body)
    for object_ in ("backend/one", f"backend/{WORD}", f"backend/{WORD}x", "backend/nosuch", f"map/{WORD}.map", "map/nosuch.map"):
        answer = asked(client, "POST", "/v3/sidecar/rename", {"object": object_, "to": "mine2"})
        assert answer.status == 403 and f"may not change {object_};" in answer.json["message"], answer.body
        answer = asked(client, "GET", f"/v3/sidecar/references?object={object_}")
        assert answer.status == 403 and f"may not read {object_};" in answer.json["message"], answer.body
    answer = asked(client, "GET", "/v3/sidecar/references?object=backend/minf")
    assert answer.status == 403
    answer = asked(client, "GET", f"{CONFIG}/backends?transaction_id={client.engine.transactions(author=NOBODY)[0].id}")
    assert answer.status == 403 and "may not read transaction/" in answer.json["message"], answer.body
    for method, path in (("POST", "backends"), ("PUT", f"backends/{WORD}"), ("PUT", "backends/nosuch"), *DELETIONS):
        for name in (WORD, "nosuch"):
            answer = asked(client, method, f"{CONFIG}/{path}?version={client.engine.version(None)}", {"name": name})
            assert answer.status == 403, (method, path, answer.body)
            described = {"method": method, "path": f"{CONFIG}/{path}", "body": {"name": name}}
            batch = asked(client, "POST", "/v3/sidecar/batch", [described])
            described["path"] += f"?version={client.engine.version(None)}"
            checked = asked(client, "POST", "/v3/sidecar/access/check", described)
            assert (batch.status, checked.json["code"]) == (403, 403), (described, batch.body, checked.body)
    for body in ({}, {"username": "x"}, {"username": "x", "password": "y", "secure_password": False}):
        answers = [
            asked(client, "POST", f"{CONFIG}/users?userlist={name}&version={client.engine.version(None)}", body)
            for name in (WORD, "nosuch")
        ]
        assert answers[0].status == answers[1].status in (403, 422), (body, answers[0].body, answers[1].body)
    for password in (SECRET, "other"):
        users = {WORD: {"username": WORD, "password": password, "secure_password": True}}
        for dry in ("true", "false"):
            answer = asked(client, "PUT", f"/v3/sidecar/apply?owner=mine&dry_run={dry}", {"userlists": [{"name": WORD, "users": users}]})
            assert answer.status == 403, (password, dry, answer.body)


def _pushed(client: Client, name: str) -> Iterator[Got]:
    """Return texts and names of new objects that contain this name."""
    own = "global\ndefaults one\n  mode http\nbackend mine from one\n  server web 127.0.0.1:1\n"
    for section in ("backend", "frontend", "peers"):
        for lines in ("", "\n  mode tcp"):
            text = f"{own}{section} {name}{lines}\n".encode()
            yield asked(client, "POST", f"{CONFIG}/raw?version={client.engine.version(None)}", text, content_type="text/plain")
    for object_, new in ((f"backend/{name}", "mine2"), ("backend/mine", name)):
        yield asked(client, "POST", f"/v3/sidecar/rename?version={client.engine.version(None)}", {"object": object_, "to": new})


def test_permission_comes_before_existence(client: Client, limited: None) -> None:
    """An object for which the caller has no permission is refused as forbidden, also if it does not exist."""
    for there, missing in zip(_pushed(client, WORD), _pushed(client, "nosuch"), strict=True):
        assert there.status == missing.status == 403, (there.body, missing.body)
    random = Random(1)
    bodies, written = Bodies(client.app.services.bundle["components"]["schemas"], random), 0
    for operation in client.app.services.index.operations:
        if not operation.resource or operation.method == "GET" or not operation.path.startswith("/services/haproxy/config"):
            continue
        body = bodies.valid(operation.body.schema) if operation.body else None
        for name in (SANE_NAME, WORD, "nosuch"):
            if isinstance(body, dict) and "name" in body:
                body = body | {"name": name}
            path = "/v3" + re.sub(r"\{[^}]*\}", lambda part: "0" if part[0] == "{index}" else name, operation.path)  # noqa: B023
            query = "".join(f"&{each.name}={name}" for each in operation.parameters if each.location == "query" and each.required)
            answer = asked(client, operation.method, f"{path}?version={client.engine.version(None)}{query}", body)
            assert answer.status in (403, 422), (operation, path, body, answer.body)
            written += answer.status == 403
    assert written > 300


def _list(client: Client, operation: Operation, name: str) -> tuple[int, bytes, bool]:
    path = re.sub(r"\{[^}]*\}", name, operation.path)
    answer = asked(client, "GET", f"/v3{path}?userlist={name}&parent_name={name}")
    return answer.status, answer.body.replace(name.encode(), b""), "Unparsed-Lines" in answer.headers


def test_a_list_in_what_is_hidden_is_as_one_in_nothing(client: Client, limited: None) -> None:
    compared = 0
    for operation in client.app.services.index.operations:
        names = [each.name for each in operation.parameters if each.name in ("userlist", "parent_name", *operation.names)]
        if operation.method != "GET" or operation.is_of_one or not names or not operation.path.startswith("/services/haproxy/config"):
            continue
        for hidden in (SANE_NAME, WORD):
            answers = []
            for name in (hidden, "nosuch"):
                path = re.sub(r"\{[^}]*\}", name, operation.path)
                answers.append(asked(client, "GET", f"/v3{path}?userlist={name}&parent_name={name}"))
            there, not_there = (
                (each.status, each.body.replace(hidden.encode(), b"nosuch"), "Unparsed-Lines" in each.headers) for each in answers
            )
            assert there == not_there and there[0] in (200, 403), (operation, hidden, there, not_there)
            compared += 1
    assert compared > 100
    assert asked(client, "GET", f"{CONFIG}/backends/mine/servers").json[0]["name"] == "web"
    assert asked(client, "GET", f"{CONFIG}/backends/mine/acls").json == []


@EVERY
def test_no_secret_of_what_may_be_read(client: Client, every: bool) -> None:
    with _role(client, "viewer"):
        shown = 0
        for operation, where, body in _calls(client, Random(3), every=every):
            answer = asked(client, operation.method, where, body)
            assert SECRET.encode() not in answer.body, (operation.method, where, answer.body)
            shown += b"<masked>" in answer.body
        assert shown > 5


def test_secrets_of_sources_are_masked_and_not_taken_back(client: Client) -> None:
    consul = "/v3/service_discovery/consul"
    with _role(client, "all"):
        (shown,) = asked(client, "GET", consul).json
        assert shown["token"] == "<masked>"
        refused = asked(client, "PUT", f"{consul}/{shown['id']}", shown | {"address": "here"})
        assert refused.status == 422 and refused.json["message"].startswith("token has <masked>"), refused.body
        assert asked(client, "PUT", f"{consul}/{shown['id']}", shown | {"token": SECRET}).json["token"] == "<masked>"
    assert client.get(consul, auth="admin:admin").json[0]["token"] == SECRET


def test_what_is_masked_within_another_call_is_refused(client: Client) -> None:
    path = f"/v3/services/haproxy/configuration/users/{WORD}?userlist={WORD}"
    with _role(client, "all"):
        user = asked(client, "GET", path).json
        answer = asked(client, "POST", "/v3/sidecar/batch", [{"method": "PUT", "path": path, "body": user}])
        assert answer.status == 422 and "password has <masked>" in answer.json["message"], answer.body
