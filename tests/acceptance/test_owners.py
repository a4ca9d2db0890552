"""Check the owners of objects before and after a reload, and after a kill."""

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.quick import PLAIN
from tests.acceptance.test_apply import CONFIG, Applied
from tests.databases import stored
from tests.haproxy.process import HAProxy, free_port


@pytest.fixture
def sidecar(tmp_path: Path, haproxy_binary: str) -> Iterator[Applied]:
    config = (PLAIN + CONFIG).format(site=free_port())
    with HAProxy(tmp_path, config, binary=haproxy_binary) as haproxy, Applied(haproxy, delay=500) as running:
        yield running


def declared_objects(sidecar: Applied) -> dict[str, list[str]]:
    return {each["owner"]: [held["object"] for held in each["objects"]] for each in sidecar.get("/v3/sidecar/owners").json()}


def loaded(sidecar: Applied, done: httpx2.Response, status: str = "succeeded") -> None:
    assert done.status_code in (200, 202), done.text
    if reload := done.headers.get("Reload-Id"):
        assert sidecar.outcome(reload)["status"] == status


STICKY = "backend {name} from plain\n    stick-table type ip size 1k\n    stick on src\n    balance source\n"


def test_what_is_given_up_by_a_reload_is_nobodys(sidecar: Applied) -> None:
    own, common = (STICKY.format(name=each) for each in ("own", "common"))
    loaded(sidecar, sidecar.apply(own + common))
    loaded(sidecar, sidecar.apply(common, owner="team-b"))
    gone = sidecar.apply("")
    assert gone.status_code == 202 and gone.json()["deleted"] == ["backend/own"], gone.text
    assert declared_objects(sidecar) == {"team-b": ["backend/common"]}, "at once"
    loaded(sidecar, gone)
    other = sidecar.apply(common.replace("source", "first"), owner="team-b")
    loaded(sidecar, other)
    assert "team-a" not in stored(sidecar.directory / "dataplane/engine/state", "owner"), other.text
    assert sidecar.apply("", owner="team-b").json()["deleted"] == ["backend/common"] and declared_objects(sidecar) == {}


def test_what_a_failed_reload_puts_back_is_its_owners_again(sidecar: Applied) -> None:
    loaded(sidecar, sidecar.apply(STICKY.format(name="own")))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        text = f"frontend other from plain\n    bind 127.0.0.1:{taken.getsockname()[1]}\n    default_backend shop\n"
        loaded(sidecar, sidecar.apply(text), "failed")
    assert declared_objects(sidecar) == {"team-a": ["backend/own"]} and "frontend other" not in sidecar.text()
    sidecar.stop()
    sidecar.start()
    gone = sidecar.apply("")
    assert gone.json()["deleted"] == ["backend/own"] and declared_objects(sidecar) == {}, gone.text
    loaded(sidecar, gone)


def test_what_is_given_up_before_a_kill(sidecar: Applied) -> None:
    """The reload of the next process decides whether the owner has given up the object."""
    loaded(sidecar, sidecar.apply(STICKY.format(name="own")))
    gone = sidecar.apply("")
    assert gone.status_code == 202 and declared_objects(sidecar) == {}, gone.text
    sidecar.kill()
    sidecar.start()
    assert declared_objects(sidecar) == {}
    loaded(sidecar, gone)
    assert sidecar.apply(STICKY.format(name="own").replace("source", "first"), owner="team-b").status_code == 202
    assert list(declared_objects(sidecar)) == ["team-b"]
    assert "team-a" not in stored(sidecar.directory / "dataplane/engine/state", "owner")
