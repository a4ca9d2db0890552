"""`/v3/sidecar/drift` without HAProxy; beside one it is in tests/acceptance/test_drift.py."""

from tests.app.client import Client


def test_without_haproxy_nothing_is_known_to_be_in_sync(client: Client) -> None:
    got = client.get("/v3/sidecar/drift")
    assert got.status == 200
    assert got.json["differences"] == [] == got.json["notes"]
    assert not got.json["in_sync"] and not got.json["worker_answers"]
