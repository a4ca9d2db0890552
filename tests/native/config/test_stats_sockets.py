"""Sockets as the file opens them."""

from pathlib import Path

import pytest

from native.config.stats_sockets import addresses, addresses_in
from native.text.document import Document

TEXT = b"""global
    maxconn 100
    stats socket /run/first.sock mode 600 level admin
    stats timeout 2m
    stats socket ipv4@127.0.0.1:9999 level user

backend b
"""


@pytest.mark.parametrize(
    ("text", "found"), [(TEXT, ["/run/first.sock", "ipv4@127.0.0.1:9999"]), (b"global\n", []), (b"", []), (b"not a configuration", [])]
)
def test_addresses(tmp_path: Path, text: bytes, found: list[str]) -> None:
    assert addresses(Document.parse(text)) == found
    path = tmp_path / "haproxy.cfg"
    path.write_bytes(text)
    assert addresses_in(path) == found


def test_no_file(tmp_path: Path) -> None:
    assert addresses_in(tmp_path / "none") == []
