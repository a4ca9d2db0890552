"""`/v3/sidecar/drift` beside a real HAProxy: what the file, the running document and the worker tell differently, and who did it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.farm import Farm, farm_of
from tests.acceptance.quick import SERVICES
from tests.acceptance.web import Web
from tests.acceptance.wrong_changes import PEMS, RUNTIME, site_of

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
    assert difference["object"] == "userlist/people/user/anna" and difference["file"] == difference["running"] == "<masked>"
    assert "secret" not in str(difference)


def test_without_haproxy(farm: Farm) -> None:
    farm.sidecar.haproxy.stop()
    found = drift(farm)
    assert not found["worker_answers"] and not found["in_sync"]


def test_stored_files(tmp_path: Path) -> None:
    """Entries of the process alone, a file edited by hand, and what a call has changed in both."""
    with Web("one") as web, site_of(tmp_path, web) as site:

        def differing() -> dict[str, tuple[str, str]]:
            found = site.sidecar.get("/v3/sidecar/drift").json()
            assert found["in_sync"] == (not found["differences"])
            assert all(each["file"] != each["worker"] and each["cause"] == "outside" for each in found["differences"])
            return {each["object"]: each["member"] for each in found["differences"]}

        assert differing() == {}
        entry = f"{RUNTIME}/maps/hosts.map/entries"
        assert site.sidecar.post(entry, {"key": "0x1 2", "value": "x y"}, force_sync=True).status_code in (201, 400)
        assert site.sidecar.post(entry, {"key": "0x12", "value": "x y"}, force_sync=True).status_code == 201
        assert differing() == {}
        assert site.sidecar.post(entry, {"key": "/c", "value": "three"}).status_code == 201
        assert differing() == {"map/hosts.map": "content"}
        assert site.sidecar.delete(f"{entry}/%2Fc").status_code == 204
        assert differing() == {}
        (site.certificates / "site.pem").write_text(PEMS[1])
        assert differing() == {"certificate/site.pem": "content"}
