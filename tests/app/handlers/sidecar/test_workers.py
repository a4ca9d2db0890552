"""`/v3/sidecar/workers`: the processes, with and without a master's socket."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.app.client import Client, settings
from tests.app.handlers.conftest import Beside
from tests.haproxy.process import SMALL, HAProxy

PATH = "/v3/sidecar/workers"


def test_the_worker_in_service(beside: Beside) -> None:
    answer = beside.client.get(PATH)
    assert answer.status == 200, answer.body
    (worker,) = answer.json
    assert (worker["pid"], worker["current"], worker["sessions"]) == (beside.haproxy.worker_pid(), True, {})
    assert worker["memory"] > 1 << 20 and "note" not in worker
    assert abs((datetime.now(UTC) - datetime.fromisoformat(worker["started"])).total_seconds()) < 600
    assert worker["version"] == int(beside.client.get("/v3/services/haproxy/configuration/version").json)


@pytest.mark.parametrize("word", ["master_runtime", "-S"])
def test_what_to_configure_without_a_master(word: str, tmp_path: Path) -> None:
    with HAProxy(tmp_path, SMALL, master=False), Client(settings(tmp_path)) as client:
        (worker,) = client.get(PATH).json
    assert worker["current"] and word in worker["note"]
