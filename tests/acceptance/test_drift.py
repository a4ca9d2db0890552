"""`/v3/sidecar/drift` beside a real HAProxy: what the file, the running document and the worker tell differently, and who did it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.farm import Farm, farm_of
from tests.acceptance.quick import SERVICES

LINES = """\
    default_backend shop

backend shop from plain
    server web1 127.0.0.1:{one} weight 20
    server web2 127.0.0.1:{two} weight 20

userlist people
    user anna insecure-password verysecret
"""


@pytest.fixture(params=["2.6", "3.4"])
def farm(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Farm]:
    with farm_of(Farm, tmp_path, request.param, LINES, "one", "two") as found:
        found.sidecar.delay = 3_600_000
        found.sidecar.stop()
        found.sidecar.start()
        yield found


def drift(farm: Farm) -> dict[str, Any]:
    answer = farm.sidecar.get("/v3/sidecar/drift")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_all_three(farm: Farm) -> None:
    found = drift(farm)
    assert found == {"in_sync": True, "running_known": True, "worker_answers": True, "differences": [], "notes": []}
    web1 = "backend/shop/server/web1"
    answer = farm.sidecar.put("defaults/plain", {**farm.sidecar.get("defaults/plain").json(), "retries": 1}, version=farm.sidecar.version())
    assert answer.status_code == 202
    assert farm.sidecar.put(f"{SERVICES}/runtime/backends/shop/servers/web1", {"weight": 7}).status_code == 200
    farm.sidecar.haproxy.ask("set server shop/web2 state maint")
    found = drift(farm)
    assert not found["in_sync"] and found["reload_pending"] == answer.headers["Reload-Id"] and found["running_known"]
    assert found["differences"] == [
        {"object": "defaults/plain", "member": "retries", "cause": "pending", "file": 1, "running": 3},
        {"object": web1, "member": "weight", "cause": "override", "running": 20, "worker": 7},
        {"object": "backend/shop/server/web2", "member": "admin_state", "cause": "outside", "running": "ready", "worker": "maint"},
    ]


def test_an_edit_by_hand(farm: Farm) -> None:
    file = farm.sidecar.haproxy.file
    file.write_text(file.read_text().replace("verysecret", "othersecret"))
    found = drift(farm)
    (difference,) = found["differences"]
    assert difference["object"] == "userlist/people/user/anna" and difference["file"] != difference["running"]
    assert "secret" not in str(difference)


def test_without_haproxy(farm: Farm) -> None:
    farm.sidecar.haproxy.stop()
    found = drift(farm)
    assert not found["worker_answers"] and not found["in_sync"]
