"""Answer large requests, and end the work for a request when its client disconnects."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.large_requests import CONFIG, LARGE, LOGIN, PATIENCE, SECTIONS, Large, ask, backends, large_requests
from tests.acceptance.quick import Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import CONFIGURATION
from tests.until import until

# The texts of `make test` are a tenth as large as those of `make soak`.
MANY = 1000
# The slowest requests; the others are similar.
SLOWEST = ("empty lines applied", "empty lines explained")
FEW = [pytest.param(each, id=each.what) for each in large_requests(MANY) if each.what not in SLOWEST]


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    directory = tmp_path_factory.mktemp("large")
    with HAProxy(directory, CONFIG.format(site=free_port()), binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy) as running:
        yield running


@pytest.fixture(scope="module")
def transaction(sidecar: Quick) -> str:
    return sidecar.transaction()


@pytest.mark.parametrize("large", [*FEW, *(pytest.param(each, marks=pytest.mark.soak, id=f"{each.what}, in full") for each in LARGE)])
def test_it_is_answered(sidecar: Quick, transaction: str, large: Large) -> None:
    ask(sidecar, large, transaction)


def test_an_edit_by_hand_and_what_it_differs_in(tmp_path: Path) -> None:
    """The server reads a large text after an edit by hand. A plan compares it with the same lines in another order."""
    config = CONFIG.format(site=free_port())
    reordered = (SECTIONS + "".join(f"backend b{i}\n    server s 127.0.0.1:1\n\n" for i in range(MANY, 0, -1))).encode()
    with HAProxy(tmp_path, config, binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy) as sidecar:
        before = sidecar.version()
        haproxy.file.write_text(f"{haproxy.file.read_text()}\n{backends(MANY)}")
        until(lambda: sidecar.version() > before)
        answer = sidecar.client.post("/v3/sidecar/plan", content=reordered, headers={"Content-Type": "text/plain"}, timeout=PATIENCE)
        assert answer.json()["diff"].count("\n") > MANY


def test_a_check_ends_with_its_client(tmp_path: Path) -> None:
    """The processes that the check command has started are ended as well."""
    command = tmp_path / "validate"
    announced = f"echo $$ > {tmp_path}/pid.new; mv {tmp_path}/pid.new {tmp_path}/pid"
    command.write_text(f"#!/bin/sh\ngrep -q slow $DATAPLANEAPI_TRANSACTION_FILE || exit 0\n{announced}\nsleep 50\n")
    command.chmod(0o755)
    text = CONFIG.format(site=free_port())
    with (
        HAProxy(tmp_path, text, binary=binaries.exactly("3.2")) as haproxy,
        Quick(haproxy, reload={"validate_cmd": str(command)}) as sidecar,
    ):
        with socket.create_connection(("127.0.0.1", sidecar.port), timeout=60) as connection:
            head = f"POST {CONFIGURATION}/raw?only_validate=true HTTP/1.1\r\nHost: x\r\nAuthorization: {LOGIN['Authorization']}\r\n"
            connection.sendall(f"{head}Content-Type: text/plain\r\nContent-Length: 14\r\n\r\nglobal # slow\n".encode())
            until((tmp_path / "pid").exists)
        pid = int((tmp_path / "pid").read_text())
        until(lambda: not Path(f"/proc/{pid}").exists())
