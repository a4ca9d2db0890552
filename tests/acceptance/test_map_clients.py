"""Use maps and general files as known programs do."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

STORAGE, MAPS = f"{SERVICES}/storage", f"{SERVICES}/runtime/maps"
CONFIG = (
    PLAIN
    + """\
frontend web from plain
    bind 127.0.0.1:{port}
    errorfile 503 {directory}/general_storage_dir/503.http
    http-request return status 200 content-type text/plain lf-string %[req.hdr(host),map({directory}/maps_dir/hosts.map,none)]
"""
)
PAGE = "HTTP/1.0 503 Busy\r\n\r\n"


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    directory = tmp_path_factory.mktemp("files")
    for name, text in {"maps_dir/hosts.map": "# own\none.example app\n", "general_storage_dir/503.http": PAGE}.items():
        (directory / name).parent.mkdir()
        (directory / name).write_text(text, newline="")
    config = CONFIG.format(port=free_port(), directory=directory)
    with HAProxy(directory, config, binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy) as running:
        yield running


def upload(sidecar: Quick, method: str, path: str, name: str, content: bytes | str, **fields: str) -> httpx2.Response:
    files = {"file_upload": (name, content, "application/octet-stream")}
    return sidecar.client.request(method, f"{STORAGE}/{path}", files=files, data=fields)


def visit(sidecar: Quick, host: str) -> str:
    port = re.search(r"bind 127.0.0.1:(\d+)", sidecar.haproxy.file.read_text())
    assert port
    return httpx2.get(f"http://127.0.0.1:{port[1]}/", headers={"Host": host}, timeout=60, verify=False).text


def text_of(sidecar: Quick) -> str:
    return (sidecar.directory / "maps_dir" / "hosts.map").read_text()


def test_a_controller_that_sends_files_before_the_configuration(sidecar: Quick) -> None:
    worker = sidecar.haproxy.worker_pid()
    assert [each["storage_name"] for each in sidecar.get(f"{STORAGE}/general").json()] == ["503.http"]
    assert upload(sidecar, "POST", "general", "400.http", "first\r\n", id="400.http").status_code == 201
    got = sidecar.get(f"{STORAGE}/general/400.http")
    assert (got.status_code, got.content, got.headers["Content-Type"]) == (200, b"first\r\n", "application/octet-stream")
    # This client treats 204 as an error.
    assert upload(sidecar, "PUT", "general/400.http", "400.http", "second").status_code in (200, 202)
    assert upload(sidecar, "POST", "maps", "new.map", "k v\n").status_code == 201
    assert sidecar.put(f"{STORAGE}/maps/new.map", "k w\n").status_code in (200, 202)
    assert sidecar.put(f"{STORAGE}/maps/new.map", "k x\n", skip_reload=True).status_code == 204
    assert sidecar.put(f"{STORAGE}/maps/absent.map", "k x\n").status_code == 404
    assert sidecar.haproxy.worker_pid() == worker, "nothing of this is part of the running configuration"
    assert sidecar.delete(f"{STORAGE}/general/503.http").status_code == 409
    for name in ("general/400.http", "maps/new.map"):
        assert sidecar.delete(f"{STORAGE}/{name}").status_code == 204


def test_a_controller_that_replaces_a_page_in_use(sidecar: Quick) -> None:
    other = PAGE.replace("Busy", "Later")
    sidecar.reloaded(upload(sidecar, "PUT", "general/503.http", "503.http", other))
    assert sidecar.get(f"{STORAGE}/general/503.http").text == other
    failed = sidecar.reloaded(upload(sidecar, "PUT", "general/503.http", "503.http", "x" * 100_000))
    assert failed["status"] == "failed"
    assert sidecar.get(f"{STORAGE}/general/503.http").text == other, "the file is what HAProxy has"
    answer = sidecar.client.put(f"{STORAGE}/general/503.http?force_reload=true", files={"file_upload": ("x", "y" * 100_000)})
    assert (answer.status_code, answer.json()["message"].startswith("Reload failed: ")) == (400, True)
    assert sidecar.get(f"{STORAGE}/general/503.http").text == other


def test_a_job_that_keeps_a_map_in_step(sidecar: Quick) -> None:
    worker = sidecar.haproxy.worker_pid()
    entries = f"{MAPS}/hosts.map/entries"
    body = {"key": "two.example", "value": "api"}
    assert [sidecar.post(entries, body, force_sync=True).status_code for _ in range(2)] == [201, 409]
    assert visit(sidecar, "two.example") == "api"
    assert sidecar.put(f"{entries}/two.example", {"value": "api v2"}, force_sync=True).status_code == 200
    assert visit(sidecar, "two.example") == "api v2"
    assert text_of(sidecar) == "# own\none.example app\ntwo.example api v2\n"
    assert [sidecar.delete(f"{entries}/one.example", force_sync=True).status_code for _ in range(2)] == [204, 404]
    assert visit(sidecar, "one.example") == "none"
    assert sidecar.put(f"{STORAGE}/maps/hosts.map", "# own\none.example app\n").status_code == 200
    assert [visit(sidecar, host) for host in ("one.example", "two.example")] == ["app", "none"]
    assert sidecar.delete(f"{MAPS}/hosts.map", force_delete=True, force_sync=True).status_code == 204
    assert (visit(sidecar, "one.example"), text_of(sidecar)) == ("none", "# own\n")
    assert sidecar.put(f"{STORAGE}/maps/hosts.map", "# own\none.example app\n").status_code == 200
    assert sidecar.haproxy.worker_pid() == worker


def test_a_map_survives_the_reloads_of_others(sidecar: Quick) -> None:
    """File and process have the same entries, so a reload changes nothing."""
    assert sidecar.post(f"{MAPS}/hosts.map/entries", {"key": "r.example", "value": "r"}, force_sync=True).status_code == 201
    transaction = sidecar.transaction()
    sidecar.reloaded(sidecar.commit(transaction))
    assert (visit(sidecar, "r.example"), visit(sidecar, "one.example")) == ("r", "app")
    assert sidecar.delete(f"{MAPS}/hosts.map/entries/r.example", force_sync=True).status_code == 204


MIB = 1 << 20


def test_memory_is_flat_while_large_files_come_and_go(sidecar: Quick) -> None:
    def memory() -> int:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{sidecar.process.pid}/status").read_text())
        assert found
        return int(found[1]) << 10

    def form() -> Iterator[bytes]:
        yield b'--edge\r\nContent-Disposition: form-data; name="file_upload"; filename="large.bin"\r\n\r\n'
        for _ in range(200):
            yield bytes(MIB)
        yield b"\r\n--edge--\r\n"

    before = memory()
    headers = {"Content-Type": "multipart/form-data; boundary=edge"}
    answer = sidecar.client.post(f"{STORAGE}/general", content=form(), headers=headers)
    assert (answer.status_code, answer.json()["size"]) == (201, 200 * MIB)
    with sidecar.client.stream("GET", f"{STORAGE}/general/large.bin") as got:
        assert sum(len(piece) for piece in got.iter_bytes()) == 200 * MIB
    assert sidecar.delete(f"{STORAGE}/general/large.bin").status_code == 204
    assert memory() - before < 24 * MIB


def test_a_client_that_goes_away_leaves_nothing(sidecar: Quick) -> None:
    def form() -> Iterator[bytes]:
        yield b'--edge\r\nContent-Disposition: form-data; name="file_upload"; filename="half.bin"\r\n\r\n'
        yield bytes(MIB)
        raise ConnectionAbortedError

    with pytest.raises(ConnectionAbortedError):
        sidecar.client.post(f"{STORAGE}/general", content=form(), headers={"Content-Type": "multipart/form-data; boundary=edge"})
    directory, deadline = sidecar.directory / "general_storage_dir", time.monotonic() + 120
    while [path.name for path in directory.iterdir()] != ["503.http"]:
        assert time.monotonic() < deadline
        time.sleep(0.01)
