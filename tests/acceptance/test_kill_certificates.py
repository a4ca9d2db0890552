"""Kill the server while it changes certificates and lists. Files and process must then agree, and every file must be complete."""

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from cryptography import x509

from haproxy_native.runtime import ssl_files
from tests.acceptance.killer import Killer
from tests.acceptance.quick import SERVICES, Quick
from tests.databases import former_contents
from tests.haproxy import binaries
from tests.tls.pems import made
from tests.tls.site import TlsSite, tls_site

CERTS, LISTS = f"{SERVICES}/storage/ssl_certificates", f"{SERVICES}/storage/ssl_crt_lists"
TEXT = {"Content-Type": "text/plain"}
# Created once. They differ in their serial numbers.
SERIES = [made("plain.example.com", serial).pem for serial in range(1000, 1008)]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[TlsSite]:
    with tls_site(tmp_path, binaries.exactly("3.2"), tmp_path / "ssl_certs_dir") as site:
        (site.directory / "c.pem").write_text(made("c.example.com", 300).pem)
        yield site


class Changes:
    """Makes random changes of a certificate, of the entries of a list, or of a whole list."""

    def __init__(self, sidecar: Quick, site: TlsSite, seed: int) -> None:
        self.sidecar, self.site, self.random = sidecar, site, random.Random(seed)
        self.killer = Killer(sidecar, self.random, [site.directory / "plain.pem", site.directory / "list.txt"])

    def next(self) -> None:
        with self.killer.timed():
            answer = self.random.choice([self._certificate, self._entry, self._list])(self.sidecar.client)
            assert answer.status_code in (200, 201, 202, 204), answer.text

    def _certificate(self, client: httpx2.Client) -> httpx2.Response:
        return client.put(f"{CERTS}/plain.pem", content=self.random.choice(SERIES), headers=TEXT)

    def _entry(self, client: httpx2.Client) -> httpx2.Response:
        file = self.site.path("c.pem")
        if file in self.text:
            return client.delete(f"{LISTS}/list.txt/entries", params={"certificate": file, "line_number": 0})
        return client.post(f"{LISTS}/list.txt/entries", json={"file": file, "sni_filter": ["c.example.com"]})

    def _list(self, client: httpx2.Client) -> httpx2.Response:
        lines = [line for line in self.text.splitlines() if self.site.path("c.pem") not in line]
        lines += [f"{self.site.path('c.pem')} n{number}.example.com" for number in range(self.random.randrange(4))]
        return client.put(f"{LISTS}/list.txt", content="".join(f"{line}\n" for line in lines), headers=TEXT)

    @property
    def text(self) -> str:
        return (self.site.directory / "list.txt").read_text()

    def next_and_kill(self) -> None:
        self.killer.kill_during(self.next)


def eventually(holds: Callable[[], bool], what: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, what()
        time.sleep(0.05)


def check(changes: Changes, whole: set[str]) -> None:
    """Wait until the process has the files, as the server ensures after a kill without a request."""
    site = changes.site
    file = (site.directory / "plain.pem").read_text()
    assert file in whole, "torn"
    serial = x509.load_pem_x509_certificate(file.encode()).serial_number
    eventually(lambda: site.serial("FILE") == serial, lambda: (serial, site.serial("FILE")))
    wanted = [line.split()[0] for line in changes.text.splitlines() if line.startswith("/")]
    eventually(lambda: shown(site) == wanted, lambda: (wanted, shown(site)))
    assert [path.name for path in site.directory.iterdir() if path.name.startswith(".")] == []


def shown(site: TlsSite) -> list[str]:
    """Return the certificates of the list in HAProxy's memory."""
    return [entry.file for entry in ssl_files.parse_crt_list(site.haproxy.ask(f"show ssl crt-list -n {site.path('list.txt')}"))]


@pytest.mark.parametrize(("count", "kills", "seed"), [(16, 2, 2026), pytest.param(2000, 200, 1, marks=pytest.mark.soak)])
def test_file_and_process_agree_after_a_kill(site: TlsSite, count: int, kills: int, seed: int) -> None:
    whole = {*SERIES, (site.directory / "plain.pem").read_text()}
    with Quick(site.haproxy) as sidecar:
        changes = Changes(sidecar, site, seed)
        fatal = set(changes.random.sample(range(count), kills))
        for number in range(count):
            if number not in fatal:
                changes.next()
                continue
            changes.next_and_kill()
            sidecar.start()
            check(changes, whole)
        check(changes, whole)
        state = sidecar.directory / "dataplane" / "engine" / "state"
        eventually(lambda: former_contents(state) == 0, lambda: former_contents(state))
