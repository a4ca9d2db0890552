"""Use tokens with a real HAProxy: check their permissions, and their end."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER
from tests.until import until

TOKENS, WHOAMI = "/v3/sidecar/tokens", "/v3/sidecar/whoami"
BACKENDS = f"{SERVICES}/configuration/backends"
CONFIG = """\
frontend site from plain
    bind 127.0.0.1:{site}
    default_backend shop_a

backend shop_a from plain
    server one 127.0.0.1:1 weight 10
"""
WEIGHTS = [{"objects": "**", "may": ["read"]}, {"objects": "backend/shop_*/server/*", "fields": ["weight"], "may": ["change"]}]


@pytest.fixture
def sidecar(tmp_path: Path, haproxy_binary: str) -> Iterator[Quick]:
    rows = [(*USER, "admin"), ("ann", "ann", "weights"), ("eve", "eve", "editor")]
    users = [{"name": name, "password": password, "insecure": True, "role": role} for name, password, role in rows]
    config = (PLAIN + CONFIG).format(site=free_port())
    given = {"user": users, "roles": {"weights": WEIGHTS}}
    with HAProxy(tmp_path, config, binary=haproxy_binary) as haproxy, Quick(haproxy, dataplaneapi=given) as running:
        yield running


def ask(sidecar: Quick, method: str, path: str, *, by: str, **more: Any) -> httpx2.Response:
    """Send a request with the name of a user, whose password is the same, or with the secret of a token."""
    who = {"headers": {"authorization": f"Bearer {by}"}} if by.startswith("dps_") else {"auth": (by, by)}
    return httpx2.request(method, f"http://127.0.0.1:{sidecar.port}{path}", timeout=60, verify=False, **who, **more)


def created(sidecar: Quick, by: str, **members: Any) -> dict[str, Any]:
    answer = ask(sidecar, "POST", TOKENS, by=by, json={"ttl": "1h"} | members)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def weigh(sidecar: Quick, by: str, **members: Any) -> httpx2.Response:
    server = {"name": "one", "address": "127.0.0.1", "port": 1, "weight": 10} | members
    return ask(sidecar, "PUT", f"{BACKENDS}/shop_a/servers/one?version={sidecar.version()}", by=by, json=server)


def test_a_program_with_a_token(sidecar: Quick) -> None:
    token = created(sidecar, "ann", role="weights", note="CI")
    secret = token["secret"]
    assert weigh(sidecar, secret, weight=11).status_code == 200
    assert weigh(sidecar, secret, weight=11, port=2).status_code == 403
    assert sidecar.get("/v3/sidecar/history").json()[0]["author"] == f"token {token['id']} of ann"
    (shown,) = ask(sidecar, "GET", TOKENS, by="ann").json()
    assert shown["last_address"] == "127.0.0.1" and shown["last_used"] >= shown["created"] and "secret" not in shown
    for kept in sidecar.directory.rglob("state.db*"):
        assert secret.encode() not in kept.read_bytes() and kept.stat().st_mode & 0o777 == 0o600
    assert secret not in sidecar.log.read_text()


def test_at_most_what_its_creator_may_now(sidecar: Quick) -> None:
    assert "lacks permissions of editor" in ask(sidecar, "POST", TOKENS, by="ann", json={"ttl": "1h", "role": "editor"}).json()["message"]
    assert created(sidecar, "eve", role="viewer")["role"] == "viewer", "an editor may all that a viewer may"
    secret = created(sidecar, "ann", role="weights")["secret"]
    refused = ask(sidecar, "POST", TOKENS, by=secret, json={"ttl": "1h", "role": "weights"})
    assert refused.status_code == 403 and "cannot create tokens" in refused.json()["message"]
    text = sidecar.file.read_text()
    sidecar.file.write_text(text.replace("role: weights", "role: viewer"))
    sidecar.process.send_signal(signal.SIGHUP)
    until(lambda: weigh(sidecar, secret, weight=11).status_code == 403)
    assert ask(sidecar, "GET", BACKENDS, by=secret).status_code == 200
    sidecar.file.write_text(text.replace("name: ann", "name: bob"))
    sidecar.process.send_signal(signal.SIGHUP)
    until(lambda: ask(sidecar, "GET", BACKENDS, by=secret).status_code == 403)
    assert "ann no longer exists" in ask(sidecar, "GET", BACKENDS, by=secret).json()["message"]
    assert "is no longer valid" in next(each["state"] for each in sidecar.get(TOKENS).json() if each["creator"] == "ann")


def test_its_end(sidecar: Quick) -> None:
    """A token ends at once, also for cached authentication, and stays invalid after a restart."""
    revoked, short, other = (created(sidecar, "ann", role="weights", ttl=ttl) for ttl in ("1h", "1s", "1h"))
    header = {"authorization": f"Bearer {revoked['secret']}"}
    with httpx2.Client(base_url=f"http://127.0.0.1:{sidecar.port}", headers=header, timeout=60, verify=False) as client:
        assert {client.get(BACKENDS).status_code for _ in range(3)} == {200}
        assert ask(sidecar, "DELETE", f"{TOKENS}/{revoked['id']}", by="eve").status_code == 403
        assert ask(sidecar, "DELETE", f"{TOKENS}/{revoked['id']}", by="ann").status_code == 204
        refused = client.get(BACKENDS)
        assert refused.status_code == 401 and refused.headers["www-authenticate"].startswith("Bearer ")
    until(lambda: ask(sidecar, "GET", BACKENDS, by=short["secret"]).status_code == 401)
    assert {each["id"] for each in sidecar.get(TOKENS).json()} == {other["id"]}
    sidecar.stop()
    sidecar.start()
    assert ask(sidecar, "GET", BACKENDS, by=other["secret"]).status_code == 200
    assert ask(sidecar, "GET", BACKENDS, by=revoked["secret"]).status_code == 401


def test_the_end_of_a_stream(sidecar: Quick) -> None:
    """A stream ends if the token is revoked or expires, or if the roles of its creator change."""

    def give_another_role(_: str) -> None:
        sidecar.file.write_text(sidecar.file.read_text().replace("role: weights", "role: viewer"))
        sidecar.process.send_signal(signal.SIGHUP)

    endings: list[tuple[str, Callable[[str], Any]]] = [
        ("1h", lambda id_: ask(sidecar, "DELETE", f"{TOKENS}/{id_}", by="ann")),
        ("1s", lambda id_: None),
        ("1h", give_another_role),
    ]
    for ttl, end in endings:
        token = created(sidecar, "ann", role="weights", ttl=ttl)
        header = {"authorization": f"Bearer {token['secret']}"}
        with httpx2.stream("GET", f"http://127.0.0.1:{sidecar.port}/v3/sidecar/events", headers=header, timeout=60, verify=False) as answer:
            # On a slow machine, the second of its validity may already be over.
            assert answer.status_code == 200 or ttl == "1s"
            end(token["id"])
            assert not [line for line in answer.iter_lines() if line.startswith("event: dropped")], "until it ends"


def test_where_it_may_come_from(sidecar: Quick) -> None:
    here, elsewhere = (created(sidecar, "ann", role="weights", **{"from": [network]}) for network in ("127.0.0.0/8", "10.0.0.0/8"))
    assert ask(sidecar, "GET", WHOAMI, by=here["secret"]).status_code == 200
    refused = ask(sidecar, "GET", WHOAMI, by=elsewhere["secret"])
    assert refused.status_code == 401 and "may not be used from 127.0.0.1" in refused.json()["message"]
