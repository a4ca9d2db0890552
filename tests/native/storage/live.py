"""An engine with a store of maps beside a HAProxy that answers requests from one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from haproxy_native.disk.directories import Directory
from haproxy_native.engine import Engine
from haproxy_native.request_context import NOBODY
from haproxy_native.storage.list_store import MapStore
from haproxy_native.storage.live_lists import stored_map
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import run, running_engine

OWN = "# by hand\none  1\n\n# the second\ntwo two words\n"
CONFIG = """\
global
  stats socket {{stats}} mode 600 level admin

defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s

frontend web
  bind 127.0.0.1:{port}
  http-request set-var(txn.value) path,map({maps}/hosts.map,none)
  http-request deny if {{ src,map_ip({maps}/ip.map) -m found }}
  http-request return status 200 content-type text/plain lf-string %[var(txn.value)]
"""


class Beside:
    """`haproxy` and its directory of maps; `get` is what a request for a key is answered with."""

    def __init__(self, haproxy: HAProxy, port: int) -> None:
        self.haproxy, self.port = haproxy, port
        self.maps = haproxy.directory / "maps"
        self.file = self.maps / "hosts.map"

    def get(self, key: str) -> str:
        return httpx2.get(f"http://127.0.0.1:{self.port}{key}", timeout=60).text

    def shown(self) -> list[str]:
        return [line.split(" ", 1)[1] for line in self.haproxy.ask(f"show map {self.file}").splitlines() if line]

    def with_engine(self, work) -> None:
        """`work(engine, the live map)`, from OWN in the file and in the process."""
        self.file.write_text(OWN)
        run(self._work(work))

    def again(self, work) -> None:
        """The same with what is there."""
        run(self._work(work, fresh=False))

    async def _work(self, work, *, fresh: bool = True) -> None:
        directories = {"maps": Directory(self.maps, "maps_dir")}
        async with running_engine(self.haproxy.directory, self.haproxy, directories=directories) as engine:
            store = engine.stores["maps"]
            assert isinstance(store, MapStore)
            if fresh:
                await put(engine, OWN)
            await work(engine, stored_map(engine.context, store, self.file, NOBODY))


async def put(engine: Engine, text: str, **how):
    upload = engine.stores["maps"].upload_existing("hosts.map", author=NOBODY)
    try:
        await upload.append(text.encode())
        return await upload.commit(engine.context, **how)
    finally:
        upload.discard()


@contextmanager
def beside(directory: Path, binary: str) -> Iterator[Beside]:
    (directory / "maps").mkdir()
    (directory / "maps" / "hosts.map").write_text(OWN)
    (directory / "maps" / "ip.map").write_text("192.0.2.1 x\n")
    port = free_port()
    with HAProxy(directory, CONFIG.format(port=port, maps=directory / "maps"), binary=binary) as haproxy:
        yield Beside(haproxy, port)
