"""Call the server as known programs do, with their libraries: requests, httpx, Go's net/http, and a client generated from our document."""

import asyncio
import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
from ruamel.yaml import YAML

from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.app.authority import Authority
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER

CONFIG = PLAIN + "backend be\n\nfrontend status\n    bind 127.0.0.1:{site}\n"
JSON = {"Content-Type": "application/json"}
LIVE = {"address": "10.0.0.1", "maintenance": "disabled", "check": "enabled"}
PARKED = {"address": "127.0.0.1", "maintenance": "enabled", "check": "disabled"}
GO = shutil.which("go")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[Quick]:
    """Run a server with a plain listener, and with a listener that requires a client certificate instead of a password."""
    certificate, key = map(str, authority.issue("server"))
    tls = {"tls_port": free_port(), "tls_certificate": certificate, "tls_key": key, "tls_ca": str(authority.file)}
    directory, config = tmp_path_factory.mktemp("libraries"), CONFIG.format(site=free_port())
    listeners = {"scheme": ["http", "https"], "tls": tls}
    with HAProxy(directory, config, binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy, dataplaneapi=listeners) as running:
        yield running


def tls_port(sidecar: Quick) -> int:
    return int(YAML(typ="safe").load(sidecar.file)["dataplaneapi"]["tls"]["tls_port"])


def test_a_discovery_with_requests(sidecar: Quick) -> None:
    """It uses one session that sends a JSON content type with every call, and writes True in a query as Python does."""
    base = f"http://127.0.0.1:{sidecar.port}{SERVICES}"
    with requests.Session() as session:
        session.auth = USER
        session.headers.update(JSON)

        def call(method: str, path: str, expect: int, **more: Any) -> Any:
            answer = session.request(method, base + path, timeout=60, **more)
            assert answer.status_code == expect, answer.text
            return answer.json() if answer.content else None

        for turn in range(2):
            version = int(session.get(f"{base}/configuration/version", timeout=60).text)
            within = {"transaction_id": call("POST", "/transactions", 201, params={"version": version})["id"]}
            if turn == 0:
                assert call("GET", "/configuration/backends/cloud", 404, params=within)["code"] == 404
                backend = {"name": "cloud", "mode": "http", "balance": {"algorithm": "roundrobin"}}
                call("POST", "/configuration/backends", 202, params=within, json=backend)
            servers = "/configuration/backends/cloud/servers"
            known = [each["name"] for each in call("GET", servers, 200, params=within)]
            for number in range(4):
                live = number < 2 + turn
                slot = {
                    "address": f"10.0.0.{number + 1}" if live else "127.0.0.1",
                    "port": 80,
                    "maintenance": "disabled" if live else "enabled",
                }
                server = {"name": f"srv{number}", "check": "enabled" if live else "disabled", **slot}
                if f"srv{number}" in known:
                    call("PUT", f"{servers}/srv{number}", 202, params=within, json=server)
                else:
                    call("POST", servers, 202, params=within, json=server)
            committed = session.put(f"{base}/transactions/{within['transaction_id']}", timeout=60)
            assert committed.status_code in (200, 202), committed.text
            assert committed.json()["status"] == "success"
        assert len(call("GET", servers, 200, params={"full_section": True})) == 4


def test_an_orchestrator_with_httpx(sidecar: Quick) -> None:
    """It sends several calls at once, and decodes every answer, including a 404."""

    async def story() -> None:
        base = f"http://127.0.0.1:{sidecar.port}{SERVICES}/"
        async with httpx.AsyncClient(auth=USER, base_url=base, timeout=60) as client:
            found = await client.get("configuration/backends/be", params={"full_section": False})
            assert found.json()["name"] == "be"
            assert (await client.get("configuration/backends/be/servers/s0")).json()["code"] == 404
            started = await client.post(
                "transactions", params={"version": (await client.get("configuration/version")).json()}, headers=JSON
            )
            assert started.status_code == 201, started.text
            within = {"force_reload": False, "transaction_id": started.json()["id"]}
            made = await asyncio.gather(
                *(
                    client.post(
                        "configuration/backends/be/servers", params=within, json={"name": f"s{n}", "address": "10.0.0.1", "port": 80}
                    )
                    for n in range(8)
                )
            )
            assert {answer.status_code for answer in made} == {202}
            assert sorted(answer.json()["name"] for answer in made) == [f"s{n}" for n in range(8)]
            committed = await client.put(f"transactions/{within['transaction_id']}", params={"force_reload": False}, headers=JSON)
            assert committed.json()["status"] == "success"
            assert len((await client.get("configuration/backends/be/servers")).json()) == 8

    asyncio.run(story())


def test_a_gitops_operator_with_a_client_certificate(sidecar: Quick, authority: Authority) -> None:
    """The certificate replaces the password. Without a certificate, the server does not answer."""
    raw = f"https://127.0.0.1:{tls_port(sidecar)}{SERVICES}/configuration/raw"
    with requests.Session() as session:
        session.verify, session.trust_env = str(authority.file), False
        with pytest.raises(
            (requests.ConnectionError, requests.exceptions.ChunkedEncodingError), match="certificate required|reset|aborted"
        ):
            session.get(raw, timeout=60)
    with requests.Session() as session:
        session.verify, session.trust_env = str(authority.file), False
        session.cert = tuple(map(str, authority.issue("operator", uri="spiffe://example.org/gitops")))
        before = session.get(raw, timeout=60)
        version = int(before.headers["Configuration-Version"])
        new = sidecar.text() + "\nbackend git\n    server s 127.0.0.1:1\n"
        session.headers["Content-Type"] = "text/plain"
        checked = session.post(raw, params={"only_validate": "true", "version": version}, data=new, timeout=60)
        assert checked.ok, checked.text
        assert "Reload-Id" not in checked.headers
        refused = session.post(raw, params={"only_validate": "true", "version": version}, data=f"{new}  sever x\n", timeout=60)
        assert refused.status_code == 400
        assert "sever" in refused.text[:4096]
        pushed = session.post(raw, params={"version": version}, data=new, timeout=60)
        assert pushed.status_code == 202, pushed.text
        assert pushed.headers["Reload-Id"]
        assert session.post(raw, params={"version": version}, data=new, timeout=60).status_code == 409


def test_a_client_generated_from_the_served_document(sidecar: Quick, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It adds an ACL in a transaction, and commits. A difference from the document would give None or an exception."""
    served = sidecar.get("/v3/specification_openapiv3").json()
    wanted = ("/transactions", "/transactions/{id}", "/configuration/version", "/backends", "/acls", "/acls/{index}")
    # All other paths would take half a minute. The schemas are all generated.
    served["paths"] = {path: each for path, each in served["paths"].items() if path.endswith(wanted)}
    (tmp_path / "document.json").write_text(json.dumps(served))
    (tmp_path / "settings.yaml").write_text("post_hooks: []\npackage_name_override: made_client\n")
    command = [str(Path(sys.executable).with_name("openapi-python-client")), "generate", "--meta=none"]
    command += ["--path", "document.json", "--config", "settings.yaml", "--output-path", "made_client"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr
    assert "WARNING" not in said.stdout.upper(), said.stdout
    monkeypatch.syspath_prepend(str(tmp_path))
    made = importlib.import_module("made_client")
    acls, transactions = "made_client.api.acl", "made_client.api.transactions"
    version, start, create, commit, shown, backends, models = map(
        importlib.import_module,
        (
            "made_client.api.configuration.get_configuration_version",
            f"{transactions}.start_transaction",
            f"{acls}.create_acl_frontend",
            f"{transactions}.commit_transaction",
            f"{acls}.get_all_acl_frontend",
            "made_client.api.backend.get_backends",
            "made_client.models",
        ),
    )
    basic = httpx.BasicAuth(*USER)
    with made.Client(base_url=f"http://127.0.0.1:{sidecar.port}/v3", httpx_args={"auth": basic}, raise_on_unexpected_status=True) as client:
        transaction = start.sync(client=client, version=int(version.sync(client=client)))
        acl = models.Acl(acl_name="is_admin", criterion="path_beg", value="/admin")
        answer = create.sync("status", 0, client=client, body=acl, transaction_id=transaction.id)
        assert answer.to_dict() == acl.to_dict()
        committed = commit.sync(transaction.id, client=client)
        assert str(committed.status) == "success"
        assert [each.to_dict() for each in shown.sync("status", client=client)] == [acl.to_dict()]
        assert "be" in [each.name for each in backends.sync(client=client)]
    assert "acl is_admin path_beg /admin" in sidecar.text()


@pytest.mark.soak  # The first build compiles half of Go's library.
@pytest.mark.skipif(GO is None, reason="no command here: go")
def test_an_sdk_with_go(sidecar: Quick, tmp_path: Path) -> None:
    """It uses only the standard library with strict types. The version is a number and a line break; it exits after an unknown status."""
    (tmp_path / "main.go").write_text(Path(__file__).with_name("sdk.go").read_text())
    (tmp_path / "go.mod").write_text("module sdk\n\ngo 1.19\n")
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOPROXY": "off"}
    assert GO is not None
    subprocess.run([GO, "build", "-o", "sdk", "."], cwd=tmp_path, env=environment, check=True)
    command = [tmp_path / "sdk", f"http://127.0.0.1:{sidecar.port}", *USER]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "success\n", "")
    assert "backend be_go" in sidecar.text()
