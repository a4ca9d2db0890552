"""`/v3/sidecar/references` and `rename`: shapes of answers; the traffic is in tests/acceptance/test_rename.py."""

from tests.app.handlers.conftest import Beside

REFERENCES, RENAME = "/v3/sidecar/references", "/v3/sidecar/rename"


def test_references_and_another_name(beside: Beside) -> None:
    client = beside.client
    shown = client.get(f"{REFERENCES}?object=backend/app").json
    assert shown["not_followed"] == [] and {"frontend/web"} == {each["object"] for each in shown["references"]}
    planned = client.post(f"{RENAME}?dry_run=true", {"object": "backend/app", "to": "shop"})
    assert planned.status == 200 and planned.json["valid"] and planned.json["files"] == [] and "+backend shop" in planned.json["diff"]
    answer = client.post(RENAME, {"object": "backend/app", "to": "shop"})
    assert answer.status == 202 and answer.headers["Reload-Id"], answer.body
    assert (answer.json["from"], answer.json["to"]) == ("backend/app", "backend/shop")
    assert client.get(f"{REFERENCES}?object=backend/app").status == 404
    assert len(client.get(f"{REFERENCES}?object=backend/shop").json["references"]) == len(shown["references"])


def test_bodies_that_are_none(beside: Beside) -> None:
    for body in ({}, {"object": "backend/app"}, {"object": "backend/app", "to": 1}, {"object": "backend/*", "to": "x"}, "x"):
        assert beside.client.post(RENAME, body).status in (400, 415, 422), body
    assert beside.client.get(REFERENCES).status == 422 or beside.client.get(REFERENCES).status == 400
