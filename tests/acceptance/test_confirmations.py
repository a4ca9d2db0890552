"""Roll back unconfirmed wrong changes byte for byte, at runtime if they were made at runtime, despite any fault in between.

The cases are the thirteen changes of wrong_changes.py, five faults, an edit by hand and, in test_confirmations_disk.py, a full disk. Rising
errors and missing servers are tested in test_guards.py.
"""

import os
import random
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.killer import Killer, wait_for_what_is_owed
from tests.acceptance.web import Web
from tests.acceptance.wrong_changes import (
    ALL,
    CONFIRMATIONS,
    LATE,
    LIVE,
    RUNTIME,
    SHORTEST,
    Change,
    Site,
    a_backend_that_answers_503,
    a_server_at_a_dead_address,
    a_server_without_weight,
    a_wrong_certificate,
    a_wrong_map,
    made_by,
    site_of,
)


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    with Web("one") as running:
        yield running


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, web: Web) -> Iterator[Site]:
    with site_of(tmp_path_factory.mktemp("confirmations"), web) as site:
        yield site


@pytest.fixture
def site(running: Site) -> Site:
    """Return the site, without a pending confirmation."""
    for each in running.sidecar.get(CONFIRMATIONS).json():
        if each["status"] == "pending":
            assert running.sidecar.delete(f"{CONFIRMATIONS}/{each['id']}").is_success
    return running


@pytest.mark.parametrize("change", ALL, ids=lambda change: change.__name__)
def test_goes_back(site: Site, change: Change) -> None:
    before, worker = site.seen(), site.worker()
    location = made_by(change, site, confirm="1h")
    assert site.seen() != before and (site.worker() == worker) == (change in LIVE)
    outcome = site.sidecar.get("/v3/sidecar/history", limit=1).json()[0]["outcome"]
    assert (outcome == "reloaded") == (change not in LIVE)
    worker = site.worker()
    assert site.sidecar.delete(location).json()["status"] == "returned"
    site.check_return(location, before)
    assert (site.worker() == worker) == (change in LIVE)


@pytest.mark.parametrize(
    "change",
    [pytest.param(each, marks=() if each is a_wrong_certificate else pytest.mark.soak) for each in ALL],
    ids=lambda change: change.__name__,
)
def test_goes_back_at_the_deadline(site: Site, change: Change) -> None:
    before = site.seen()
    site.check_return(made_by(change, site), before)


def test_several_files_at_once(site: Site) -> None:
    """The restore of a former state is rolled back as one change."""
    assert site.sidecar.put(f"{RUNTIME}/backends/app/servers/two", {"admin_state": "ready"}).is_success
    moment = site.sidecar.get("/v3/sidecar/history", limit=1).json()[0]["id"]
    for change in (a_wrong_map, a_wrong_certificate, a_backend_that_answers_503):
        answer = change(site)
        assert answer.is_success
        if answer.status_code == 202:
            site.sidecar.reloaded(answer)
    before = site.seen()
    assert before["status"] == 503
    answer = site.sidecar.post(f"/v3/sidecar/history/{moment}/restore", confirm="1h")
    assert answer.is_success, answer.text
    assert site.seen()["status"] == 200 and site.seen()["map"] == ["/a one", "/b two"]
    assert site.sidecar.delete(answer.headers["Location"]).json()["status"] == "returned"
    assert site.seen() == before
    assert site.sidecar.post(f"/v3/sidecar/history/{moment}/restore", wait="30s").is_success
    assert site.seen()["status"] == 200


def test_others_in_between_stay(site: Site) -> None:
    """Edits of other lines and of a stored file by hand, and a change of the process by another call, stay after the rollback."""
    location = made_by(a_server_without_weight, site, confirm="1h")
    assert site.sidecar.put(f"{RUNTIME}/backends/app/servers/two", {"admin_state": "maint"}).is_success
    site.haproxy.file.write_text(f"{site.sidecar.text()}# by hand\n")
    assert site.sidecar.delete(location).json()["status"] == "returned"
    shown = site.seen()
    assert shown["haproxy.cfg"].endswith(b"# by hand\n") and b"weight 10\n" in shown["haproxy.cfg"]
    assert [row[4:] for row in shown["servers"][:2]] == [(10, "ready"), (20, "maint")]
    assert site.sidecar.put(f"{RUNTIME}/backends/app/servers/two", {"admin_state": "ready"}).is_success


def test_a_hand_edit_of_the_same(site: Site) -> None:
    """The rollback does not overwrite the edit by hand, and its error names both values."""
    before = site.seen()
    location = made_by(a_server_at_a_dead_address, site, confirm="1h")
    site.haproxy.file.write_text(re.sub(r"(server one 127.0.0.1:)1 ", r"\g<1>2 ", site.sidecar.text(), count=1))
    edited = site.sidecar.text()
    found = site.sidecar.delete(location).json()
    assert found["status"] == "failed" and "port of backend/app/server/one is 2 by now, not 1" in found["error"], found
    assert site.sidecar.text() == edited
    answer = site.sidecar.post("raw", before["haproxy.cfg"].decode(), skip_version=True, wait="30s")
    assert answer.is_success
    assert site.seen() == before


def a_worker_dies(site: Site) -> None:
    """Kill a worker. The master ends as well, and a supervisor starts HAProxy again."""
    os.kill(site.worker(), signal.SIGKILL)
    site.haproxy.kill()
    site.haproxy.start()


def haproxy_is_killed(site: Site) -> None:
    site.haproxy.kill()
    site.haproxy.start()


def the_server_is_killed(site: Site) -> None:
    site.sidecar.kill()
    site.sidecar.start()


def both_are_killed(site: Site) -> None:
    """Kill the server and HAProxy, and start them after the deadline."""
    site.sidecar.kill()
    site.haproxy.kill()
    time.sleep(2.2)
    site.haproxy.start()
    site.sidecar.start()


def the_machine_restarts(site: Site) -> None:
    """Restart the machine: /run and /tmp are empty, so sockets and the directory of transactions are gone."""
    site.sidecar.kill()
    site.haproxy.kill()
    for path in site.haproxy.stats.parent.glob("*.sock*"):
        path.unlink()
    shutil.rmtree(site.sidecar.directory / "transactions", ignore_errors=True)
    site.haproxy.start()
    site.sidecar.start()


MISHAPS = (a_worker_dies, haproxy_is_killed, the_server_is_killed, both_are_killed, the_machine_restarts)
CHANGES = (a_server_at_a_dead_address, a_backend_that_answers_503, a_wrong_certificate)
WINDOWS = [(change, mishap) for change in CHANGES for mishap in MISHAPS]
SOME = (a_backend_that_answers_503, the_machine_restarts)


@pytest.mark.parametrize(
    ("change", "mishap"),
    [pytest.param(*each, marks=() if each == SOME else pytest.mark.soak) for each in WINDOWS],
    ids=lambda each: each.__name__,
)
def test_a_mishap_in_the_window(site: Site, change: Change, mishap: Callable[[Site], None]) -> None:
    before = site.seen()
    location = made_by(change, site)
    mishap(site)
    site.check_return(location, before)


class Kills:
    """Makes changes with a confirmation, and kills the server at a random moment until the rollback. `fates` counts their ends."""

    def __init__(self, site: Site, seed: int) -> None:
        self.site, self.random = site, random.Random(seed)
        self.killer = Killer(site.sidecar, self.random, [site.haproxy.file, site.maps / "hosts.map", site.certificates / "site.pem"])
        self.fates: list[str] = []

    def next(self) -> None:
        before, change = self.site.seen(), self.random.choice(ALL)
        self.random.choice([self._while_it_is_made, self._in_its_time, self._while_it_goes_back])(change)
        self.site.sidecar.start()
        deadline = time.monotonic() + 2 + LATE
        while waiting := [each for each in self._all() if each["status"] in ("open", "pending")]:
            assert time.monotonic() < deadline, (change.__name__, waiting)
            time.sleep(0.02)
        fate = next((each["status"] for each in self._all()), "")
        assert fate in ("", "returned", "void"), (change.__name__, self._all()[0])
        wait_for_what_is_owed(self.site.sidecar)
        assert self.site.seen() == before, change.__name__
        self.fates.append(fate)

    def _all(self) -> list[dict[str, Any]]:
        return list(self.site.sidecar.get(CONFIRMATIONS).json())

    def _while_it_is_made(self, change: Change) -> None:
        self._killed(lambda: change(self.site, confirm=SHORTEST))

    def _in_its_time(self, change: Change) -> None:
        made_by(change, self.site)
        time.sleep(self.random.uniform(0, 0.3))
        self.site.sidecar.kill()

    def _while_it_goes_back(self, change: Change) -> None:
        location = made_by(change, self.site)
        self._killed(lambda: self.site.sidecar.delete(location))

    def _killed(self, what: Callable[[], object]) -> None:
        with_haproxy = self.random.random() < 0.25
        self.killer.kill_during(what, worker=with_haproxy)
        if with_haproxy:
            self.site.sidecar.kill()
            self.site.haproxy.start()


@pytest.mark.parametrize(("sites", "kills"), [(2, 2), pytest.param(4, 250, marks=pytest.mark.soak)])
def test_kills(tmp_path: Path, web: Web, monkeypatch: pytest.MonkeyPatch, sites: int, kills: int) -> None:
    """Run several sites at once, because they mostly wait. No change is lost, and no confirmation stays pending."""
    monkeypatch.setenv("CI_DATAPLANE_RELOAD_DELAY_OVERRIDE", "50")

    def one(number: int) -> list[str]:
        (tmp_path / str(number)).mkdir()
        with site_of(tmp_path / str(number), web) as site:
            run = Kills(site, number)
            for _ in range(kills):
                run.next()
            return run.fates

    with ThreadPoolExecutor(sites) as pool:
        fates = [fate for each in pool.map(one, range(sites)) for fate in each]
    assert len(fates) == sites * kills and "returned" in fates
