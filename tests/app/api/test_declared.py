"""Bodies of declarations: what is understood, and what is refused with the member at fault."""

import pytest

from tests.app.client import Client

APPLY = "/v3/sidecar/apply?owner=a&dry_run=true"


@pytest.mark.parametrize(
    ("kind", "body", "status", "message"),
    [
        ("application/json", '{"backendz": []}', 422, 'backendz in body is not a collection; did you mean "backends"?'),
        ("application/json", '{"backends": {}}', 422, "backends in body is a list of objects"),
        ("application/json", '{"backends": ["shop"]}', 422, "backends in body must contain objects, not 'shop'"),
        (
            "application/json",
            '{"backends": [{"name": "s", "blance": 1}]}',
            422,
            "backends, 's': blance in body is not known; did you mean \"balance\"?",
        ),
        ("application/json", '{"backends": [{"from": "base"}]}', 422, "name in body is required"),
        ("application/json", '{"unowned": "weight"}', 422, "unowned in body is a list of members"),
        ("application/json", "[]", 422, "a declaration is an object of collections"),
        ("application/json", "{", 400, ""),
        ("application/yaml", "backends:\n- name: [", 400, "the YAML cannot be read: line"),
        ("application/yaml", "a: &a [*a]", 422, "levels"),
        ("application/yaml", "backends: [{name: 2026-01-01}]", 422, "put it in quotes"),
        ("text/plain", "server s 127.0.0.1:1\n", 422, "is outside of a section"),
        ("text/plain", "backend s\n    wieght 5\n", 422, "the API has no member for 'wieght 5'"),
        ("application/json", '{"backends": [{"name": "s"}, {"name": "s"}]}', 422, "Backend s is declared twice"),
        (
            "application/json",
            '{"backends": [{"name": "s", "servers": {"a": {"name": "b", "address": "127.0.0.1"}}}]}',
            422,
            "servers.a: its name is 'b'; both must be the same",
        ),
        ("application/json", '{"unowned": ["wieght"]}', 422, "unowned in body: no object has 'wieght'; did you mean \"weight\"?"),
        ("text/csv", "a", 415, ""),
    ],
)
def test_what_is_refused(shared_client: Client, kind: str, body: str, status: int, message: str) -> None:
    answer = shared_client.put(APPLY, body.encode(), headers={"content-type": kind})
    assert answer.status == status and message in answer.message, answer.body


def test_one_configuration_in_a_form(shared_client: Client) -> None:
    part = b'--b\r\nContent-Disposition: form-data; name="configuration"\r\n\r\nbackend shop\n\r\n'
    headers = {"content-type": "multipart/form-data; boundary=b"}
    assert shared_client.put(APPLY, part + b"--b--\r\n", headers=headers).status == 200
    refused = shared_client.put(APPLY, part * 2 + b"--b--\r\n", headers=headers)
    assert refused.status == 400 and "part configuration: sent twice" in refused.message


def test_aliases_are_counted(shared_client: Client) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]" for n in range(1, 12))]
    answer = shared_client.put(APPLY, "\n".join(lines).encode(), headers={"content-type": "application/yaml"})
    assert answer.status == 422 and "more than" in answer.message


def test_left_to_others_by_the_body(shared_client: Client) -> None:
    body = {
        "unowned": ["weight"],
        "backends": [{"name": "app", "servers": {"app1": {"name": "app1", "address": "127.0.0.1", "port": 8081, "weight": 9}}}],
    }
    shown = shared_client.put(APPLY, body)
    assert shown.status == 200 and shown.json["changed"] == [] and shown.json["conflicts"] == [], shown.body


def test_a_collection_by_its_path(shared_client: Client) -> None:
    body = [{"name": "cluster"}]
    for names, status in (({"peer_section"}, 200), ({"peers"}, 200), ({"peers", "peer_section"}, 422)):
        shown = shared_client.put(APPLY, dict.fromkeys(names, body))
        assert shown.status == status and (status == 422 or shown.json["created"] == ["peer_section/cluster"]), shown.body


def test_left_to_others_by_the_query(shared_client: Client) -> None:
    body = {"backends": [{"name": "app", "servers": {"app1": {"address": "127.0.0.1", "port": 8081, "weight": 9}}}]}
    shown = shared_client.put(f"{APPLY}&unowned=weight,%20maintenance", body)
    assert shown.status == 200 and shown.json["conflicts"] == [], "a child has its name from its key"
    wrong = shared_client.put(f"{APPLY}&unowned=weight,maintenence", body)
    assert wrong.status == 422 and "unowned in query: no object has 'maintenence'; did you mean \"maintenance\"?" in wrong.message


def test_the_name_of_no_owner(shared_client: Client) -> None:
    refused = shared_client.put(APPLY.replace("owner=a", "owner=outside"), {})
    assert refused.status == 400 and "choose another name" in refused.message
