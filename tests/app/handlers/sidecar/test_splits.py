"""`/v3/sidecar/splits`: shapes of bodies and answers; the traffic is in tests/acceptance/test_splits.py."""

from tests.app.handlers.conftest import Beside

PATH = "/v3/sidecar/splits/canary"


def test_a_split(beside: Beside) -> None:
    client = beside.client
    assert client.get("/v3/sidecar/splits").json == []
    body = {"by": "random", "weights": {"app": 3, "empty": 1}}
    refused = client.put(PATH, body)
    assert refused.status == 409 and refused.json["plan"]["lines"][0].startswith("use_backend %[rand(100),map_int(")
    answer = client.put(f"{PATH}?frontend=web", body)
    assert answer.status == 202 and answer.headers["Reload-Id"], answer.body
    shown = client.get(PATH).json
    assert shown["shares"] == {"app": 75, "empty": 25} and shown["used_by"] == ["web"] and shown["since"].endswith("Z")
    (listed,) = client.get("/v3/sidecar/splits").json
    # Requests are counted while HAProxy answers, which it does not in the middle of the reload.
    counted = {"complete", "requests"}
    assert {name: value for name, value in listed.items() if name not in counted} == {n: v for n, v in shown.items() if n not in counted}
    assert client.delete(PATH).status in (202, 204) and client.get(PATH).status == 404


def test_bodies_that_are_none(beside: Beside) -> None:
    for body in (
        {"by": "random"},
        {"by": "cookie:", "weights": {"app": 1}},
        {"by": "random", "weights": {"app": -1}},
        {"by": "random", "weights": {"app": 1e308, "empty": 1e308}},
    ):
        assert beside.client.put(PATH, body).status in (400, 422), body
    assert beside.client.put("/v3/sidecar/splits/a%20b", {"by": "random", "weights": {"app": 1}}).status == 400


def test_the_idle_side_is_in_use(beside: Beside) -> None:
    """A backend of a split that gets no requests now is wanted by the next switch."""
    client, backends = beside.client, "/v3/services/haproxy/configuration/backends"
    used, unused = {"app", "idle"}, {"app", "idle", "other"}
    for name in ("idle", "other"):
        version = client.get("/v3/services/haproxy/configuration/version").json
        assert client.post(f"{backends}?version={version}", {"name": name}).status in (201, 202)
    assert client.put(f"{PATH}?frontend=web", {"by": "random", "weights": {"app": 1, "idle": 0}}).status == 202
    assert {name for name in unused if client.get(f"/v3/sidecar/references?object=backend/{name}").json["used_by"]} == used
    found = {each["object"] for each in client.get("/v3/sidecar/lint").json if each["id"] == "backend-unused"}
    assert found & {f"backend/{name}" for name in unused} == {"backend/other"}
    version = client.get("/v3/services/haproxy/configuration/version").json
    refused = client.delete(f"{backends}/idle?version={version}")
    assert refused.status == 409 and "split canary" in refused.json["message"]
    assert client.delete(f"{backends}/other?version={version}").status in (202, 204)
    assert client.delete(PATH).status in (202, 204)
    version = client.get("/v3/services/haproxy/configuration/version").json
    assert client.delete(f"{backends}/idle?version={version}").status in (202, 204)
