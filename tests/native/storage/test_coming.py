"""What files would change, of which nothing is stored."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from haproxy_native.errors import BadRequest
from haproxy_native.storage.coming import LARGEST_DIFFERENCE, Coming, FilePreview, previews
from tests.app.client import Client, serving


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with serving(tmp_path) as running:
        yield running


KEY = b"-----BEGIN PRIVATE KEY-----\nMIG\n-----END PRIVATE KEY-----\n"


def of(client: Client, store: str, name: str, content: bytes, directory: Path) -> FilePreview:
    place = directory / "content"
    place.write_bytes(content)
    stores = client.engine.stores
    (preview,) = client.runner.run(previews(client.engine.context, [Coming(stores[store], stores[store].place(name), place)]))
    return preview


def test_the_difference_from_what_is_stored(client: Client, tmp_path: Path) -> None:
    (tmp_path / "maps").mkdir(exist_ok=True)
    (tmp_path / "maps" / "x.map").write_text("a b\n")
    assert (of(client, "maps", "x.map", b"a c\n", tmp_path).diff or "").endswith("-a b\n+a c\n")
    assert (of(client, "maps", "y.map", b"a c\n", tmp_path).diff or "").endswith("+a c\n")
    assert of(client, "maps", "x.map", b"a b\n", tmp_path).diff == ""
    assert (tmp_path / "maps" / "x.map").read_text() == "a b\n"


@pytest.mark.parametrize("content", [KEY, b"a b\n" * LARGEST_DIFFERENCE, b"\0\1"])
def test_none_of_what_is_large_or_may_be_a_key(client: Client, tmp_path: Path, content: bytes) -> None:
    assert of(client, "general", "x", content, tmp_path).diff is None
    (tmp_path / "general").mkdir(exist_ok=True)
    (tmp_path / "general" / "x").write_bytes(content)
    assert of(client, "general", "x", b"a b\n", tmp_path).diff is None


def test_what_a_store_does_not_take(client: Client, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"^part ssl_certificates, site\.pem: "):
        of(client, "ssl_certificates", "site.pem", KEY, tmp_path)
