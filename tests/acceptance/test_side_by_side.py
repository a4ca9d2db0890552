"""Answer other requests while HAProxy checks or loads a change."""

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
# The check of a text with this word ends when the test permits it.
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
    with ThreadPoolExecutor(2) as pool:
        yield pool


def add(sidecar: Quick, name: str) -> Callable[[], httpx2.Response]:
    version = sidecar.version()
    return lambda: sidecar.post("backends", {"name": name, "from": "plain"}, version=version)


def check_that_runtime_calls_are_answered(sidecar: Quick, slow: "Future[httpx2.Response]") -> None:
    answers = [
        sidecar.put(f"{RUNTIME}/backends/app/servers/one", {"weight": 66}),
        sidecar.post(f"{RUNTIME}/maps/hosts.map/entries", {"key": "b", "value": "app"}),
    ]
    assert [answer.status_code for answer in answers] == [200, 201], [answer.text for answer in answers]
    assert not slow.done()


def test_while_haproxy_checks(tmp_path: Path, pool: ThreadPoolExecutor) -> None:
    hold = HOLD.format(file="$DATAPLANEAPI_TRANSACTION_FILE", place=tmp_path)
    check = script(tmp_path / "check", f"{hold}; echo > {tmp_path}/checked; true")
    reload = script(tmp_path / "reload", f"kill -USR2 $(cat {tmp_path}/haproxy.pid)")
    with beside(tmp_path, validate_cmd=check, reload_cmd=reload) as sidecar:
        (tmp_path / "haproxy.pid").write_text(str(sidecar.haproxy.pid))
        slow = pool.submit(add(sidecar, SLOW))
        until((tmp_path / "begun").exists)
        check_that_runtime_calls_are_answered(sidecar, slow)
        stored = sidecar.post(f"{RUNTIME}/maps/hosts.map/entries", {"key": "c", "value": "app"}, force_sync=True)
        assert (stored.status_code, slow.done()) == (201, False)
        assert add(sidecar, "other")().status_code == 202
        # The other change has its version, so the rest of the check does not matter.
        assert slow.result(timeout=60).status_code == 409


def reloading(directory: Path) -> str:
    """Write a reload command that waits for the file `load` before HAProxy reads its configuration, and for `go` before it returns."""
    wait = "while ! [ -e {place}/{file} ]; do sleep 0.05; done"
    first, last = (wait.format(place=directory, file=file) for file in ("load", "go"))
    return script(directory / "reload", f"touch {directory}/begun; {first}; kill -USR2 $(cat {directory}/haproxy.pid); {last}")


def worker(sidecar: Quick) -> str:
    return sidecar.haproxy.ask("show info").partition("\nPid: ")[2].split()[0]


@pytest.mark.parametrize("loaded", [False, True])
def test_while_haproxy_loads(tmp_path: Path, pool: ThreadPoolExecutor, loaded: bool) -> None:
    with beside(tmp_path, reload_cmd=reloading(tmp_path)) as sidecar:
        (tmp_path / "haproxy.pid").write_text(str(sidecar.haproxy.pid))
        version, former = sidecar.version(), worker(sidecar)
        slow = pool.submit(lambda: sidecar.post("backends", {"name": SLOW, "from": "plain"}, version=version, force_reload=True))
        until((tmp_path / "begun").exists)
        if loaded:
            (tmp_path / "load").touch()
            until(lambda: worker(sidecar) != former)
        check_that_runtime_calls_are_answered(sidecar, slow)
        assert sidecar.put_server("one", {"weight": 77}).status_code == 200
        other = pool.submit(add(sidecar, "other"))
        (tmp_path / "load").touch()
        until(lambda: worker(sidecar) != former)
        assert sidecar.put_server("one", {"weight": 78}).status_code == 200
        assert not slow.done()
        (tmp_path / "go").touch()
        assert slow.result(timeout=60).status_code == 201
        assert other.result(timeout=60).status_code == 409, "the live changes came first"
        assert sidecar.haproxy.ask("get weight app/one").startswith("78 ")
        assert SLOW in sidecar.haproxy.ask("show backend").split()
        assert sidecar.reloaded(add(sidecar, "last")())["status"] == "succeeded"
        assert sidecar.line("server one") == "server one 127.0.0.1:1 weight 78"


@pytest.mark.parametrize("loaded", [False, True])
def test_a_kill_while_haproxy_loads(tmp_path: Path, loaded: bool) -> None:
    """The new worker has loaded the text with or without a later change at runtime. The server that requested the reload is killed."""
    with beside(tmp_path, reload_cmd=reloading(tmp_path)) as sidecar:
        (tmp_path / "haproxy.pid").write_text(str(sidecar.haproxy.pid))
        former = worker(sidecar)
        first = add(sidecar, "first")()
        until((tmp_path / "begun").exists)
        if loaded:
            (tmp_path / "load").touch()
            until(lambda: worker(sidecar) != former)
        assert sidecar.put_server("one", {"weight": 77}).status_code == 200
        sidecar.kill()
        (tmp_path / "load").touch()
        until(lambda: worker(sidecar) != former)
        # The later change fails, and must not revert the first.
        script(tmp_path / "reload", "exit 1")
        (tmp_path / "go").touch()
        sidecar.start()
        assert sidecar.reloaded(first)["status"] == "succeeded"
        assert sidecar.reloaded(add(sidecar, "second")())["status"] == "failed"
        assert [sidecar.line(each) for each in ("backend first", "backend second", "server one")] == [
            "backend first from plain",
            "",
            "server one 127.0.0.1:1 weight 77",
        ]
        assert sidecar.haproxy.ask("get weight app/one").startswith("77 ")
        assert "first" in sidecar.haproxy.ask("show backend").split()
