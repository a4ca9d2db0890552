"""Certificates on disk: whole, with their key, where HAProxy reads them, and by the way of every stored file."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from haproxy_native.acme.keeper import Keeper
from haproxy_native.disk.directories import Directory
from haproxy_native.engine import Engine
from haproxy_native.features.routing_tests.routing_tests import RoutingGate
from haproxy_native.storage import certificate
from haproxy_native.storage.certificate_store import CertificateStore
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import running_engine
from tests.tls.pems import made

CONFIG = """\
global
  stats socket {{stats}} level admin
defaults
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
crt-store sites
  crt-base {0}/ssl
  load crt aliased.pem alias site
  load crt keyed.pem key {0}/elsewhere/keyed.key alias keyed
frontend site
  bind 127.0.0.1:{1} ssl crt {0}/ssl/stored.pem crt {0}/elsewhere/plain.pem crt {0}/ssl/parted.crt crt @sites/site crt @sites/keyed
"""
NAMES = {
    "ssl/stored.pem": "{}/ssl/stored.pem",
    "ssl/parted.crt": "{}/ssl/parted.crt",
    "ssl/aliased.pem": "@sites/site",
}
# Which this server does not write, or not with their key.
OUTSIDE = {"elsewhere/plain.pem": "{}/elsewhere/plain.pem", "ssl/keyed.pem": "@sites/keyed"}
HELD, OTHER = made("held.test"), made("other.test", 2)


@pytest.fixture(scope="module")
def haproxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HAProxy]:
    directory = tmp_path_factory.mktemp("certificates")
    for name in ("ssl", "elsewhere"):
        (directory / name).mkdir()
    put(directory, HELD)
    with HAProxy(directory, CONFIG.format(directory, free_port()), binary=binaries.of((3, 1))) as haproxy:
        yield haproxy


def put(directory: Path, what) -> None:
    """In every file; what HAProxy has loaded stays `HELD`."""
    (directory / "elsewhere/keyed.key").write_text(what.private)
    (directory / "ssl/keyed.pem").write_text(what.cert)
    for name in (*NAMES, "elsewhere/plain.pem"):
        path = directory / name
        parted = path.suffix == ".crt"
        path.write_text(what.cert if parted else what.pem)
        path.chmod(0o644 if parted else 0o640)
        if parted:
            key = path.with_name("parted.crt.key")
            key.unlink(missing_ok=True)
            key.write_text(what.private)
            key.chmod(0o400)


@asynccontextmanager
async def keeper(haproxy: HAProxy) -> AsyncIterator[tuple[Keeper, Engine]]:
    directory = haproxy.directory
    directories = {"ssl_certificates": Directory(directory / "ssl", "ssl_certs_dir")}
    async with running_engine(directory, haproxy, directories=directories) as engine:
        store = engine.stores["ssl_certificates"]
        assert isinstance(store, CertificateStore)
        yield Keeper(engine.context, store, lambda name: directory / "ssl" if name.startswith("@") else None), engine


def keep(haproxy: HAProxy, name: str, renewed: datetime | None = None) -> None:
    """As an event reports it, when nothing contradicts it; nothing is left to be done."""

    async def work() -> None:
        async with keeper(haproxy) as (each, engine):
            await each.keep((NAMES | OUTSIDE)[name].format(haproxy.directory), renewed or datetime.now(UTC) + timedelta(seconds=60))
            assert engine.context.ledger.entries == {}
            assert engine.reloads.pending is None

    asyncio.run(work())


def on_disk(path: Path) -> str:
    """The certificate that is served, with a key that belongs to it."""
    key = path.with_name(f"{path.name}.key")
    (common,) = certificate.parse_loadable(path.read_bytes(), key.read_bytes() if key.exists() else None).served.subject
    return str(common.value)


@pytest.mark.parametrize("name", NAMES)
def test_what_haproxy_holds_replaces_the_file(haproxy: HAProxy, name: str, caplog: pytest.LogCaptureFixture) -> None:
    """The file of a certificate that was renewed in the process is the old one, until it is kept."""
    path = haproxy.directory / name
    put(haproxy.directory, OTHER)
    before = sorted(each.name for each in path.parent.iterdir())
    with caplog.at_level(logging.INFO):
        keep(haproxy, name)
    assert on_disk(path) == "held.test"
    assert path.stat().st_mode & 0o777 == (0o644 if path.suffix == ".crt" else 0o640)
    assert sorted(each.name for each in path.parent.iterdir()) == before
    assert f"stored as {path}" in caplog.text
    assert "PRIVATE" not in caplog.text
    seen = path.stat()
    keep(haproxy, name)
    assert path.stat() == seen, "what is there is not written again"


def test_no_tests_hold_it_up(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with keeper(haproxy) as (each, engine):
            engine.context.observers.append(RoutingGate(None, haproxy.directory, lambda: True))  # type: ignore[arg-type]
            await each.keep(NAMES["ssl/stored.pem"].format(haproxy.directory), datetime.now(UTC) + timedelta(seconds=60))

    put(haproxy.directory, OTHER)
    asyncio.run(work())
    assert on_disk(haproxy.directory / "ssl/stored.pem") == "held.test"


def test_a_key_in_a_file_of_its_own_stays_there(haproxy: HAProxy) -> None:
    put(haproxy.directory, OTHER)
    keep(haproxy, "ssl/parted.crt")
    path = haproxy.directory / "ssl/parted.crt"
    assert "PRIVATE" not in path.read_text()
    assert path.with_name("parted.crt.key").stat().st_mode & 0o777 == 0o400


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_no_certificate_stays(haproxy: HAProxy, name: str, caplog: pytest.LogCaptureFixture) -> None:
    """The configuration names the path; this server may write where its editors may not."""
    put(haproxy.directory, OTHER)
    path = haproxy.directory / name
    path.write_text("dataplaneapi:\n  user: []\n")
    keep(haproxy, name)
    assert path.read_text() == "dataplaneapi:\n  user: []\n" and f"{path} does not contain a certificate or key" in caplog.text


def test_what_is_outside_the_storage_stays(haproxy: HAProxy, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever may edit a crt-store names any path."""
    put(haproxy.directory, OTHER)
    files = [haproxy.directory / name for name in ("elsewhere/plain.pem", "elsewhere/keyed.key", "ssl/keyed.pem")]
    before = [path.read_bytes() for path in files]
    for name in OUTSIDE:
        keep(haproxy, name)
    assert [path.read_bytes() for path in files] == before
    assert f"keyed.key is outside {haproxy.directory}/ssl" in caplog.text
    copy = haproxy.directory / "ssl/plain.pem"
    assert on_disk(copy) == "held.test"
    copy.unlink()


def test_a_file_that_was_changed_since_stays(haproxy: HAProxy, caplog: pytest.LogCaptureFixture) -> None:
    """What is heard again after a restart may be long ago."""
    renewed = datetime.now(UTC) - timedelta(seconds=60)
    put(haproxy.directory, OTHER)
    keep(haproxy, "ssl/stored.pem", renewed)
    assert on_disk(haproxy.directory / "ssl/stored.pem") == "other.test"
    assert "was written after the renewal, so it is not replaced" in caplog.text


def test_a_file_that_is_not_there_is_kept_in_the_storage(haproxy: HAProxy, caplog: pytest.LogCaptureFixture) -> None:
    put(haproxy.directory, HELD)
    copy = haproxy.directory / "ssl" / "plain.pem"
    (haproxy.directory / "elsewhere/plain.pem").unlink()
    keep(haproxy, "elsewhere/plain.pem")
    assert on_disk(copy) == "held.test"
    assert copy.stat().st_mode & 0o777 == 0o640
    copy.unlink()
    # Of that name in the storage there may be one that is used for something else.
    used = copy
    used.write_text(OTHER.pem)
    text = haproxy.file.read_text()
    haproxy.file.write_text(text.replace(" ssl crt ", f" ssl crt {used} crt "))
    keep(haproxy, "elsewhere/plain.pem")
    assert on_disk(used) == "other.test"
    assert "is the file of another certificate" in caplog.text
    haproxy.file.write_text(text)
    used.unlink()


def test_what_haproxy_does_not_have(haproxy: HAProxy, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        async with keeper(haproxy) as (each, _):
            await each.keep("none.pem", datetime.now(UTC))

    asyncio.run(work())
    assert "none.pem was renewed, and storing it failed: " in caplog.text
