"""`confirm`, `guard` and `wait` of any write."""

from urllib.parse import quote

import pytest

from tests.app.client import CONFIG, Client, Got
from tests.app.handlers.sidecar.test_history import entered
from tests.tls.served import STORAGE, upload

PATH = "/v3/sidecar/confirmations"


def create(client: Client, name: str, version: int, query: str = "") -> Got:
    return client.post(f"{CONFIG}/backends?version={version}{query}", {"name": name})


def test_a_change_to_confirm(client: Client) -> None:
    with entered(client):
        answer = create(client, "one", 1, "&confirm=60s")
        assert answer.status == 201 and answer.headers["Location"] == f"{PATH}/1" and answer.headers["Confirmation-Expires"].endswith("Z")
        (shown,) = client.get(PATH).json
        times = {name: shown.pop(name) for name in ("created", "expires", "seconds_left")}
        assert times["created"] and times["expires"] == answer.headers["Confirmation-Expires"] and 58 <= times["seconds_left"] <= 60
        assert shown == {"id": "1", "status": "pending", "author": "admin", "timeout": 60.0, "entries": ["1"]}
        assert shown.items() <= client.get(f"{PATH}/1").json.items()
        refused = create(client, "two", 2)
        assert refused.status == 409 and 58 <= int(refused.headers["Retry-After"]) <= 60
        assert refused.json["confirmation"] == "1" and refused.json["author"] == "admin" and refused.json["seconds_left"] <= 60
        assert "this is not a version conflict" in refused.message
        confirmed = client.post(f"{PATH}/1/confirm", None)
        assert confirmed.json["status"] == "confirmed" and confirmed.json["entries"] == ["1"] and "seconds_left" not in confirmed.json
        assert create(client, "two", 2).status == 202
        assert client.post(f"{PATH}/1/confirm", None).status == client.delete(f"{PATH}/1").status == 409


def test_a_spoe_file_waits_as_all_that_is_kept_does(client: Client) -> None:
    spoe = "/v3/services/haproxy/spoe/spoe_files"
    with entered(client):
        assert create(client, "one", 1, "&confirm=60s").status == 201
        refused = upload(client, "POST", spoe, "[one]\n", "a.cfg")
        assert refused.status == 409 and refused.json["confirmation"] == "1"
        assert client.get(f"{spoe}/a.cfg").status == 404
        assert client.delete(f"{PATH}/1").json["status"] == "returned"
        assert upload(client, "POST", f"{spoe}?confirm=60s", "[one]\n", "a.cfg").status == 201
        scope = client.post(f"{spoe}/a.cfg/scopes?version=1", b'"[two]"', headers={"Content-Type": "application/json"})
        assert scope.status == 409 and scope.json["confirmation"] == "2"
        assert client.delete(f"{spoe}/a.cfg").status == 409
        assert client.delete(f"{PATH}/2").json["status"] == "returned" and client.get(f"{spoe}/a.cfg").status == 404


def test_in_a_transaction(client: Client) -> None:
    with entered(client):
        id_ = client.post("/v3/services/haproxy/transactions?version=1", None).json["id"]
        inside = client.post(f"{CONFIG}/backends?transaction_id={id_}&confirm=1h", {"name": "one"})
        assert inside.status == 400 and "confirm belongs to the commit of a transaction" in inside.message
        planned = client.post(f"/v3/sidecar/plan?transaction_id={id_}&confirm=1h", None)
        assert planned.status == 400 and "confirm belongs to the commit of a transaction" in planned.message
        assert client.get(PATH).json == []
        assert client.post(f"{CONFIG}/backends?transaction_id={id_}", {"name": "one"}).status == 202
        answer = client.put(f"/v3/services/haproxy/transactions/{id_}?confirm=1h", None)
        assert answer.status == 200 and answer.headers["Location"] == f"{PATH}/1"


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("&confirm=1s", 400, "confirm in query must be at least 2 s"),
        ("&confirm=25h", 400, "confirm"),
        ("&confirm=soon", 400, "confirm"),
        ("&confim=5s", 400, 'did you mean "confirm"?'),
        ("&wait=11m", 400, "wait"),
    ],
)
def test_what_cannot_be(shared_client: Client, query: str, status: int, words: str) -> None:
    with entered(shared_client):
        answer = create(shared_client, "one", 1, query)
        assert answer.status == status and words in answer.message
        assert shared_client.get(PATH).json == [] and shared_client.get(f"{CONFIG}/backends/one").status == 404


def test_a_refused_change_leaves_nothing(client: Client) -> None:
    with entered(client):
        assert create(client, "app", 1, "&confirm=1h").status == 409
        assert [each["status"] for each in client.get(PATH).json] == ["void"]
        assert create(client, "one", 1).status == 202


def test_an_upload(client: Client) -> None:
    """Its body may be left out, so that the document declares no option of it behind that."""
    with entered(client):
        answer = upload(client, "POST", f"{STORAGE}/general?confirm=1h", "<p>new</p>", "new.http")
        assert answer.status == 201 and answer.headers["Location"] == f"{PATH}/1" and "X-Ignored-Parameters" not in answer.headers
        misspelt = upload(client, "POST", f"{STORAGE}/general?confrm=1h", "<p>new</p>", "more.http")
        assert misspelt.status == 400 and 'did you mean "confirm"?' in misspelt.message
        assert client.delete(f"{PATH}/1").json["status"] == "returned" and client.get(f"{STORAGE}/general/new.http").status == 404


GUARD = quote('{"errors":2,"ready":true}')


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (f"&guard={GUARD}", "guard in query needs confirm"),
        ("&confirm=9s&guard={", "guard in query: it is not JSON such as"),
        ("&confirm=9s&guard=[]", "guard in query: it is not an object such as"),
        ("&confirm=9s&guard={}", "set errors, ready or both"),
        ("&confirm=9s&guard=" + quote('{"ready":false}'), "set errors, ready or both"),
        ("&confirm=9s&guard=" + quote('{"error":2}'), "unknown member 'error'; expected errors, ready, min_requests"),
        ("&confirm=9s&guard=" + quote('{"errors":2,"for":"60s"}'), "unknown member 'for'; expected errors, ready, min_requests"),
        ("&confirm=9s&guard=" + quote('{"errors":true}'), "errors has the wrong type"),
        ("&confirm=9s&guard=" + quote('{"errors":200}'), "expected errors from 0 to 100"),
        ("&confirm=9s&guard=" + quote('{"errors":2,"min_requests":0}'), "min_requests from 1 to"),
        (f"&confirm=9s&gaurd={GUARD}", 'did you mean "guard"?'),
    ],
)
def test_guards_that_cannot_be(shared_client: Client, query: str, words: str) -> None:
    with entered(shared_client):
        answer = create(shared_client, "one", 1, query)
        assert answer.status == 400 and words in answer.message
        assert shared_client.get(PATH).json == [] and shared_client.get(f"{CONFIG}/backends/one").status == 404
