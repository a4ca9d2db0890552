"""Write to a full or read-only disk: every write is made completely, or refused with the reason."""

import itertools
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.acceptance import mounts
from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.tls.pems import made

pytestmark = pytest.mark.mounts
CONFIG = (
    PLAIN
    + """\
frontend site from plain
    bind 127.0.0.1:{port} ssl crt {etc}/ssl_certs_dir/site.pem
    http-request set-var(txn.a) path,map({etc}/maps_dir/hosts.map)
    default_backend app

backend app from plain
    server one 127.0.0.1:1 weight 1
"""
    + "# what an operator has noted over the years\n" * 300
)
STORAGE = f"{SERVICES}/storage"
PEMS = [made("one.example", serial).pem for serial in (17, 18)]
SPOE = "[ip]\nspoe-agent a\n  use-backend app\n  timeout processing 20ms\n  messages m\n\nspoe-message m\n  event on-client-session\n"


class Writes:
    """Every kind of write. Each call writes something different."""

    def __init__(self, sidecar: Quick) -> None:
        self.sidecar, self.numbers = sidecar, itertools.count(2)

    def weight(self, number: int) -> httpx2.Response:
        return self.sidecar.put_server("one", {"weight": number})

    def timeout(self, number: int) -> httpx2.Response:
        return self.sidecar.put("backends/app", self.backend(number), version=self.sidecar.version())

    def backend(self, number: int) -> dict[str, object]:
        return {"name": "app", "from": "plain", "queue_timeout": 1000 + number}

    def text(self, number: int) -> httpx2.Response:
        return self.sidecar.post("raw", f"{self.sidecar.get('raw').text}# {number}\n", version=self.sidecar.version())

    def transaction(self, number: int) -> httpx2.Response:
        """Open, edit and commit a transaction. Return the first refusal, or the last answer."""
        answer = self.sidecar.post(f"{SERVICES}/transactions", version=self.sidecar.version())
        if answer.status_code != 201:
            return answer
        id_ = answer.json()["id"]
        answer = self.sidecar.put("backends/app", self.backend(number), transaction_id=id_)
        if answer.status_code == 202:
            answer = self.sidecar.commit(id_)
        if not answer.is_success:
            assert self.sidecar.delete(f"{SERVICES}/transactions/{id_}").status_code == 204
        return answer

    def map(self, number: int) -> httpx2.Response:
        return self.sidecar.put(f"{STORAGE}/maps/hosts.map", f"k {number}\n" * 500)

    def map_entry(self, number: int) -> httpx2.Response:
        return self.sidecar.post(f"{SERVICES}/runtime/maps/hosts.map/entries", {"key": f"k{number}", "value": "v"}, force_sync=True)

    def certificate(self, number: int) -> httpx2.Response:
        return self.sidecar.put(f"{STORAGE}/ssl_certificates/site.pem", PEMS[number % 2])

    def new_certificate(self, number: int) -> httpx2.Response:
        return self.upload("storage/ssl_certificates", f"new{number}.pem", PEMS[0])

    def new_map(self, number: int) -> httpx2.Response:
        return self.upload("storage/maps", f"new{number}.map", "a b\n" * 2000)

    def new_list(self, number: int) -> httpx2.Response:
        return self.upload("storage/ssl_crt_lists", f"new{number}.txt", f"{self.sidecar.directory}/ssl_certs_dir/site.pem\n" * 200)

    def new_page(self, number: int) -> httpx2.Response:
        return self.upload("storage/general", f"new{number}.http", "HTTP/1.0 503 No\r\n\r\n" * 500)

    def new_spoe(self, number: int) -> httpx2.Response:
        return self.upload("spoe/spoe_files", f"new{number}.cfg", SPOE + "# long\n" * 1000)

    def upload(self, store: str, name: str, data: str) -> httpx2.Response:
        return self.sidecar.client.post(f"{SERVICES}/{store}", files={"file_upload": (name, data.encode(), "text/plain")})


KINDS: list[Callable[[Writes, int], httpx2.Response]] = [
    Writes.weight,
    Writes.timeout,
    Writes.text,
    Writes.transaction,
    Writes.map,
    Writes.map_entry,
    Writes.certificate,
    Writes.new_certificate,
    Writes.new_map,
    Writes.new_list,
    Writes.new_page,
    Writes.new_spoe,
]


@contextmanager
def beside_a_disk(top: Path, storage: Path) -> Iterator[Quick]:
    """Run HAProxy and a server with configuration and stored files on a disk of 4 MiB. `storage` has the server's own files."""
    etc = top / "etc"
    etc.mkdir()
    mounts.memory(etc, 4096)
    for name in ("maps_dir", "ssl_certs_dir", "general_storage_dir", "spoe_dir"):
        (etc / name).mkdir()
    (etc / "maps_dir" / "hosts.map").write_text("k1 one\n")
    (etc / "ssl_certs_dir" / "site.pem").write_text(PEMS[1])
    haproxy = HAProxy(etc, CONFIG.format(port=free_port(), etc=etc), binary=binaries.exactly("3.2"))
    ours = {
        "transaction": {"transaction_dir": str(etc / "transactions"), "backups_number": 2},
        "resources": {
            **{name: str(etc / name) for name in ("maps_dir", "ssl_certs_dir", "general_storage_dir", "spoe_dir")},
            "dataplane_storage_dir": str(storage),
        },
    }
    quick = Quick(haproxy, dataplaneapi=ours)
    # A disk cannot become read-only while a process has a file open for writing.
    haproxy.log, quick.log = top / "haproxy.log", top / "dataplaneapi.log"
    with haproxy, quick:
        settle(quick)
        yield quick


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    top = tmp_path_factory.mktemp("disk")
    with beside_a_disk(top, top / "etc" / "dataplane") as running:
        yield running


def settle(sidecar: Quick) -> None:
    assert sidecar.put_server("one", {"weight": 1}).is_success
    await_check(sidecar)


def await_check(sidecar: Quick) -> None:
    """Wait until HAProxy has checked the file, as the server requests at its start, in the directory of all checks."""
    deadline = time.monotonic() + 120
    while list(sidecar.directory.glob(".*")):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def writes(sidecar: Quick) -> Writes:
    return Writes(sidecar)


def files(sidecar: Quick) -> dict[str, bytes]:
    """Return all files that clients and HAProxy read, including hidden files. The server's own files are left out."""
    ours = (sidecar.directory / "dataplane", sidecar.directory / "transactions", sidecar.directory / "ballast")
    found = [path for path in sidecar.directory.rglob("*") if path.is_file() and not any(path.is_relative_to(each) for each in ours)]
    return {str(path.relative_to(sidecar.directory)): path.read_bytes() for path in found}


def check_agreement(sidecar: Quick) -> None:
    """Assert that process, file and version agree."""
    server = sidecar.server("one")
    assert server
    assert sidecar.line("server one") == f"server one 127.0.0.1:1 weight {server.uweight}"
    if header := re.match(r"# _md5hash=\w+\n# _version=(\d+)\n", sidecar.text()):
        assert sidecar.version() == int(header[1])
    maps = sidecar.directory / "maps_dir" / "hosts.map"
    shown = sidecar.haproxy.ask(f"show map {maps}").splitlines()
    assert [line.split(" ", 1)[1] for line in shown if line] == maps.read_text().splitlines()


def attempt(writes: Writes, kind: Callable[[Writes, int], httpx2.Response], why: str) -> bool:
    """Make a write, and assert that it is made completely, or refused with reason and remedy."""
    sidecar = writes.sidecar
    await_check(sidecar)
    before = files(sidecar)
    answer = kind(writes, next(writes.numbers))
    if answer.is_success:
        if "Reload-Id" in answer.headers:
            assert sidecar.reloaded(answer)["status"] == "succeeded"
    else:
        assert answer.status_code in (500, 503, 507), answer.text
        assert re.search(why, answer.json()["message"]), answer.text
        assert files(sidecar) == before
    check_agreement(sidecar)
    return answer.is_success


def restore(sidecar: Quick) -> None:
    """Free space on the disk, and wait until nothing is pending."""
    (sidecar.directory / "ballast").unlink(missing_ok=True)
    for new in sidecar.directory.rglob("new*"):
        new.unlink()
    plan = sidecar.post("/v3/sidecar/plan", sidecar.get("raw").text).json()
    assert (plan["commands"], plan["reload"]) == ([], False), plan


FULL = r"No space left on device[\s\S]*make room on that disk"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("levels", [(0, 12288), pytest.param(tuple(range(4096, 131072, 4096)), marks=pytest.mark.soak)], ids=["", "fine"])
def test_a_full_disk(sidecar: Quick, writes: Writes, kind: Callable[[Writes, int], httpx2.Response], levels: tuple[int, ...]) -> None:
    done = []
    try:
        for leave in levels:
            mounts.fill(sidecar.directory, leave)
            done.append(attempt(writes, kind, FULL))
    finally:
        restore(sidecar)
    if 0 in levels:
        assert not done[0]
    assert attempt(writes, kind, "nothing")


def test_a_disk_that_has_become_read_only(tmp_path: Path) -> None:
    """The history is on another disk, because its files are always open."""
    with beside_a_disk(tmp_path, tmp_path / "state") as sidecar:
        writes, before = Writes(sidecar), files(sidecar)
        mounts.remount(sidecar.directory, "ro")
        try:
            for kind in KINDS:
                assert not attempt(writes, kind, r"Read-only file system[\s\S]*mount it writable"), kind.__name__
            reasons = not_ready(sidecar)
            assert set(reasons) == {"configuration"}
            assert "Read-only file system" in reasons["configuration"]
        finally:
            mounts.remount(sidecar.directory, "rw")
        assert files(sidecar) == before
        for kind in KINDS:
            assert attempt(writes, kind, "nothing")
        restore(sidecar)
        assert sidecar.get("/readyz").status_code == 200


def not_ready(sidecar: Quick) -> dict[str, str]:
    """Return the reasons why the server is not ready, by part; empty if it is ready."""
    answer = sidecar.get("/readyz")
    parts = answer.json()["parts"]
    assert (answer.status_code == 503) == any(part["status"] == "failed" for part in parts.values()), answer.text
    return {name: part["reason"] for name, part in parts.items() if part["status"] == "failed"}


def test_a_full_disk_is_not_ready(sidecar: Quick) -> None:
    assert not_ready(sidecar) == {}
    mounts.fill(sidecar.directory, 0)
    try:
        reasons = not_ready(sidecar)
        assert set(reasons) == {"configuration"}
        assert re.match(rf"{sidecar.haproxy.file} cannot be changed.*: {FULL}", reasons["configuration"])
    finally:
        restore(sidecar)
    assert not_ready(sidecar) == {}


def test_a_start_on_a_full_disk(sidecar: Quick, writes: Writes) -> None:
    """After a crash: what there is is served, and changed if there is room for it: a start may have made some."""
    version = sidecar.version()
    mounts.fill(sidecar.directory, 0)
    try:
        sidecar.kill()
        sidecar.start()
        assert sidecar.version() == version
        attempt(writes, Writes.weight, FULL)
    finally:
        restore(sidecar)
    assert attempt(writes, Writes.weight, "nothing")
    assert "Traceback" not in sidecar.log.read_text()
