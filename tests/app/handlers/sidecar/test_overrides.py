"""`/v3/sidecar/overrides`: what answers hold; reloads are in tests/acceptance/test_overrides.py."""

import pytest

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


@pytest.mark.parametrize("object_", ["backend%2Fapp%2Fserver%2Fplain", "backend%2fapp/server%2Fplain/", "backend/app/server/plain"])
def test_an_object_in_the_path_may_be_one_segment(beside: Beside, object_: str) -> None:
    client = beside.client
    assert client.put(f"{RUNTIME}/backends/app/servers/plain", {"weight": 3}).status == 200
    assert client.delete(f"{PATH}/{object_}").status == 204 and client.get(PATH).json == []
    assert client.delete("/v3/sidecar%2Foverrides/backend/app/server/plain").status == 404
    assert client.delete(f"{PATH}/backend%2F%2Fserver%2Fplain").status == 404
