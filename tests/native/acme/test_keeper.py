"""Certificates on disk: whole, with their key, where HAProxy reads them."""

import asyncio
import logging
from pathlib import Path

import pytest

from native.acme.keeper import Keeper, NotKept, check
from native.config.directories import Directory
from native.runtime.client import Runtime
from tests.haproxy import binaries
from tests.haproxy.acme import self_signed
from tests.haproxy.process import HAProxy, free_port

CONFIG = """\
global
  stats socket {{stats}} level admin
defaults
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
frontend site
  bind 127.0.0.1:{port} ssl crt {certificate}
"""


END = b"-----END CERTIFICATE-----"


def pem(directory: Path, name: str) -> bytes:
    self_signed(directory / "key", directory / "crt", name)
    return (directory / "crt").read_bytes() + (directory / "key").read_bytes()


def test_a_key_that_belongs_to_another_certificate_is_refused(tmp_path: Path) -> None:
    one, two = pem(tmp_path, "one.test"), pem(tmp_path, "two.test")
    check(one)
    certificate, key = one.partition(b"-----BEGIN PRIVATE")[0], b"-----BEGIN PRIVATE" + two.partition(b"-----BEGIN PRIVATE")[2]
    for text, told in (
        (certificate + key, "do not belong together"),
        (certificate, "no certificate with its key"),
        (b"", "no certificate"),
    ):
        with pytest.raises(NotKept, match=told):
            check(text)


def test_what_haproxy_holds_replaces_the_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The file of a certificate that was renewed in the process is the old one, until it is kept."""
    path, storage = tmp_path / "site.pem", tmp_path / "ssl"
    held, other = pem(tmp_path, "held.test"), pem(tmp_path, "other.test")
    path.write_bytes(held)
    config = CONFIG.format(port=free_port(), certificate=path)
    with HAProxy(tmp_path, config, binary=binaries.of((3, 1))) as haproxy, caplog.at_level(logging.INFO):

        async def keep() -> None:
            runtime = Runtime()
            await runtime.connect(str(haproxy.master), [], 5, 0.02)
            await Keeper(runtime, Directory(storage, "ssl_certs_dir")).keep(str(path))

        path.write_bytes(other)
        path.chmod(0o640)
        asyncio.run(keep())
        assert same(path, held)
        assert path.stat().st_mode & 0o777 == 0o640
        assert not storage.exists()
        path.unlink()
        asyncio.run(keep())
        assert same(storage / "site.pem", held)
        assert (storage / "site.pem").stat().st_mode & 0o777 == 0o600
    assert "PRIVATE" not in caplog.text


def same(path: Path, held: bytes) -> bool:
    """Whichever form the key is written in."""
    check(path.read_bytes())
    return held[: held.index(END)] in path.read_bytes()


def test_a_key_in_a_file_of_its_own_stays_there(tmp_path: Path) -> None:
    held, other = pem(tmp_path, "held.test"), pem(tmp_path, "other.test")
    (tmp_path / "site.crt").write_bytes(held[: held.index(b"-----BEGIN PRIVATE")])
    (tmp_path / "site.crt.key").write_bytes(held[held.index(b"-----BEGIN PRIVATE") :])
    config = CONFIG.format(port=free_port(), certificate=tmp_path / "site.crt")
    with HAProxy(tmp_path, config, binary=binaries.of((3, 1))) as haproxy:

        async def keep() -> None:
            runtime = Runtime()
            await runtime.connect(str(haproxy.master), [], 5, 0.02)
            await Keeper(runtime, Directory(tmp_path / "ssl", "ssl_certs_dir")).keep(str(tmp_path / "site.crt"))

        (tmp_path / "site.crt").write_bytes(other[: other.index(b"-----BEGIN PRIVATE")])
        asyncio.run(keep())
    assert b"PRIVATE" not in (tmp_path / "site.crt").read_bytes()
    check((tmp_path / "site.crt").read_bytes() + (tmp_path / "site.crt.key").read_bytes())
