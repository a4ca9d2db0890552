"""Named sections over HTTP."""

from tests.app.client import CONFIG, CONFIGURATION, Client

BACKENDS = f"{CONFIG}/backends"


def test_a_life(client: Client) -> None:
    assert client.post(f"{BACKENDS}?version=1", {"name": "be1", "mode": "tcp"}).status == 202
    assert client.get(f"{BACKENDS}/be1").json["mode"] == "tcp"
    taken = client.post(f"{BACKENDS}?version=2", {"name": "be1"})
    assert (taken.status, taken.message) == (409, "object already exists: backend be1 already exists")
    assert client.put(f"{BACKENDS}/be1?version=2", {"name": "be1", "mode": "http"}).status == 202
    assert client.get(f"{BACKENDS}/be1").json["mode"] == "http"
    assert client.delete(f"{BACKENDS}/be1?version=3").status == 202
    for got in (client.delete(f"{BACKENDS}/be1?version=4"), client.put(f"{BACKENDS}/be1?version=4", {"name": "be1"})):
        assert (got.status, got.message) == (404, "missing object: backend be1 does not exist")
    missing = client.get(f"{BACKENDS}/be1")
    assert (missing.status, missing.message) == (404, "missing object: Backend be1 does not exist")


def test_with_its_children(client: Client) -> None:
    body = {
        "name": "be1",
        "servers": {"s1": {"name": "s1", "address": "127.0.0.1", "port": 80}},
        "acl_list": [{"acl_name": "a", "criterion": "src", "value": "::1"}],
    }
    assert client.post(f"{BACKENDS}?version=1&full_section=true", body).json == {**body, "from": "base"}
    assert client.get(f"{BACKENDS}/be1?full_section=true").json | body == client.get(f"{BACKENDS}/be1?full_section=true").json
    assert "servers" not in client.get(f"{BACKENDS}/be1").json
    assert client.put(f"{BACKENDS}/be1?version=2&full_section=true", {"name": "be1"}).status == 202
    assert client.get(f"{BACKENDS}/be1/servers").json == []
    assert client.post(f"{BACKENDS}?version=3&full_section=true", body).status == 409


def test_children_without_full_section_are_not_written(client: Client) -> None:
    body = {"name": "be1", "servers": {"s1": {"name": "s1", "address": "127.0.0.1"}}}
    assert client.post(f"{BACKENDS}?version=1", body).json == {"name": "be1", "from": "base"}
    assert client.get(f"{BACKENDS}/be1/servers").json == []


def test_defaults_are_made_by_put_as_well(client: Client) -> None:
    assert client.put(f"{CONFIG}/defaults?version=1", {"name": "more"}).status == 202
    assert client.post(f"{CONFIG}/defaults?version=2", {"name": "most"}).status == 202
    assert [each["name"] for each in client.get(f"{CONFIG}/defaults").json] == ["base", "more", "most"]


def test_a_singleton(client: Client) -> None:
    assert client.get(f"{CONFIG}/global").json["performance_options"]["maxconn"] == 1000
    assert client.put(f"{CONFIG}/global?version=1", {"performance_options": {"maxconn": 7}}).status == 202
    assert "maxconn 7" in client.file.read_text()


def test_a_default_that_is_written_is_shown(client: Client) -> None:
    apps = f"{CONFIG}/fcgi_apps"
    body = {"name": "php", "docroot": "/srv", "max_reqs": 20}
    assert client.post(f"{apps}?version=1", body).json == body
    assert client.put(f"{apps}/php?version=2", {"name": "php", "docroot": "/srv"}).json == body | {"max_reqs": 1}
    assert client.get(f"{apps}/php").json == body | {"max_reqs": 1}


def test_a_health_check_is_held_to_its_schema(client: Client) -> None:
    checks = f"{CONFIG}/healthchecks"
    wrong = client.post(f"{checks}?version=1", {"name": "a b", "type": "ping"})
    assert wrong.status == 422
    assert wrong.message.startswith("name in body should match '^[A-Za-z0-9-_.:]+$'\ntype in body should be one of [httpchk ldap-check ")
    assert client.post(f"{checks}?version=1", {}).message == "name in body is required"


def test_what_clients_of_the_reference_cannot_name_outlives_their_put(client: Client) -> None:
    web = f"{CONFIG}/frontends/web"
    raw = CONFIGURATION.replace("  bind", "  rate-limit sessions 10 # mine\n  errorloc 503 /sorry\n  bind")
    raw = raw.replace("  maxconn 1000\n", "  maxconn 1000\n  tune.vars.check-max-size 9\n  no-memory-trimming\n")
    assert client.post(f"{CONFIG}/raw?version=1", raw.encode(), headers={"Content-Type": "text/plain"}).status == 202
    body = client.get(web).json
    assert (body["rate_limit_sessions"], body["errorloc"]) == (10, {"code": 503, "url": "/sorry"})
    plain = {name: value for name, value in body.items() if name not in ("rate_limit_sessions", "errorloc")}

    def put(target: str, sent: object, query: str = "") -> str:
        got = client.put(f"{target}?version={client.engine.version(None)}{query}", sent)
        assert got.status == 202, got.body
        return client.file.read_text()

    assert "  rate-limit sessions 10 # mine\n  errorloc 503 /sorry\n" in put(web, {**plain, "maxconn": 7})
    assert "  rate-limit sessions 20 # mine\n  errorloc 503 /sorry\n" in put(web, {**plain, "rate_limit_sessions": 20})
    assert "rate-limit" not in put(web, plain, "&full_section=true")
    assert "  tune.vars.check-max-size 9\n  no-memory-trimming\n" in put(f"{CONFIG}/global", {"daemon": True})
    text = put(f"{CONFIG}/global", {"tune_vars_options": {"check_max_size": 9}}, "&full_section=true")
    assert "check-max-size 9" in text
    assert "trimming" not in text


def test_the_source_of_a_section_is_shown_whoever_made_it(client: Client) -> None:
    client.post(f"{CONFIG}/backends?version=1", {"name": "new"})
    shown = {"from": "base", "name": "new"}
    assert client.get(f"{CONFIG}/backends/new").json == shown
    client.file.write_text(client.file.read_text() + "  # by hand\n")
    assert client.post("/v3/services/haproxy/transactions?version=2").status in (201, 409)
    assert client.get(f"{CONFIG}/backends/new").json == shown
    version = client.get(f"{CONFIG}/version").json
    assert client.put(f"{CONFIG}/backends/new?version={version}", shown).status in (200, 202)
    assert "backend new\n" in client.file.read_text(), "the word is written only where a client wants another one"
