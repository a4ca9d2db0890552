"""Authenticate callers by JWTs of an issuer, with a real HAProxy."""

import signal
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy.process import HAProxy
from tests.haproxy.sidecar import USER
from tests.issuing import AUDIENCE, Issuing, signed
from tests.until import until

BACKENDS, WHOAMI = f"{SERVICES}/configuration/backends", "/v3/sidecar/whoami"
CONFIG = "backend shop from plain\n    server one 127.0.0.1:1 weight 10\n"


@pytest.fixture
def issuing() -> Iterator[Issuing]:
    with Issuing("rsa1", "ec1") as running:
        yield running


@pytest.fixture
def sidecar(tmp_path: Path, haproxy_binary: str, issuing: Issuing) -> Iterator[Quick]:
    given = {
        "user": [{"name": USER[0], "password": USER[1], "insecure": True, "role": "admin"}],
        "jwt": {"issuer": issuing.url, "audience": AUDIENCE},
        "role_of": {"claims": {"ops-*": "editor", "watchers": "viewer"}},
    }
    with HAProxy(tmp_path, (PLAIN + CONFIG).format(), binary=haproxy_binary) as haproxy, Quick(haproxy, dataplaneapi=given) as running:
        yield running


def ask(sidecar: Quick, token: str, path: str = BACKENDS, method: str = "GET", **more: object) -> httpx2.Response:
    headers = {"authorization": f"Bearer {token}"}
    return httpx2.request(method, f"http://127.0.0.1:{sidecar.port}{path}", headers=headers, timeout=60, verify=False, **more)  # type: ignore[arg-type]


def test_roles_by_a_claim(sidecar: Quick, issuing: Issuing) -> None:
    editor, viewer = (signed(issuing.url, sub=name, groups=[group, "others"]) for name, group in (("ann", "ops-eu"), ("bob", "watchers")))
    server = {"name": "one", "address": "127.0.0.1", "port": 1, "weight": 11}
    # If the issuer answers late, the server answers with 503 and Retry-After.
    until(lambda: ask(sidecar, viewer).status_code == 200)
    asked = len(issuing.asked)
    for token, statuses in ((viewer, (403,)), (editor, (200, 202))):
        path = f"{BACKENDS}/shop/servers/one?version={sidecar.version()}"
        assert ask(sidecar, token, path, "PUT", json=server).status_code in statuses
        assert {ask(sidecar, token).status_code for _ in range(3)} == {200}
    assert sidecar.get("/v3/sidecar/history").json()[0]["author"] == "jwt of ann"
    assert len(issuing.asked) == asked, "the keys are fetched once"
    nobody = ask(sidecar, signed(issuing.url, groups=["others"]))
    assert nobody.status_code == 403 and "'jwt of ann' has no role" in nobody.json()["message"]
    token = ask(sidecar, editor, "/v3/sidecar/tokens", "POST", json={"role": "viewer", "ttl": "1h"})
    assert token.status_code == 403 and "cannot create tokens" in token.json()["message"]


def test_what_ends_it(sidecar: Quick, issuing: Issuing) -> None:
    token = signed(issuing.url, groups=["watchers"])
    assert {ask(sidecar, token).status_code for _ in range(3)} == {200}
    issuing.is_away = True
    assert ask(sidecar, signed(issuing.url, "rsa1", "RS256", groups=["watchers"])).status_code == 200, "its keys are kept"
    refused = ask(sidecar, signed(issuing.url, "ec3"))
    assert refused.status_code == 401 and "no key 'ec3'" in refused.json()["message"]
    assert refused.headers["www-authenticate"].startswith("Bearer ")
    text = sidecar.file.read_text()
    sidecar.file.write_text(text.replace(f"audience: {AUDIENCE}", "audience: other"))
    sidecar.process.send_signal(signal.SIGHUP)
    until(lambda: ask(sidecar, token).status_code == 401)
    assert token not in sidecar.log.read_text()


def test_settings_that_are_refused(sidecar: Quick, issuing: Issuing) -> None:
    token = signed(issuing.url, groups=["watchers"])
    text = sidecar.file.read_text()
    sidecar.file.write_text(text.replace(f"issuer: {issuing.url}", "issuer: http://login.example.com"))
    sidecar.process.send_signal(signal.SIGHUP)
    until(lambda: "dataplaneapi.jwt: issuer must be a URL" in sidecar.log.read_text())
    assert ask(sidecar, token, WHOAMI).json()["roles"] == ["viewer"]


def test_an_issuer_that_is_away_from_the_start(sidecar: Quick, issuing: Issuing) -> None:
    issuing.is_away = True
    sidecar.stop()
    sidecar.start()
    token = signed(issuing.url, groups=["watchers"])
    away = ask(sidecar, token)
    assert away.status_code == 503 and away.headers["retry-after"] == "10" and "cannot be fetched" in away.json()["message"]
    assert "answers with status 503" in sidecar.log.read_text() and sidecar.get(WHOAMI).status_code == 200
