"""Define wrong changes of every kind, and the state to compare before a change and after its rollback."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.acceptance.killer import wait_for_what_is_owed
from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.acceptance.web import Web
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.tls.pems import made
from tests.tls.site import served

CONFIG = (
    PLAIN
    + """\
frontend site from plain   # by hand
    bind 127.0.0.1:{site}
    bind 127.0.0.1:{tls} name tls ssl crt {directory}/ssl_certs_dir/site.pem
    http-request set-header x-app %[path,map({directory}/maps_dir/hosts.map,none)]
    default_backend app

# and between
backend app from plain
    retries 0
    server one 127.0.0.1:{one}  weight 10
    server two 127.0.0.1:{one} weight 20   # spare

backend idle from plain
    server one 127.0.0.1:{one}
"""
)
MAP_TEXT = "# by hand\n\n/a one\n/b  two\n"
PEMS = [made("one.example", serial).pem for serial in (17, 18)]
STORAGE, RUNTIME, CONFIRMATIONS = f"{SERVICES}/storage", f"{SERVICES}/runtime", "/v3/sidecar/confirmations"
# The header that the server writes.
HEADER = re.compile(rb"(# .*\n)*")
SERIAL = re.compile(r"^Serial: (\w+)$", re.MULTILINE)
# How many seconds after its deadline a rollback may end. Reached only if the server hangs.
LATE = 60.0
SHORTEST = "2s"


class Site:
    """HAProxy with the server, and the state to compare before a change and after its rollback."""

    def __init__(self, sidecar: Quick, site: int, tls: int) -> None:
        self.sidecar, self.haproxy, self.tls = sidecar, sidecar.haproxy, tls
        self.url = f"http://127.0.0.1:{site}/"
        self.maps, self.certificates = (sidecar.directory / name for name in ("maps_dir", "ssl_certs_dir"))

    def seen(self) -> dict[str, Any]:
        """Return the files, and the state of the running process."""
        files = [*self.maps.iterdir(), *self.certificates.iterdir()]
        serial = SERIAL.search(self.haproxy.ask(f"show ssl cert {self.certificates}/site.pem"))
        entries = self.haproxy.ask(f"show map {self.maps}/hosts.map").splitlines()
        return {
            "haproxy.cfg": HEADER.sub(b"", self.haproxy.file.read_bytes(), count=1),
            **{path.name: path.read_bytes() for path in files},
            "serial": (int(serial[1], 16), served(self.tls, "one.example")) if serial else None,
            "map": [line.split(" ", 1)[1] for line in entries if line],
            "servers": [
                (backend, row.name, row.address, row.port, row.uweight, row.admin_state)
                for backend in ("app", "idle")
                for name in ("one", "two")
                if (row := self.sidecar.server(name, backend))
            ],
            "status": httpx2.get(self.url, timeout=60, verify=False).status_code,
        }

    def send(self, method: str, path: str, body: Any = None, **more: Any) -> httpx2.Response:
        """Send a request. A change of the configuration has its version."""
        if not path.startswith("/"):
            more["version"] = self.sidecar.version()
        return self.sidecar.ask(method, path, body, **more)

    def worker(self) -> int:
        return self.haproxy.worker_pid()

    def ended(self, location: str, seconds: float) -> dict[str, Any]:
        """Wait until a confirmation has ended, and return it."""
        deadline = time.monotonic() + seconds
        while (found := self.sidecar.get(location).json())["status"] in ("open", "pending"):
            assert time.monotonic() < deadline, found
            time.sleep(0.02)
        return dict(found)

    def check_return(self, location: str, before: dict[str, Any]) -> None:
        """Assert that the change is rolled back at its deadline, and that the state is as before the change."""
        found = self.ended(location, 2 + LATE)
        assert found["status"] == "returned", found
        wait_for_what_is_owed(self.sidecar)
        assert self.seen() == before


@contextmanager
def site_of(directory: Path, web: Web) -> Iterator[Site]:
    for name in ("maps_dir", "ssl_certs_dir"):
        (directory / name).mkdir()
    (directory / "maps_dir" / "hosts.map").write_text(MAP_TEXT)
    (directory / "ssl_certs_dir" / "site.pem").write_text(PEMS[0])
    site, tls = free_port(), free_port()
    config = CONFIG.format(site=site, tls=tls, directory=directory, one=web.ports["one"])
    with HAProxy(directory, config, binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy) as sidecar:
        yield Site(sidecar, site, tls)


Change = Callable[..., httpx2.Response]


def a_server_without_weight(site: Site, **more: Any) -> httpx2.Response:
    return site.sidecar.put_server("one", {"weight": 0}, version=site.sidecar.version(), **more)


def a_server_at_a_dead_address(site: Site, **more: Any) -> httpx2.Response:
    return site.sidecar.put_server("one", {"port": 1}, version=site.sidecar.version(), **more)


def a_server_lost(site: Site, **more: Any) -> httpx2.Response:
    return site.send("DELETE", "backends/app/servers/two", **more)


def a_backend_that_answers_503(site: Site, **more: Any) -> httpx2.Response:
    rule = {"type": "return", "return_status_code": 503}
    return site.send("POST", "backends/app/http_request_rules/0", rule, **more)


def a_port_lost(site: Site, **more: Any) -> httpx2.Response:
    return site.send("DELETE", "frontends/site/binds/tls", **more)


def a_backend_lost(site: Site, **more: Any) -> httpx2.Response:
    return site.send("DELETE", "backends/idle", **more)


def a_transaction_of_many(site: Site, **more: Any) -> httpx2.Response:
    sidecar, id_ = site.sidecar, site.sidecar.transaction()
    for answer in (
        sidecar.post("backends", {"name": "more", "from": "plain"}, transaction_id=id_),
        sidecar.delete("backends/app/servers/two", transaction_id=id_),
        sidecar.put_server("one", {"weight": 1}, transaction_id=id_),
    ):
        assert answer.is_success, answer.text
    return sidecar.commit(id_, **more)


def a_text_without_comments(site: Site, **more: Any) -> httpx2.Response:
    text = re.sub(r" *#.*\n", "\n", site.sidecar.text())
    return site.send("POST", "raw", text.replace("weight 20", "weight 21"), skip_version=True, **more)


def a_wrong_certificate(site: Site, **more: Any) -> httpx2.Response:
    return site.sidecar.put(f"{STORAGE}/ssl_certificates/site.pem", PEMS[1], **more)


def a_wrong_map(site: Site, **more: Any) -> httpx2.Response:
    return site.sidecar.put(f"{STORAGE}/maps/hosts.map", "/a three\n/c four\n", **more)


def a_map_emptied(site: Site, **more: Any) -> httpx2.Response:
    return site.sidecar.delete(f"{RUNTIME}/maps/hosts.map", force_sync=True, **more)


def an_entry_of_a_map(site: Site, **more: Any) -> httpx2.Response:
    return site.sidecar.put(f"{RUNTIME}/maps/hosts.map/entries/%2Fa", {"value": "three"}, force_sync=True, **more)


def a_file_too_many(site: Site, **more: Any) -> httpx2.Response:
    files = {"file_upload": ("new.map", b"a b\n", "text/plain")}
    return site.sidecar.client.post(f"{STORAGE}/maps", params=more, files=files)


LIVE: list[Change] = [
    a_server_without_weight,
    a_server_at_a_dead_address,
    a_server_lost,
    a_wrong_certificate,
    a_wrong_map,
    a_map_emptied,
    an_entry_of_a_map,
    a_file_too_many,
    a_text_without_comments,
]
RELOADED: list[Change] = [a_backend_that_answers_503, a_port_lost, a_backend_lost, a_transaction_of_many]
ALL = (*LIVE, *RELOADED)


def made_by(change: Change, site: Site, **more: Any) -> str:
    """Make a change that needs a confirmation, and return the path of the confirmation."""
    answer = change(site, **{"confirm": SHORTEST, **more})
    assert answer.is_success and "Location" in answer.headers, site.sidecar.why(answer)
    return str(answer.headers["Location"])
