"""Roll changes back at their deadline although the disk is full or read-only, or as soon as it accepts the necessary writes."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from haproxy_native.disk.database import STATE
from tests.acceptance import mounts
from tests.acceptance.web import Web
from tests.acceptance.wrong_changes import Change, Site, a_server_at_a_dead_address, a_server_lost, a_wrong_map, made_by, site_of
from tests.databases import connected

pytestmark = pytest.mark.mounts


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Run a site whose server has its own files on a separate disk."""
    etc, elsewhere = (tmp_path_factory.mktemp(name) for name in ("etc", "elsewhere"))
    (etc / "dataplane").mkdir()
    with Web("one") as web:
        mounts.memory(etc / "dataplane", 2048)
        with site_of(etc, web) as running:
            # A disk cannot become read-only while a process has a file open for writing.
            running.sidecar.log = elsewhere / "dataplaneapi.log"
            yield running


def storage(site: Site) -> Path:
    return site.sidecar.directory / "dataplane"


def database(site: Site) -> AbstractContextManager[sqlite3.Connection]:
    return connected(storage(site) / "engine/state" / STATE)


def full(site: Site) -> Callable[[], None]:
    # Writes would succeed while the log of the database has room.
    with database(site) as opened:
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    mounts.fill(storage(site), 0)
    return (storage(site) / "ballast").unlink


def read_only(site: Site) -> Callable[[], None]:
    mounts.remount(storage(site), "ro")
    return lambda: mounts.remount(storage(site), "rw")


def test_the_configuration_needs_no_room(site: Site) -> None:
    before = site.seen()
    location = made_by(a_server_at_a_dead_address, site, confirm="1h")
    restore = full(site)
    try:
        assert site.sidecar.delete(location).json()["status"] == "returned"
        assert site.seen() == before
    finally:
        restore()


def test_what_has_no_room_for_its_entry_is_refused(site: Site) -> None:
    """A change is made while there is room for its entry. Every change that was answered is in the history."""
    # Once there is room, entries of earlier changes are written before the entry of this change.
    assert site.sidecar.put_server("one", {"weight": 201}).is_success
    made, refused, newest = 0, "", int(site.sidecar.get("/v3/sidecar/history?limit=1").json()[0]["id"])
    restore = full(site)
    try:
        while not refused:
            answer = site.sidecar.put_server("one", {"weight": 1 + made % 200})
            made += answer.is_success
            refused = "" if answer.is_success else answer.text
            assert made < 1000 and (answer.is_success or answer.status_code == 507), answer.text
    finally:
        restore()
    assert "make room on that disk" in refused
    entered = [entry for entry in site.sidecar.get(f"/v3/sidecar/history?limit={made + 1}").json() if int(entry["id"]) > newest]
    assert len(entered) == made and all(entry["author"] != "outside" for entry in entered)


@pytest.mark.soak
def test_a_guard_needs_no_room(site: Site) -> None:
    before = site.seen()
    location = made_by(a_server_lost, site, confirm="1h", guard='{"ready":true}')
    restore = full(site)
    try:
        found = site.ended(location, 20)
    finally:
        restore()
    assert (found["status"], found["verdict"]["result"]) == ("returned", "bad") and site.seen() == before


def test_a_stored_file_waits_for_room(site: Site) -> None:
    """The change can be confirmed or rolled back once there is room. The server accepts no confirmation that it cannot store."""
    before = site.seen()
    location = made_by(a_wrong_map, site)
    restore = full(site)
    try:
        refused = site.sidecar.post(f"{location}/confirm")
        assert refused.status_code == 503 and "make room on that disk" in refused.text
        refused = site.sidecar.delete(location)
        assert refused.status_code in (500, 503) and "No space left" in refused.text
        found = site.sidecar.get(location).json()
        assert found["status"] == "pending" and "rolling back failed, and is tried again every second" in found["error"]
    finally:
        restore()
    site.check_return(location, before)


@pytest.mark.parametrize(
    ("spoil", "status", "change"),
    [
        (full, "pending", a_server_at_a_dead_address),
        pytest.param(full, "open", a_server_at_a_dead_address, marks=pytest.mark.soak),
        pytest.param(read_only, "pending", a_server_at_a_dead_address, marks=pytest.mark.soak),
        pytest.param(read_only, "open", a_server_at_a_dead_address, marks=pytest.mark.soak),
        pytest.param(full, "pending", a_wrong_map, marks=pytest.mark.soak),
        pytest.param(read_only, "open", a_wrong_map, marks=pytest.mark.soak),
    ],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_a_start(site: Site, spoil: Callable[[Site], Callable[[], None]], status: str, change: Change) -> None:
    """The server starts, and rolls back at the deadline once it can read its history. A kill before the answer leaves the state `open`."""
    before = site.seen()
    location = made_by(change, site)
    site.sidecar.kill()
    with database(site) as opened:
        id_, data = opened.execute("SELECT id, data FROM confirmation ORDER BY id DESC").fetchone()
        row = json.loads(data) | {"status": status} | ({"deadline": None} if status == "open" else {})
        opened.execute("UPDATE confirmation SET data = ? WHERE id = ?", (json.dumps(row), id_))
    restore = spoil(site)
    try:
        site.sidecar.start()
        assert site.sidecar.get(location).json()["status"] in ("pending", "returned")
        assert site.sidecar.put_server("two", {"weight": 1}).status_code in (200, 409, 500, 503, 507)
    finally:
        restore()
    site.check_return(location, before)


@pytest.mark.soak
def test_a_disk_that_is_full_at_the_deadline(tmp_path: Path) -> None:
    """The change is rolled back as soon as there is room."""
    mounts.memory(tmp_path, 4096)
    with Web("one") as web, site_of(tmp_path, web) as site:
        before = site.seen()
        location = made_by(a_server_at_a_dead_address, site)
        ballast = mounts.fill(tmp_path, 0)
        time.sleep(2.5)
        assert site.sidecar.get(location).json()["status"] == "pending"
        ballast.unlink()
        site.check_return(location, before)
