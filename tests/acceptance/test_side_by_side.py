"""While HAProxy checks one change, others are answered."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy.process import HAProxy
from tests.until import until

CONFIG = (
    PLAIN
    + """\
frontend site from plain
    bind unix@{place}/site.sock
    use_backend %[req.hdr(host),map({place}/maps_dir/hosts.map,app)]

backend app from plain
    server one 127.0.0.1:1 weight 10
"""
)
RUNTIME = f"{SERVICES}/runtime"
# A check of a text with this word ends when it may.
SLOW = "slow"
HOLD = "grep -q slow {file} && touch {place}/begun && while ! [ -e {place}/go ]; do sleep 0.05; done"


@contextmanager
def beside(directory: Path, **reload: str) -> Iterator[Quick]:
    (directory / "maps_dir").mkdir()
    (directory / "maps_dir" / "hosts.map").write_text("a app\n")
    text = CONFIG.replace("{place}", str(directory)).format()
    with HAProxy(directory, text, master=False) as haproxy, Quick(haproxy, reload=reload) as sidecar:
        try:
            yield sidecar
        finally:
            (directory / "go").touch()


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def add(sidecar: Quick, name: str) -> Callable[[], httpx2.Response]:
    version = sidecar.version()
    return lambda: sidecar.post("backends", {"name": name, "from": "plain"}, version=version)


def check_that_runtime_calls_are_answered(sidecar: Quick, slow: "Future[httpx2.Response]") -> None:
    answers = [
        sidecar.put(f"{RUNTIME}/backends/app/servers/one", {"weight": 66}),
        sidecar.post(f"{RUNTIME}/maps/hosts.map/entries", {"key": "b", "value": "app"}),
        sidecar.post(f"{RUNTIME}/maps/hosts.map/entries", {"key": "c", "value": "app"}, force_sync=True),
    ]
    assert [answer.status_code for answer in answers] == [200, 201, 201], [answer.text for answer in answers]
    assert not slow.done()


def test_while_haproxy_checks(tmp_path: Path, pool: ThreadPoolExecutor) -> None:
    hold = HOLD.format(file="$DATAPLANEAPI_TRANSACTION_FILE", place=tmp_path)
    with beside(tmp_path, validate_cmd=script(tmp_path / "check", f"{hold}; echo > {tmp_path}/checked; true")) as sidecar:
        slow = pool.submit(add(sidecar, SLOW))
        until((tmp_path / "begun").exists)
        check_that_runtime_calls_are_answered(sidecar, slow)
        assert add(sidecar, "other")().status_code == 202
        # The other has taken its version; nobody waits for the rest of the check.
        assert slow.result(timeout=30).status_code == 409
