"""Test the audit log with a real HAProxy: every change has a line, for every kind of call, and no line has a secret."""

import json
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

CONFIG = """\
userlist people
    user ann insecure-password secret-1

backend shop from plain
    server one 127.0.0.1:1 weight 10
"""
BACKENDS = f"{SERVICES}/configuration/backends"
RULES = [{"objects": "**", "may": ["read"]}, {"objects": "backend/shop/server/*", "fields": ["weight"], "may": ["change"]}]


class Audited(Quick):
    """A server with an audit log. `lines()` returns the lines of the log without times."""

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.directory / "audit.log").read_text().splitlines()]

    def one(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for a line for which `holds` returns True, and return it. There must be only one."""
        until(lambda: any(map(holds, self.lines())), "no line is written")
        (found,) = filter(holds, self.lines())
        return found

    def call(self, method: str, path: str, *, by: tuple[str, str] = USER, **more: Any) -> httpx2.Response:
        return httpx2.request(method, f"http://127.0.0.1:{self.port}{path}", auth=by, timeout=60, verify=False, **more)

    def weigh(self, weight: int, **members: Any) -> httpx2.Response:
        body = {"name": "one", "address": "127.0.0.1", "port": 1, "weight": weight} | members
        return self.call("PUT", f"{BACKENDS}/shop/servers/one?version={self.version()}", by=("ci", "ci"), json=body)


@pytest.fixture
def sidecar(tmp_path: Path, haproxy_binary: str) -> Iterator[Audited]:
    users = [
        {"name": name, "password": word, "insecure": True, "role": role} for name, word, role in ((*USER, "admin"), ("ci", "ci", "ci"))
    ]
    audit = {"target": "file", "file": str(tmp_path / "audit.log")}
    given = {"user": users, "roles": {"ci": RULES}, "audit": audit, "trusted_proxies": ["127.0.0.1"]}
    config = (PLAIN + CONFIG).format(site=free_port())
    with HAProxy(tmp_path, config, binary=haproxy_binary) as haproxy, Audited(haproxy, dataplaneapi=given) as running:
        yield running


def of(answer: httpx2.Response) -> Callable[[dict[str, Any]], bool]:
    return lambda line: line.get("request_id") == answer.headers["X-Request-Id"]


def test_changes_made_and_refused(sidecar: Audited) -> None:
    live = sidecar.weigh(11)
    line = sidecar.one(of(live))
    entry = sidecar.get("/v3/sidecar/history").json()[0]["id"]
    expected = {"event": "change", "outcome": "granted", "author": "ci", "address": "127.0.0.1", "operation": "replaceServerBackend"}
    assert line.items() >= (expected | {"objects": ["backend/shop/server/one"], "made": "live", "entry": entry}).items()
    refused = sidecar.one(of(sidecar.weigh(11, port=2)))
    assert refused["outcome"] == "refused" and refused["reason"].startswith("role ci may not change port of backend/shop/server/one")
    raw = sidecar.call("POST", f"{SERVICES}/configuration/raw?version=99", content=sidecar.text(), headers={"content-type": "text/plain"})
    assert (raw.status_code, sidecar.one(of(raw))["operation"]) == (409, "postHAProxyConfiguration")
    broken = sidecar.text().replace("user ann insecure-password secret-1", "user ann insecure-word secret-1")
    refusal = sidecar.call(
        "POST", f"{SERVICES}/configuration/raw?version={sidecar.version()}", content=broken, headers={"content-type": "text/plain"}
    )
    assert refusal.status_code == 400 and sidecar.one(of(refusal))["outcome"] == "refused"
    assert [each["objects"] for each in sidecar.get("/v3/sidecar/history", refused=True).json()[-1:]] == [["backend/shop/server/one"]]
    assert "secret-1" not in (sidecar.directory / "audit.log").read_text()
    assert (sidecar.directory / "audit.log").stat().st_mode & 0o777 == 0o600


def test_what_is_no_commit(sidecar: Audited) -> None:
    transaction = sidecar.call("POST", f"{SERVICES}/transactions?version={sidecar.version()}").json()["id"]
    edit = sidecar.call("POST", f"{BACKENDS}?transaction_id={transaction}", json={"name": "new", "from": "plain"})
    assert sidecar.one(of(edit)).items() >= {"outcome": "granted", "objects": ["backend/new"], "operation": "createBackend"}.items()
    commit = sidecar.call("PUT", f"{SERVICES}/transactions/{transaction}?confirm=600s")
    line = sidecar.one(of(commit))
    assert line["objects"] == ["backend/new"] and (waiting := line["confirmation"])
    assert sidecar.one(of(sidecar.call("POST", f"/v3/sidecar/confirmations/{waiting}/confirm")))["objects"] == [f"confirmation/{waiting}"]
    token = sidecar.call("POST", "/v3/sidecar/tokens", json={"role": "ci", "ttl": "1h"})
    assert sidecar.one(of(token)).items() >= {"outcome": "granted", "objects": [f"token/{token.json()['id']}"]}.items()
    revoked = sidecar.call("DELETE", f"/v3/sidecar/tokens/{token.json()['id']}")
    assert sidecar.one(of(revoked))["objects"] == [f"token/{token.json()['id']}"]
    assert token.json()["secret"] not in (sidecar.directory / "audit.log").read_text()


def test_logins_by_the_address_that_a_proxy_names(sidecar: Audited) -> None:
    """An attacker is refused before the password is checked; other clients of the same proxy are not refused."""
    path, attacker = "/v3/info", {"X-Forwarded-For": "10.9.8.7, 192.0.2.66"}
    answers = [sidecar.call("GET", path, by=(USER[0], "wrong"), headers=attacker) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [401] * 5 + [429]
    right = sidecar.call("GET", path, headers=attacker)
    assert right.status_code == 429 and 0 < int(right.headers["Retry-After"]) <= 60
    assert sidecar.call("GET", path, headers={"X-Forwarded-For": "192.0.2.1"}).status_code == 200
    lines = [sidecar.one(of(answer)) for answer in (answers[0], right)]
    assert {(line["event"], line["outcome"], line["login"], line["address"]) for line in lines} == {
        ("login", "refused", USER[0], "192.0.2.66")
    }
    assert 'dataplane_refused_logins_total{reason="limited"} 2.0' in sidecar.get("/metrics").text


def test_hangup_follows_the_settings_and_opens_the_file_anew(sidecar: Audited) -> None:
    path, read = sidecar.directory / "audit.log", lambda: sidecar.get("backends/shop")
    assert read().status_code == 200
    sidecar.weigh(12)
    until(path.exists)
    path.rename(path.with_suffix(".1"))
    text = sidecar.file.read_text().replace("  - 127.0.0.1", "  - 192.0.2.0/24")
    sidecar.file.write_text(text.replace("    target: file\n", "    target: file\n    reads: true\n"))
    sidecar.process.send_signal(signal.SIGHUP)
    until(path.exists, "the file is there before the next line")
    until(lambda: bool(read() and sidecar.lines()), "reads have lines")
    kept = [read() for _ in range(3)]
    assert [sidecar.one(of(answer))["objects"] for answer in kept] == [["backend/shop"]] * 3
    answer = sidecar.call("GET", "/v3/info", headers={"X-Forwarded-For": "192.0.2.66"})
    assert sidecar.one(of(answer))["address"] == "127.0.0.1"


def test_a_file_that_cannot_be_written_stops_no_change(sidecar: Audited) -> None:
    sidecar.file.write_text(sidecar.file.read_text().replace(str(sidecar.directory / "audit.log"), "/dev/full"))
    sidecar.process.send_signal(signal.SIGHUP)
    until(lambda: sidecar.weigh(13).status_code == 200 and "audit" in sidecar.get("/readyz").json()["parts"])
    ready = sidecar.get("/readyz")
    assert ready.status_code == 200 and "/dev/full: No space left on device" in ready.json()["parts"]["audit"]["reason"]
    assert "writing the audit log to " in sidecar.log.read_text()
