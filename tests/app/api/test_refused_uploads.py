"""An upload that is refused is not written, or leaves nothing behind."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.api.operations import Operation
from haproxy_native.commit.change import Change
from haproxy_native.commit.ports import Observer
from haproxy_native.disk.file import ConfigFile
from haproxy_native.errors import Conflict
from haproxy_native.storage.store import PIECE
from tests.app.api.test_access import held, limited
from tests.app.client import Client, Got

DIRECTORIES = ("maps", "general", "ssl", "acls")
LARGE = "key value\n" * PIECE
TAIL = "\r\n--b--\r\n"


@pytest.fixture
def client(client: Client) -> Client:
    for name in DIRECTORIES:
        directory = client.file.parent / name
        directory.mkdir(exist_ok=True)
        for end in ("map", "txt", "pem", "crtlist", "acl"):
            (directory / f"there.{end}").write_text("old 1\n")
    return client


@pytest.fixture
def drafts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of files that were written to."""
    made, draft = list[str](), ConfigFile.draft

    def noted(file: ConfigFile, *given: Any) -> Any:
        made.append(file.path.name)
        return draft(file, *given)

    monkeypatch.setattr(ConfigFile, "draft", noted)
    return made


def uploads(client: Client) -> Iterator[tuple[Operation, str]]:
    """Yield the operations that store a file as it arrives, each with a name in its store."""
    ends = {"maps": "map", "general": "txt", "ssl_certificates": "pem", "ssl_crt_lists": "crtlist", "acls": "acl"}
    for operation in client.app.services.index.operations:
        is_file = operation.body and "application/json" not in operation.body.media_types
        if is_file and operation.store in client.engine.stores:
            yield operation, ends[operation.store]


def sent(client: Client, operation: Operation, end: str, content: str, tail: str = TAIL) -> Got:
    assert operation.body
    path = "/v3" + operation.path.replace("{name}", f"there.{end}")
    if "multipart/form-data" in operation.body.media_types:
        head = f'--b\r\nContent-Disposition: form-data; name="file_upload"; filename="new.{end}"\r\n\r\n'
        return client(operation.method, path, (head + content + tail).encode(), headers={"content-type": "multipart/form-data; boundary=b"})
    return client(operation.method, path, content.encode(), headers={"content-type": "text/plain"})


class Busy(Observer):
    def __init__(self, is_busy: Callable[[], bool] = lambda: True) -> None:
        self.is_busy = is_busy

    def admit(self, change: Change) -> None:
        if self.is_busy():
            raise Conflict("another change waits for its confirmation")


def test_what_is_refused_before_is_not_written(client: Client, drafts: list[str]) -> None:
    before, seen = held(client), 0
    for operation, end in uploads(client):
        limited(client, viewer=None)
        assert sent(client, operation, end, LARGE).status == 403, operation
        limited(client, other=[{"objects": "*/mine_*", "may": ["read", "create", "change", "delete"]}])
        assert sent(client, operation, end, LARGE).status == 403, operation
        client.app.services.roles, busy = None, Busy()
        client.engine.context.observers.append(busy)
        assert sent(client, operation, end, LARGE).status == 409, operation
        client.engine.context.observers.remove(busy)
        seen += 1
    assert seen > 6 and drafts == [] and held(client) == before


def test_what_is_refused_later_leaves_nothing(client: Client, drafts: list[str]) -> None:
    """Too much, a form that is cut short, and a change that may not be made when its content has arrived."""
    before = held(client)

    later = Busy(lambda: bool(drafts))
    for operation, end in uploads(client):
        drafts.clear()
        client.engine.context.observers.append(later)
        assert sent(client, operation, end, LARGE).status in (400, 409), operation
        assert drafts, "something was written"
        client.engine.context.observers.remove(later)
        if operation.path.endswith("}"):
            continue
        assert sent(client, operation, end, LARGE, tail="").status == 400, operation
    assert held(client) == before
    assert [each.name for name in DIRECTORIES for each in (client.file.parent / name).iterdir() if each.name.startswith(".")] == []


def test_a_form_of_several_files(client: Client) -> None:
    """Permission for a file is asked when its part begins, before anything of it has been kept."""
    limited(client, viewer=None)
    form = f'--b\r\nContent-Disposition: form-data; name="general"; filename="own.lua"\r\n\r\n{LARGE}'
    refused = client.post("/v3/sidecar/plan", form.encode(), headers={"content-type": "multipart/form-data; boundary=b"})
    assert refused.status == 403, "not 400, for a form that is cut short"


def test_permission_comes_before_existence(client: Client) -> None:
    """Whether a file is there or not, and whether it could be stored, is not said to who may not change it."""
    limited(client, viewer=None)
    for name in ("there.txt", "absent.txt", "x" * 300):
        for method, body in (("PUT", b"x"), ("DELETE", None)):
            path = Path("/v3/services/haproxy/storage/general") / name
            assert client(method, str(path), body, headers={"content-type": "multipart/form-data; boundary=b"}).status in (403, 400)
            assert client("DELETE", str(path)).status == 403
