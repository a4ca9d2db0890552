"""The traces section and its entries over HTTP."""

from tests.app.client import CONFIG, Client

TRACES = f"{CONFIG}/traces"


def test_a_life(client: Client) -> None:
    absent = client.get(TRACES)
    assert (absent.status, absent.message) == (404, "missing object: Object traces does not exist")
    assert client.delete(f"{TRACES}/entries?version=1", {"trace": "h1 sink stderr"}).status == 404
    assert client.post(f"{TRACES}/entries?version=1", {"trace": "h1 sink stderr"}).status == 202
    assert client.post(f"{TRACES}?version=2", {}).message == "object already exists: traces section already exists"
    made = client.post(f"{TRACES}/entries?version=2", {"trace": "h2 sink stderr"})
    assert (made.status, made.body) == (202, b"")
    assert client.get(TRACES).json == {"entries": [{"trace": "h1 sink stderr"}, {"trace": "h2 sink stderr"}]}
    assert client.delete(f"{TRACES}/entries?version=3", {"trace": "h1 sink stderr"}).status == 202
    assert client.get(TRACES).json == {"entries": [{"trace": "h2 sink stderr"}]}
    absent = client.delete(f"{TRACES}/entries?version=4", {"trace": "h1 sink stderr"})
    assert (absent.status, absent.message) == (404, "missing object: trace entry does not exists: 'h1 sink stderr'")
    assert client.delete(f"{TRACES}?version=4").status == 202
    assert client.delete(f"{TRACES}?version=5").message == "missing object: traces  does not exist"


def test_put_makes_the_section_and_inside_a_transaction_answers_200(client: Client) -> None:
    id_ = client.post(f"{CONFIG.replace('configuration', 'transactions')}?version=1").json["id"]
    body = {"entries": [{"trace": "h1 sink stderr"}]}
    inside = client.put(f"{TRACES}?transaction_id={id_}", body)
    assert (inside.status, inside.json) == (200, body)
    more = client.post(f"{TRACES}/entries?transaction_id={id_}", {"trace": "h2 sink stderr"})
    assert (more.status, more.json) == (201, {"trace": "h2 sink stderr"})
    outside = client.put(f"{TRACES}?version=1", body)
    assert (outside.status, outside.body) == (202, b"")
