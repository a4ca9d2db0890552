"""Set addresses in every notation, by every call. After a change at runtime, HAProxy must agree with a new process for the file.

HAProxy's socket accepts host names but does not resolve them. Only IP addresses with plain ports and Unix sockets are set at runtime; all
else is reloaded.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer
from threading import Thread
from typing import Any

import httpx2
import pytest

from haproxy_native.discovery.backends import ServiceEndpoint
from haproxy_native.discovery.definitions import DiscoveryTable, complete_definition
from haproxy_native.discovery.poller import ServiceCatalog
from haproxy_native.discovery.reconciler import Reconciler
from haproxy_native.editing.editor import Editor
from haproxy_native.request_context import NOBODY
from tests.acceptance.effective import differences, effective, fresh
from tests.acceptance.quick import SERVICES, Quick, is_live
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import reload, run, running_engine

CONFIG = """\
global
    stats socket {stats} level admin

defaults base
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s

backend app from base
    balance roundrobin
    server one 127.0.0.1:1
"""
# Fields of `effective` with the addresses of a server, its checks and its agent.
ADDRESSES = (" address", " fqdn", " port", " addr", " check to", " agent to")
AGENT = "agent-check agent-port 9 agent-inter 1h"
AGENT_MEMBERS = {"agent-check": "enabled", "agent-port": 9, "agent-inter": 3_600_000}


@dataclass(frozen=True)
class Row:
    """A server, as words after its name and as members, and whether it can be set at runtime. With `everywhere`, every call tries it."""

    words: str
    members: dict[str, Any]
    live: bool
    everywhere: bool = False

    @property
    def changes_live(self) -> bool:
        """Return whether an existing server can be changed to this one at runtime."""
        return self.live and " " not in self.words and "port" in self.members

    def body(self, name: str = "two", **more: Any) -> dict[str, Any]:
        return {"name": name, **self.members, **more}


ROWS = [
    Row("127.0.0.1:9", {"address": "127.0.0.1", "port": 9}, live=True, everywhere=True),
    Row("127.0.0.1", {"address": "127.0.0.1"}, live=True),
    Row("127.0.0.1:0009", {"address": "127.0.0.1", "port": 9}, live=True),
    Row("0.0.0.0:9", {"address": "0.0.0.0", "port": 9}, live=True),
    Row("224.0.0.1:9", {"address": "224.0.0.1", "port": 9}, live=True),
    Row("[::1]:9", {"address": "::1", "port": 9}, live=True, everywhere=True),
    Row("::ffff:127.0.0.1:9", {"address": "::ffff:127.0.0.1", "port": 9}, live=True),
    Row(f"127.0.0.1:9 {AGENT} agent-addr ::1", {"address": "127.0.0.1", "port": 9, **AGENT_MEMBERS, "agent-addr": "::1"}, live=True),
    Row(
        "127.0.0.1:9 port 8 addr [::1]",
        {"address": "127.0.0.1", "port": 9, "health_check_port": 8, "health_check_address": "[::1]"},
        live=True,
    ),
    Row("localhost:9", {"address": "localhost", "port": 9}, live=False, everywhere=True),
    Row("nosuch.invalid:9 init-addr none", {"address": "nosuch.invalid", "port": 9, "init-addr": "none"}, live=False),
    Row("127.1:9", {"address": "127.1", "port": 9}, live=False, everywhere=True),
    Row("2130706433:9", {"address": "2130706433", "port": 9}, live=False),
    Row("ipv4@127.0.0.1:9", {"address": "ipv4@127.0.0.1", "port": 9}, live=False),
    Row("*:9", {"address": "*", "port": 9}, live=False),
    Row("/run/app.sock", {"address": "/run/app.sock"}, live=True),
    Row("unix@/run/app.sock", {"address": "unix@/run/app.sock"}, live=True, everywhere=True),
    Row("abns@app", {"address": "abns@app"}, live=True),
    Row("fd@7", {"address": "fd@7"}, live=False),
    Row("127.0.0.1:0", {"address": "127.0.0.1", "port": 0}, live=False),
    Row("127.0.0.1:+9", {"address": "127.0.0.1:+9"}, live=False),
    Row("127.0.0.1:", {"address": "127.0.0.1:"}, live=False),
    Row(
        f"127.0.0.1:9 {AGENT} agent-addr localhost",
        {"address": "127.0.0.1", "port": 9, **AGENT_MEMBERS, "agent-addr": "localhost"},
        live=False,
    ),
    Row(
        "127.0.0.1:9 addr localhost", {"address": "127.0.0.1", "port": 9, "health_check_address": "localhost"}, live=False, everywhere=True
    ),
    Row("127.0.0.1:9 addr [::1:5]", {"address": "127.0.0.1", "port": 9, "health_check_address": "::1:5"}, live=True),
    Row("127.0.0.1:9 source localhost", {"address": "127.0.0.1", "port": 9, "source": "localhost"}, live=False),
]


def by_call(sidecar: Quick, row: Row) -> httpx2.Response:
    return sidecar.post("backends/app/servers", row.body(), version=sidecar.version())


def by_change(sidecar: Quick, row: Row) -> httpx2.Response:
    return sidecar.put("backends/app/servers/one", row.body("one"), version=sidecar.version())


def in_a_transaction(sidecar: Quick, row: Row) -> httpx2.Response:
    transaction = sidecar.transaction()
    answer = sidecar.post("backends/app/servers", row.body(), transaction_id=transaction)
    return sidecar.commit(transaction) if answer.is_success else answer


def by_a_raw_push(sidecar: Quick, row: Row) -> httpx2.Response:
    return sidecar.post("raw", f"{sidecar.get('raw').text}    server two {row.words}\n", version=sidecar.version())


def by_a_whole_section(sidecar: Quick, row: Row) -> httpx2.Response:
    backend = sidecar.get("backends/app", full_section=True).json()
    changed = {**backend, "servers": {**backend["servers"], "two": row.body()}}
    return sidecar.put("backends/app", changed, version=sidecar.version(), full_section=True)


def by_apply(sidecar: Quick, row: Row) -> httpx2.Response:
    text = f"backend app from base\n    balance roundrobin\n    server one 127.0.0.1:1\n    server two {row.words}\n"
    return sidecar.put("/v3/sidecar/apply", text, owner="team", force=True)


def with_a_new_backend(sidecar: Quick, row: Row) -> httpx2.Response:
    backend = {"name": "new", "from": "base", "servers": {"two": row.body()}}
    return sidecar.post("backends", backend, version=sidecar.version(), full_section=True)


Road = Callable[[Quick, Row], httpx2.Response]


def running(version: str, directory: Path) -> Iterator[Quick]:
    with HAProxy(directory, CONFIG, binary=binaries.exactly(version)) as haproxy, Quick(haproxy) as sidecar:
        yield sidecar


# The oldest version. `make soak` uses the others as well.
@pytest.fixture(scope="module", params=["2.6", *(pytest.param(each, marks=pytest.mark.soak) for each in ("2.8", "3.0", "3.2"))])
def each(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    yield from running(request.param, tmp_path_factory.mktemp("addresses"))


@pytest.fixture(scope="module")
def newest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    yield from running("3.4", tmp_path_factory.mktemp("newest"))


@pytest.fixture(autouse=True)
def restored(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run a server, and restore its configuration to `CONFIG` after the test."""
    yield
    for name in {"each", "newest"} & set(request.fixturenames):
        sidecar = request.getfixturevalue(name)
        settle(sidecar, sidecar.post("raw", CONFIG.replace("{stats}", str(sidecar.haproxy.stats)), skip_version=True))


def settle(sidecar: Quick, answer: httpx2.Response) -> bool:
    """Wait for the reload of an answer, and return whether there was none. Assert that an answer 4xx has changed nothing."""
    assert answer.status_code < 500, answer.text
    if answer.status_code == 202:
        assert sidecar.reloaded(answer)["status"] == "succeeded"
    return is_live(answer)


def unlike_fresh_ones(haproxy: HAProxy) -> list[str]:
    """Return how addresses and ports, including those of checks and agents, differ from a new process."""
    text = haproxy.file.read_text().replace(str(haproxy.stats), "{stats}")
    with fresh(haproxy.directory / "fresh", haproxy.binary, text) as send:
        shown = ({name: value for name, value in effective(ask).items() if name.endswith(ADDRESSES)} for ask in (haproxy.ask, send))
        return differences(*shown)


def judge(sidecar: Quick, answer: httpx2.Response, *, live: bool) -> None:
    """Assert that the change was made at runtime if expected, and that HAProxy then agrees with a new process."""
    is_done = settle(sidecar, answer)
    assert not is_done or unlike_fresh_ones(sidecar.haproxy) == []
    assert is_done == live, sidecar.why(answer)


def with_soak(rows: list[Row], is_first: Callable[[Row], bool]) -> pytest.MarkDecorator:
    """Parametrize a test by rows. `make test` runs only those for which `is_first` returns True."""
    values = [pytest.param(row, id=row.words, marks=() if is_first(row) else pytest.mark.soak) for row in rows]
    return pytest.mark.parametrize("row", values)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.words)
def test_live_is_what_the_file_says(newest: Quick, row: Row) -> None:
    judge(newest, by_call(newest, row), live=row.live)


@with_soak(ROWS, lambda row: row.everywhere)
def test_each_version_runs_what_the_file_says(each: Quick, row: Row) -> None:
    judge(each, by_call(each, row), live=row.live)


@with_soak(ROWS, lambda row: row.everywhere)
def test_a_server_that_changes(newest: Quick, row: Row) -> None:
    judge(newest, by_change(newest, row), live=row.changes_live)


@pytest.mark.soak
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.words)
def test_a_server_that_changes_beside_each_version(each: Quick, row: Row) -> None:
    judge(each, by_change(each, row), live=row.changes_live)


EVERYWHERE = [row for row in ROWS if row.everywhere]
# One row that is set at runtime, and one that is not.
FEW = ("[::1]:9", "localhost:9")


@with_soak(EVERYWHERE, lambda row: row.words in FEW)
@pytest.mark.parametrize("road", [in_a_transaction, by_a_raw_push, by_a_whole_section, by_apply, with_a_new_backend])
def test_whichever_call_brings_it(newest: Quick, road: Road, row: Row) -> None:
    planned = newest.post("/v3/sidecar/plan", f"{newest.get('raw').text}    server two {row.words}\n").json()
    assert planned["reload"] == (not row.live)
    judge(newest, road(newest, row), live=row.live)


@with_soak(EVERYWHERE, lambda row: row.words in FEW)
def test_one_that_is_enabled_later(newest: Quick, row: Row) -> None:
    judge(newest, newest.post("backends/app/servers", row.body(maintenance="enabled"), version=newest.version()), live=row.live)
    judge(newest, newest.put_server("two", {"maintenance": "disabled"}), live=True)


@pytest.mark.parametrize("row", EVERYWHERE, ids=lambda row: row.words)
def test_what_is_added_to_the_process_alone(newest: Quick, row: Row) -> None:
    answer = newest.post(f"{SERVICES}/runtime/backends/app/servers", row.body())
    assert answer.status_code == (201 if row.live else 400)
    assert row.live or "is not an IP address" in answer.text
    if row.live:
        assert newest.delete(f"{SERVICES}/runtime/backends/app/servers/two").status_code == 204


@pytest.mark.parametrize("version", ["2.6", "3.4"])
@pytest.mark.parametrize("family", ["", "unix@", "uxst@", "abns@"])
def test_traffic_through_a_unix_socket(tmp_path: Path, version: str, family: str) -> None:
    """`show servers state` does not show paths, so requests find out where an added server is."""
    port, path = free_port(), tmp_path / "app.sock"
    name = f"app-{port}" if family == "abns@" else str(path)
    text = f"{CONFIG.replace('server one 127.0.0.1:1', '')}\nfrontend site from base\n    bind 127.0.0.1:{port}\n    default_backend app\n"
    with HAProxy(tmp_path, text, binary=binaries.exactly(version)) as haproxy, Quick(haproxy) as sidecar, answering(family, name):
        body = {"name": "two", "address": family + name}
        for there in ("backends/app/servers", f"{SERVICES}/runtime/backends/app/servers"):
            answer = sidecar.post(there, body, **({} if "runtime" in there else {"version": sidecar.version()}))
            assert is_live(answer), answer.text
            haproxy.ask("set server app/two state ready")
            assert httpx2.get(f"http://127.0.0.1:{port}/", timeout=60).text == "from the socket"
            haproxy.ask("set server app/two state maint")
            haproxy.ask("del server app/two")
            assert "two" not in haproxy.ask("show servers state app")


@contextmanager
def answering(family: str, name: str) -> Iterator[None]:
    """Run an HTTP server on a Unix socket."""

    class Answer(StreamRequestHandler):
        def handle(self) -> None:
            self.rfile.readline()
            self.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: 15\r\n\r\nfrom the socket")

    place = ("\0" + name).ljust(108, "\0") if family == "abns@" else name
    with ThreadingUnixStreamServer(place, Answer) as server:
        Thread(target=server.serve_forever, args=(0.05,)).start()
        yield
        server.shutdown()


@pytest.mark.parametrize("address", ["::1", "localhost", *(pytest.param(each, marks=pytest.mark.soak) for each in ("127.0.0.9", "127.1"))])
def test_what_a_source_of_services_finds(tmp_path: Path, address: str) -> None:
    """The source adds a backend. Its free slots have addresses that the server chooses."""
    definition = complete_definition(
        {"address": "agent", "port": 8500, "enabled": True, "retry_timeout": 1, "defaults": "base"}, "7", consul=True
    )

    class Source:
        prefix = "c-"

    async def work() -> None:
        async with running_engine(tmp_path, haproxy) as engine:
            reconciler = Reconciler(engine, Editor(), DiscoveryTable(engine.database))
            troubles, reload_id = await reconciler.apply(
                definition, Source(), ServiceCatalog({"web": (ServiceEndpoint(address, 9),)}), NOBODY
            )
            assert troubles == []
            assert bool(reload_id) == (address in ("localhost", "127.1"))
            if reload_id:
                assert (await reload(engine)).status == "succeeded"
            assert unlike_fresh_ones(haproxy) == []

    with HAProxy(tmp_path, CONFIG, binary=binaries.exactly("3.4")) as haproxy:
        run(work())
