"""Bodies whose members must all be known."""

from tests.app.client import Client

PATH = "/v3/sidecar/tests/shop"
CASE = b'{"cases": [{"request": {"url": "/"}, "expect": {"status": 200}}]}'


def test_what_is_no_such_body(client: Client) -> None:
    assert client.put(PATH).status == 400
    assert client.put(PATH, CASE, headers={"Content-Type": "text/plain"}).status == 415
    assert client.put(PATH, b"[]", headers={"Content-Type": "application/json"}).status == 422
    assert client.put(PATH, b"{", headers={"Content-Type": "application/json"}).status == 400
    answer = client.put(PATH, CASE.replace(b"cases", b"case"), headers={"Content-Type": "application/yaml"})
    assert (answer.status, 'did you mean "cases"?' in answer.message) == (422, True), answer.message


def test_a_body_that_is_not_needed(client: Client) -> None:
    assert client.post("/v3/sidecar/test_runs", {"test": []}).status == 422
