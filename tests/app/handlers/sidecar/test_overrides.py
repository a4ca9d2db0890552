"""`/v3/sidecar/overrides`: what answers hold; reloads are in tests/acceptance/test_overrides.py."""

from tests.app.handlers.conftest import RUNTIME, Beside

PATH = "/v3/sidecar/overrides"


def test_listed_and_deleted(beside: Beside) -> None:
    client = beside.client
    assert client.get(PATH).json == []
    assert client.put(f"{RUNTIME}/backends/app/servers/plain", {"weight": 3}).status == 200
    (override,) = client.get(PATH).json
    assert override.pop("since").endswith("Z") and override.pop("author") == "admin"
    assert override.pop("in_new_worker") == "after_start"
    shown = {"object": "backend/app/server/plain", "member": "weight", "value": 3, "former": 10, "source": "api"}
    assert override == shown
    assert client.delete(f"{PATH}/backend/app/server/plain").status == 204 and client.get(PATH).json == []
    assert client.delete(f"{PATH}/backend/app/server/plain").status == 404
