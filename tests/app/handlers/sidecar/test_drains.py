"""`POST /v3/sidecar/drains`: bodies and refusals; sessions are in tests/acceptance/test_drains.py."""

from tests.app.handlers.conftest import Beside

PATH = "/v3/sidecar/drains"


def test_a_drain(beside: Beside) -> None:
    answer = beside.client.post(PATH, {"targets": ["app/plain"], "timeout": "10"})
    assert answer.status == 202 and answer.json["kind"] == "drain", answer.body
    ended = beside.client.get(f"{answer.headers['Location']}?wait=10s").json
    assert ended["status"] == "succeeded" and ended["progress"]["sessions"] == {"backend/app/server/plain": 0}


def test_what_is_refused(beside: Beside) -> None:
    client = beside.client
    assert client.post(PATH, {"targets": ["app/nobody"]}).status == 404
    assert client.post(PATH, {"targets": ["app"]}).status == 400
    assert client.post(PATH, {"targets": ["empty/*"]}).status == 404
    refused = client.post(PATH, {"targets": ["app/*"], "keep_ready": 1})
    assert refused.status == 409 and "backend app" in refused.message
    for wrong in ({}, {"targets": []}, {"targets": ["app/kept"], "timeout": "soon"}, {"targets": ["app/kept"], "then": "sing"}):
        assert client.post(PATH, wrong).status == 422, wrong
