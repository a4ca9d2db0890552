"""Put haproxy.cfg and stored files on the mounts of machines and containers: change them, edit them by hand, and recover after a crash."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.acceptance import mounts
from tests.acceptance.quick import PLAIN, SERVICES, Quick, is_live
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.until import until

pytestmark = pytest.mark.mounts
CONFIG = (
    PLAIN
    + """\
frontend site from plain
    bind 127.0.0.1:{site}
    http-request set-var(txn.a) path,map({etc}/maps/hosts.map)
    default_backend app

backend app from plain
    server one 127.0.0.1:1 weight 10   # the first
"""
)


class Place:
    """A mount. HAProxy and the server find the files in `etc`, others in `outside`. `renames` is whether others can replace a file."""

    renames = True

    def __init__(self, top: Path) -> None:
        self.top, self.etc, self.outside = top, top / "etc", top / "etc"
        (self.etc / "maps").mkdir(parents=True)
        self.mount()

    def mount(self) -> None:
        """Mount the directories, before the files are written."""

    def mount_files(self) -> None:
        """Mount the files, after they are written."""


class Memory(Place):
    def mount(self) -> None:
        mounts.memory(self.etc)
        (self.etc / "maps").mkdir()


class Coarse(Place):
    def mount(self) -> None:
        mounts.coarse(self.etc, self.top / "image")
        (self.etc / "maps").mkdir()


class Overlay(Place):
    def mount_files(self) -> None:
        (self.top / "upper").mkdir()
        mounts.overlay(self.etc, self.top / "upper", self.etc)


class SingleFiles(Place):
    """The mount of a container with `-v /srv/haproxy.cfg:/etc/haproxy/haproxy.cfg`."""

    renames = False

    def mount_files(self) -> None:
        self.outside = self.top / "outside"
        (self.outside / "maps").mkdir(parents=True)
        for name in ("haproxy.cfg", "maps/hosts.map"):
            (self.outside / name).write_bytes((self.etc / name).read_bytes())
            mounts.mount("--bind", self.outside / name, self.etc / name)


@pytest.fixture(params=[Overlay, *(pytest.param(each, marks=pytest.mark.soak) for each in (Coarse, SingleFiles, Memory))])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return request.param(tmp_path)


@pytest.fixture
def sidecar(place: Place) -> Iterator[Quick]:
    (place.etc / "maps" / "hosts.map").write_text("a 1\n")
    haproxy = HAProxy(place.etc, CONFIG.format(site=free_port(), etc=place.etc), binary=binaries.exactly("3.2"))
    place.mount_files()
    ours = {"resources": {"maps_dir": str(place.etc / "maps"), "dataplane_storage_dir": str(place.top / "state")}}
    with haproxy, Quick(haproxy, dataplaneapi=ours) as running:
        yield running


def in_place(path: Path, text: str) -> None:
    path.write_text(text)


def by_rename(path: Path, text: str) -> None:
    new = path.with_name("by-others")
    new.write_text(text)
    new.replace(path)


def edit_by_others(place: Place, sidecar: Quick, write: Callable[[Path, str], None], weight: int) -> None:
    """Edit the file as others do, and wait until the server has read it. The size stays the same, so only the time differs."""
    version, text = sidecar.version(), sidecar.text()
    write(place.outside / "haproxy.cfg", text.replace("weight ", f"weight {weight} #", 1)[: len(text)])
    until(lambda: sidecar.version() > version, "not noticed")
    assert sidecar.get("backends/app/servers/one").json()["weight"] == weight


def test_a_life_on_it(place: Place, sidecar: Quick) -> None:
    if isinstance(place, Coarse):
        # It is unknown whether a worker that started in the same second has read the file.
        assert sidecar.reloaded(sidecar.put_server("one", {"weight": 15}))["status"] == "succeeded"
    answer = sidecar.put_server("one", {"weight": 20})
    assert is_live(answer), sidecar.why(answer)
    assert sidecar.line("server one") == "server one 127.0.0.1:1 weight 20   # the first"
    answer = sidecar.put("backends/app", {"name": "app", "from": "plain", "queue_timeout": 1234}, version=sidecar.version())
    assert sidecar.reloaded(answer)["status"] == "succeeded"
    assert sidecar.line("timeout queue") == "timeout queue 1234ms"
    for write, weight in ((in_place, 30), (in_place, 31), *([(by_rename, 32)] if place.renames else [])):
        edit_by_others(place, sidecar, write, weight)
    assert sidecar.put(f"{SERVICES}/storage/maps/hosts.map", "b 2\n# kept\n").status_code == 200
    assert (place.outside / "maps" / "hosts.map").read_text() == "b 2\n# kept\n"
    assert sidecar.haproxy.ask(f"show map {place.etc}/maps/hosts.map").split()[1:] == ["b", "2"]
    version = sidecar.version()
    sidecar.kill()
    sidecar.start()
    assert sidecar.version() == version
    assert (place.outside / "haproxy.cfg").read_text() == sidecar.text()
    assert sorted(path.name for path in (place.etc / "maps").iterdir()) == ["hosts.map"]
    until(lambda: not list(place.etc.glob(".*")), "a draft is left")
