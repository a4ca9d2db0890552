"""A server that is read-only: no operation writes a byte, what only looks goes on, and edits of others are still entered."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from haproxy_native.disk.journal import FileJournal
from haproxy_native.errors import Forbidden
from haproxy_native.request_context import NOBODY
from haproxy_native.storage.store import Store
from tests.app.client import CONFIG, CONFIGURATION, Client, settings
from tests.app.handlers.sidecar.test_history import entered

TEXT = {"content-type": "text/plain"}
BACKEND = CONFIGURATION.encode() + b"\nbackend more from base\n"


@pytest.fixture(name="client")
def read_only(tmp_path: Path) -> Iterator[Client]:
    """On what one that may write has left: a transaction, a map, a definition of service discovery."""
    with Client(settings(tmp_path)) as client, entered(client):
        assert client.post(f"{CONFIG}/backends?version=1", {"name": "b"}).status in (201, 202)
        assert client.post("/v3/services/haproxy/transactions?version=2").status == 201
        source = {"address": "127.0.0.1", "port": 1, "enabled": True, "retry_timeout": 60}
        assert client.post("/v3/service_discovery/consul", source).status == 201
        for name in ("maps", "general", "ssl", "spoe"):
            (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / "maps" / "hosts.map").write_text("a b\n")
        client.runner.run(client.app.services.discovery.__aexit__(None, None, None))
    with Client(settings(tmp_path, read_only=True)) as client:
        lifespan = client.app.router.lifespan_context(client.app)
        client.runner.run(lifespan.__aenter__())
        yield client
        client.runner.run(lifespan.__aexit__(None, None, None))


def held(directory: Path) -> dict[str, object]:
    """Each file and directory with its content and times; those of the database come and go with its first work."""
    found: dict[str, object] = {}
    for path in sorted(directory.rglob("*")):
        if "state" not in path.parts[len(directory.parts) :] and path.name != "engine":
            found[str(path)] = (path.stat().st_mtime_ns, path.stat().st_ino, path.read_bytes() if path.is_file() else b"")
    return found


def test_no_operation_writes_a_byte(client: Client, tmp_path: Path) -> None:
    before, refused = held(tmp_path), 0
    for operation in client.app.services.index.operations:
        if operation.path == "/sidecar/events":
            continue
        body = {} if operation.body and "application/json" in operation.body.media_types else None
        for name in ("1", "b", "hosts.map"):
            answer = client(operation.method, "/v3" + re.sub(r"\{[^}]+\}", name, operation.path) + "?version=2&parent_name=b", body)
            if operation.writes:
                assert answer.status == 403 and "read-only" in answer.message, (operation, answer)
                refused += 1
            else:
                assert answer.status != 403, (operation, answer)
    assert refused > 1000
    assert held(tmp_path) == before


def test_what_only_looks_goes_on(client: Client, tmp_path: Path) -> None:
    before = held(tmp_path)
    assert client.post(f"{CONFIG}/raw?only_validate=true", BACKEND, headers=TEXT).status == 202
    assert client.post(f"{CONFIG}/raw?only_validate=false&version=2", BACKEND, headers=TEXT).status == 403
    plan = client.post("/v3/sidecar/plan", BACKEND, headers=TEXT)
    assert plan.status == 200 and "backend more" in plan.json["diff"], plan
    assert client.post("/v3/sidecar/plan/maps/hosts.map", b"a c\n", headers={"content-type": "application/octet-stream"}).status == 200
    (transaction,) = client.get("/v3/services/haproxy/transactions").json
    assert client.get(f"{CONFIG}/backends?transaction_id={transaction['id']}").status == 200
    assert client.get("/v3/sidecar/whoami").json["read_only"] is True
    ready = client.get("/readyz").json["parts"]
    assert ready["changes"]["status"] == "disabled" and "read-only" in ready["changes"]["reason"]
    (source,) = client.get("/v3/service_discovery/consul").json
    assert source["status"]["state"] == "stopped" and "read-only" in source["status"]["last_error"]
    assert held(tmp_path) == before


def test_edits_of_others_are_entered(client: Client) -> None:
    client.file.write_bytes(BACKEND)
    assert client.get("/readyz").json["parts"]["configuration"]["version"] == 3
    assert client.get(f"{CONFIG}/backends/more").status == 200
    (newest, *_) = client.get("/v3/sidecar/history").json
    assert newest["author"] == "outside" and client.file.read_bytes() == BACKEND


def test_a_file_cut_off_is_mended_at_the_start(tmp_path: Path) -> None:
    with Client(settings(tmp_path)) as client:
        old = client.file.read_bytes()
        journal: FileJournal = client.engine.context.current.file.main.journal
    journal._begin(str(client.file), old, BACKEND * 2)
    client.file.write_bytes(BACKEND)
    with Client(settings(tmp_path, read_only=True)):
        assert client.file.read_bytes() == BACKEND * 2


def test_nothing_by_itself_commits(client: Client) -> None:
    with pytest.raises(Forbidden, match="read-only"):
        client.runner.run(client.engine.amend([], author=NOBODY))
    maps: Store = client.engine.stores["maps"]
    with pytest.raises(Forbidden, match="read-only"):
        client.runner.run(maps.delete(client.engine.context, "hosts.map", author=NOBODY))
    assert maps.find("hosts.map").exists()


def test_directories_that_are_missing_stay_so(tmp_path: Path) -> None:
    with Client(settings(tmp_path, read_only=True)) as client:
        assert client.get("/v3/services/haproxy/transactions").json == []
        missing = client.get("/v3/services/haproxy/storage/general")
        assert missing.status == 503 and "create it" in missing.message
    assert not (tmp_path / "general").exists() and not (tmp_path / "transactions").exists()
