"""Operations of the server's document, kept with its ETag."""

from pathlib import Path

import pytest

from dataplaneapi.ctl import contexts
from dataplaneapi.ctl.client import Client
from dataplaneapi.ctl.commands import call
from openapi import bundle
from tests.acceptance.quick import Quick
from tests.haproxy.sidecar import USER


@pytest.fixture
def client(sidecar: Quick, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return Client(contexts.Context("", {"url": f"http://127.0.0.1:{sidecar.port}", "user": USER[0], "password": USER[1]}))


def test_every_operation_of_the_document_is_there(client: Client, tmp_path: Path) -> None:
    found = call.operations(client)
    declared = {
        each["operationId"]: (method.upper(), path) for path, item in bundle.document()["paths"].items() for method, each in item.items()
    }
    assert {name: (each["method"], each["path"]) for name, each in found.items()} == declared
    server = found["replaceServerBackend"]
    assert server["parameters"]["parent_name"] == "path" and server["parameters"]["If-Match"] == "header"
    assert call.operations(client) == found, "from the file"
    assert len(list(tmp_path.rglob("operations-*.json"))) == 1
    client.close()


def test_a_kept_document_that_is_broken_or_old_is_asked_for_again(client: Client, tmp_path: Path) -> None:
    found = call.operations(client)
    (kept,) = tmp_path.rglob("operations-*.json")
    for text in ("{", '{"etag": "\\"another\\"", "operations": {}}', "[]"):
        kept.write_text(text)
        assert call.operations(client) == found
    client.close()
