"""SPOE files over HTTP."""

from pathlib import Path

import pytest

from tests.app.client import CONFIG, Client, serving
from tests.app.spoe import FILE, FILES, SPOE, TEXT, furnish, upload


def test_from_upload_to_deletion(client: Client, tmp_path: Path) -> None:
    assert (client.get(FILES).status, client.get(FILES).json) == (200, [])
    created = upload(client, "a/f.cfg", "[x]\n")
    path = str(tmp_path / "spoe" / "f.cfg")
    assert (created.status, created.json, "Reload-Id" in created.headers) == (201, path, False)
    assert client.get(FILES).json == [path]
    assert client.get(FILE).json == {"data": "# _version=1\n[x]\n"}
    assert client.get(f"{SPOE}/f.cfg/version").json == 1
    again = upload(client, "f.cfg", "[y]\n")
    assert (again.status, again.message) == (
        409,
        f"object already exists: file {path} already exists. You should delete an existing file first",
    )
    for _ in range(2):
        assert client.delete(FILE).status == 204
    missing = client.get(FILE)
    assert (missing.status, missing.message) == (404, "missing object: spoe file f.cfg does not exist")
    assert not Path(path).exists()


def test_a_file_of_the_operator_is_shown_as_it_is(tmp_path: Path) -> None:
    furnish(tmp_path)
    with serving(tmp_path) as client:
        assert client.get(FILE).json == {"data": TEXT}
        assert client.get(f"{SPOE}/f.cfg/version").json == 3
        assert [each["url"] for each in client.get(SPOE).json] == ["/services/haproxy/spoe/spoe_files"]


@pytest.mark.parametrize(
    ("part", "name", "said"), [("other", "x.cfg", "http: no such file"), ("file_upload", "..", "validation error: '..'")]
)
def test_uploads_that_are_none(client: Client, part: str, name: str, said: str) -> None:
    got = upload(client, name, "[x]\n", part)
    assert (got.status, got.message[: len(said)]) == (400, said)


def test_an_upload_without_a_body(client: Client) -> None:
    got = client.post(FILES, headers={"content-type": "multipart/form-data; boundary=x"})
    assert (got.status, got.message) == (400, "http: no such file; send it in the field file_upload")


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_name_leads_nowhere_else(client: Client, method: str) -> None:
    assert client(method, f"{FILES}/..%2Fhaproxy.cfg").status == 404
    assert client.file.exists()


def test_a_file_that_the_configuration_reads(tmp_path: Path) -> None:
    path = furnish(tmp_path)
    with serving(tmp_path) as client:
        filters = f"{CONFIG}/frontends/web/filters"
        body = {"type": "spoe", "spoe_engine": "one", "spoe_config": str(path)}
        assert client.post(f"{filters}/0?version=1", body).status == 202
        refused = client.delete(FILE)
        assert (refused.status, refused.message[:40]) == (409, "rejecting attempt to delete file " + str(path)[:7])
        assert client.delete(f"{filters}/0?version=2&force_reload=true").status == 204
        assert client.delete(FILE).status == 204


def test_a_directory_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "spoe").write_text("")
    with serving(tmp_path) as client:
        got = client.get(FILES)
        assert got.status == 503
        assert got.message.startswith(f"spoe_dir {tmp_path}/spoe cannot be used")
        assert client.get(f"{CONFIG}/backends").status == 200
