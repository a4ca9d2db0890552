"""`/v3/sidecar/reloads`: reloads that are asked for by themselves, and what is known about each."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.app.client import CONFIG, Client, serving, settings
from tests.haproxy.process import SMALL, HAProxy

OPERATIONS, RELOADS = "/v3/sidecar/operations", "/v3/sidecar/reloads"


def test_the_record_of_a_reload(client: Client) -> None:
    id_ = client.post(f"{CONFIG}/backends?version=1", {"name": "be1"}).headers["Reload-Id"]
    client.runner.run(client.engine.reloads.close())
    record = client.get(f"{RELOADS}/{id_}").json
    assert (record["id"], record["status"], record["version"]) == (id_, "succeeded", 2)
    times = [datetime.fromisoformat(record[name]) for name in ("requested", "started", "ended")]
    assert times == sorted(times)
    assert abs((datetime.now(UTC) - times[0]).total_seconds()) < 60
    got = client.get(f"{RELOADS}/2020-01-01-0")
    assert (got.status, got.message) == (404, "Reload with ID 2020-01-01-0 does not exist")


def test_a_process_is_replaced(tmp_path: Path) -> None:
    """Once: what waited for a reload is done with it."""
    with (
        HAProxy(tmp_path, SMALL) as haproxy,
        Client(settings(tmp_path, master_runtime=str(haproxy.master), master_worker_mode=True)) as client,
    ):
        before = haproxy.worker_pid()
        scheduled = client.post(f"{CONFIG}/caches?version=1", {"name": "one", "total_max_size": 1}).headers["Reload-Id"]
        begun = client.post(RELOADS).json
        ended = client.get(f"{OPERATIONS}/{begun['id']}?wait=30s").json
        assert (ended["status"], ended["progress"]) == ("succeeded", {"reload_id": scheduled})
        record = client.get(f"{RELOADS}/{scheduled}").json
        assert (record["status"], record["pid_before"], record["pid_after"]) == ("succeeded", before, haproxy.worker_pid())


def test_one_that_fails(tmp_path: Path) -> None:
    with serving(tmp_path, reload_cmd="false") as client:
        client.post(RELOADS)
        ended = client.get(f"{OPERATIONS}/1?wait=30s").json
    assert ended["status"] == "failed"
    assert ended["error"].startswith("Reload failed: ")


@pytest.mark.parametrize("after", ["", "?after=0s"])
def test_at_once(client: Client, after: str) -> None:
    assert "due" not in client.post(f"{RELOADS}{after}").json
    assert client.get(f"{OPERATIONS}/1?wait=30s").json["status"] == "succeeded"
