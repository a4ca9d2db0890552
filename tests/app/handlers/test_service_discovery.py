"""The five operations on definitions, through the whole application."""

from pathlib import Path

import pytest

from tests.app.client import Client, serving

BODIES = {
    "consul": {"address": "127.0.0.1", "port": 9, "enabled": False, "retry_timeout": 60},
    "aws": {"name": "r", "region": "eu-central-1", "enabled": False, "retry_timeout": 60, "ipv4_address": "private"},
}


@pytest.mark.parametrize("kind", BODIES)
def test_life_of_a_definition(tmp_path: Path, kind: str) -> None:
    with serving(tmp_path) as client:
        path = f"/v3/service_discovery/{kind}"
        assert (client.get(path).status, client.get(path).json) == (200, [])
        made = client.post(path, BODIES[kind])
        assert made.status == 201
        assert made.json.items() >= BODIES[kind].items()
        identity = made.json["id"]
        assert client.get(f"{path}/{identity}").json == made.json
        changed = client.put(f"{path}/{identity}", {**BODIES[kind], "retry_timeout": 7, "status": {"state": "working"}})
        assert (changed.status, changed.json) == (200, {**made.json, "retry_timeout": 7})
        assert client.get(path).json == [changed.json]
        assert client.delete(f"{path}/{identity}").status == 204
        assert_unknown(client, path, identity, BODIES[kind])


def assert_unknown(client: Client, path: str, identity: str, body: dict) -> None:
    for answer in (client.get(f"{path}/{identity}"), client.put(f"{path}/{identity}", body), client.delete(f"{path}/{identity}")):
        assert (answer.status, answer.message) == (404, "instance not found")


def test_an_unusable_storage_is_told(tmp_path: Path) -> None:
    (tmp_path / "storage").write_text("in the way")
    with serving(tmp_path) as client:
        answer = client.get("/v3/service_discovery/consul")
    assert answer.status == 503
    assert "dataplane_storage_dir" in answer.message


def test_refused_bodies(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        answer = client.post("/v3/service_discovery/consul", {**BODIES["consul"], "health_check_policy": "min"})
        assert (answer.status, answer.message) == (400, "health_check_policy_min is required for 'min' health_check_policy")
    assert (tmp_path / "storage/service_discovery/consul.json").read_text() == ""
