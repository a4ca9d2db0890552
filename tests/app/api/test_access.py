"""What callers of roles may ask for: nothing that is not declared, and no secret."""

import re
from collections.abc import Iterator

import pytest

from dataplaneapi.api.operations import ANYONE, Operation
from dataplaneapi.settings.roles import read_roles
from tests.app.client import CONFIG, Client

WHOAMI = "/v3/sidecar/whoami"
ADMIN = {"certificates": {"root": "admin"}}


def limited(client: Client, **roles: object) -> Client:
    """Its user has this role, or none."""
    users = [{"name": "admin", **({"role": next(iter(roles))} if roles else {})}]
    own = {name: rules for name, rules in roles.items() if rules}
    client.app.services.roles = read_roles(own, ADMIN, users)
    return client


def held(client: Client) -> dict[str, bytes]:
    """The configuration and all stored files."""
    files = [client.file, *(each for name in ("maps", "ssl", "general", "spoe") for each in (client.file.parent / name).rglob("*"))]
    return {str(each): each.read_bytes() for each in files if each.is_file()}


def every_call(client: Client, method: str = "") -> Iterator[tuple[Operation, int, str]]:
    for operation in client.app.services.index.operations:
        if (method and operation.method != method) or operation.path in ("/sidecar/events",):
            continue
        path = "/v3" + re.sub(r"\{[^}]+\}", "1", operation.path)
        body = {} if operation.body and "application/json" in operation.body.media_types else None
        answer = client(operation.method, path, body)
        yield operation, answer.status, answer.body.decode()


def test_without_a_role_nothing_but_who_one_is(client: Client) -> None:
    limited(client)
    before = held(client)
    for operation, status, body in every_call(client):
        if operation.access == ANYONE:
            assert status == 200
        else:
            assert status == 403 and "has no role" in body, (operation, status, body)
    assert held(client) == before


def test_a_viewer_changes_nothing(client: Client) -> None:
    limited(client, viewer=None)
    before = held(client)
    for operation, status, body in every_call(client):
        # What is not there is deleted already, and a PATCH without members changes none.
        is_nothing = (operation.method, status) in (("DELETE", 204), ("PATCH", 200))
        assert operation.method == "GET" or status >= 400 or operation.access in ("any", "read") or is_nothing, (operation, status, body)
        assert operation.method != "GET" or status != 403, (operation, body)
    assert held(client) == before


@pytest.mark.parametrize("rule", [{"objects": "backend/**", "may": ["read"]}, {"objects": "**", "may": ["change"]}, {"objects": "*"}])
def test_what_shows_of_everything_needs_the_right_to_everything(client: Client, rule: object) -> None:
    limited(client, some=[rule])
    of_everything = [(body, status) for operation, status, body in every_call(client, "GET") if not (operation.access or operation.rows)]
    assert len(of_everything) > 10
    for body, status in of_everything:
        assert (status == 403 and "may not read **" in body) or status in (400, 415, 422), body


def test_a_kept_answer_is_not_for_others(client: Client) -> None:
    assert client.get(f"{CONFIG}/backends").status == client.get(f"{CONFIG}/backends").status == 200
    limited(client)
    assert client.get(f"{CONFIG}/backends").status == 403


READING = "str(password:),map(/etc/passwd)"
SERVER = {"name": "app1", "address": "127.0.0.1", "port": 8081, "ssl": "enabled", "sni": READING}
RULE = {"type": "set-header", "hdr_name": "X", "hdr_format": f"%[{READING}]"}
TEAM = [
    *({"objects": own, "may": ["read", "create", "change", "delete"]} for own in ("backend/app", "frontend/web")),
    {"objects": "spoe/*", "may": ["create", "change"]},
]
SPOE = b"[s]\nspoe-message m\n    args a=env(HOME)\n"
FORM = {"content-type": "multipart/form-data; boundary=b"}


SOCKET = "unix@/run/admin.sock"


def roads(client: Client) -> Iterator[tuple[str, str, object, dict[str, str]]]:
    """Yield ways to have HAProxy read a file, or its environment, for a caller that may change one backend."""
    backend, text = f"{CONFIG}/backends/app", client.file.read_text()
    yield "PUT", f"{backend}/servers/app1?version=1", SERVER, {}
    yield "PATCH", f"{backend}/servers/app1?version=1", {"pool_conn_name": READING}, {"content-type": "application/merge-patch+json"}
    yield "POST", f"{backend}/http_request_rules/0?version=1", RULE, {}
    yield "POST", f"{backend}/acls/0?version=1", {"acl_name": "a", "criterion": "src", "value": "-f /etc/passwd"}, {}
    yield "POST", "/v3/sidecar/batch", [{"method": "POST", "path": f"{backend}/http_request_rules/0", "body": RULE}], {}
    own = text.replace("127.0.0.1:8081", '127.0.0.1:8081 sni str("${HOME}")').encode()
    yield "POST", f"{CONFIG}/raw?version=1", own, {"content-type": "text/plain"}
    lines = text.replace("acl local", "# .if 1\n  errorfile 503 /etc/passwd\n  acl local").encode()
    yield "POST", f"{CONFIG}/raw?version=1", lines, {"content-type": "text/plain"}
    local = text.replace("127.0.0.1:8081", "/run/admin.sock", 1).encode()
    yield "POST", f"{CONFIG}/raw?version=1", local, {"content-type": "text/plain"}
    yield "POST", f"{backend}/servers?version=1", {"name": "new", "address": SOCKET}, {}
    yield "POST", f"{backend}/servers?version=1", {"name": "new", "address": "127.0.0.1", "health_check_address": SOCKET}, {}
    yield "POST", f"{backend}/tcp_checks/0?version=1", {"action": "connect", "addr": SOCKET}, {}
    yield "POST", f"{backend}/log_targets/0?version=1", {"address": "fd@3", "facility": "local0"}, {}
    yield "POST", f"{CONFIG}/frontends/web/binds?version=1", {"name": "new", "address": SOCKET}, {}
    yield "POST", f"{CONFIG}/frontends/web/binds?version=1", {"name": "new", "address": "*", "port": 1, "crt_list": "/etc/passwd"}, {}
    yield "POST", f"{backend}/http_request_rules/0?version=1", {**RULE, "hdr_format": "%[var(proc.key)]"}, {}
    exporter = {"type": "use-service", "service_name": "prometheus-exporter"}
    yield "POST", f"{CONFIG}/frontends/web/http_request_rules/0?version=1", exporter, {}
    admin = {"stats_options": {"stats_admin": True, "stats_admin_cond": "if", "stats_admin_cond_test": "TRUE"}}
    yield "PATCH", f"{CONFIG}/frontends/web?version=1", admin, {"content-type": "application/merge-patch+json"}
    head = b'--b\r\nContent-Disposition: form-data; name="file_upload"; filename="s.cfg"\r\n\r\n'
    yield "POST", "/v3/services/haproxy/spoe/spoe_files", head + SPOE + b"\r\n--b--\r\n", FORM
    first: dict[str, str]
    for first in ({}, {"agent-send": "#"}, {"sni": "str(x)", "address": SOCKET}):
        yield "POST", "/v3/services/haproxy/runtime/backends/app/servers", first | SERVER | first | {"name": "new"}, {}
    transaction = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    yield "PUT", f"{backend}/servers/app1?transaction_id={transaction}", SERVER, {}


def test_what_reads_files_needs_a_rule_of_its_own(client: Client) -> None:
    """By whichever road a value comes that reaches further than its object."""
    limited(client, team=TEAM)
    before = held(client)
    for method, path, body, headers in roads(client):
        refused = client(method, path, body, headers=headers)
        assert refused.status == 403 and "global/expressions" in refused.message, (path, refused.body)
    assert held(client) == before
    limited(client, team=[*TEAM, {"objects": "global/expressions", "may": ["change"]}])
    method, path, body, headers = next(roads(client))
    assert client(method, path, body, headers=headers).status == 202


SPELLED = ["/backends/{}", "/backends/{}?full_section=true", "/backends/{}/servers/app1", "/backends/app/servers/{}"]


@pytest.mark.parametrize("path", SPELLED)
def test_a_name_is_one_however_it_is_spelled(client: Client, path: str) -> None:
    """HAProxy hears `a\\x70p` and `'app'` as `app`: a rule for what the spelling matches gives no right to the object."""
    limited(client, some=[{"objects": "backend/*70p", "may": ["read"]}, {"objects": "backend/app/server/*70p1", "may": ["read"]}])
    name = "app1" if path.endswith("servers/{}") else "app"
    for spelled in (name, name.replace("p", "%5Cx70", 1), f"'{name}'", f"%22{name}%22"):
        got = client.get(CONFIG + path.format(spelled))
        assert got.status == 403, (spelled, got)
