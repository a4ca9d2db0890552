"""Files in declarations."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.upload import Part
from dataplaneapi.features.apply.declared import declared_file, form_parts, sent_file
from haproxy_native.features.apply.rules import DeclaredFile
from tests.app.client import Client, serving

FORM = b'--b\r\nContent-Disposition: form-data; name="maps"; filename="a.map"\r\n\r\nx 1\n\r\n--b--\r\n'


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with serving(tmp_path) as running:
        yield running


def test_a_file_and_its_object(client: Client) -> None:
    stores = client.engine.stores
    rows = [{"key": "x", "value": "1"}]
    assert declared_file(stores, "map", {"name": "hosts", "entries": rows}) == ("map/hosts.map", DeclaredFile(entries={"x": "1"}))
    assert declared_file(stores, "general", {"name": "a.http", "content": "é"}) == ("general/a.http", DeclaredFile("é".encode()))
    assert sent_file(stores, Part("maps", "a.map"), b"x 1\n") == ("map/a.map", DeclaredFile(b"x 1\n", {"x": "1"}))
    assert sent_file(stores, Part("general", "a"), b"\0") == ("general/a", DeclaredFile(b"\0"))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ([], "must contain objects with a name"),
        ({"name": 1}, "must contain objects with a name"),
        ({"name": "a"}, "content in body is required"),
        ({"name": "a", "content": 1}, "content in body is required"),
        ({"name": "", "content": ""}, "not a file name"),
        ({"name": "a" * 256, "content": ""}, "longer than"),
    ],
)
def test_what_is_none(client: Client, body: Any, why: str) -> None:
    with pytest.raises(ApiError, match=why):
        declared_file(client.engine.stores, "general", body)


@pytest.mark.parametrize("value", [" 1", "1\t"])
def test_values_that_haproxy_reads_as_others(client: Client, value: str) -> None:
    with pytest.raises(ApiError, match="maps, 'hosts': value in body: .* begins or ends with a blank"):
        declared_file(client.engine.stores, "map", {"name": "hosts", "entries": [{"key": "x", "value": value}]})


def test_a_store_without_a_directory() -> None:
    with pytest.raises(ApiError, match="set dataplaneapi.resources.maps_dir"):
        declared_file({}, "map", {"name": "a", "entries": []})


def test_a_form() -> None:
    kind = "multipart/form-data; boundary=b"
    assert form_parts(FORM, kind) == [(Part("maps", "a.map"), b"x 1\n")]
    for data, why in [(b"--b--\r\n", "no part"), (FORM[:-10], "closing boundary"), (b"none", "cannot be read")]:
        with pytest.raises(ApiError, match=why):
            form_parts(data, kind)
