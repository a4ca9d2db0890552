"""While one client asks for a lot, the others do not wait: each large request beside one that asks a small thing again and again."""

import http.client
import itertools
import json
import socket
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.quick import PLAIN, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import CONFIGURATION, USER
from tests.until import until

CONFIG = PLAIN + "backend app from plain\n    server one 127.0.0.1:1\n\nfrontend site from plain\n    bind 127.0.0.1:{site}\n"
LOGIN = {"Authorization": "Basic " + b64encode(":".join(USER).encode()).decode()}
# Seconds; on a quiet machine it is 0.05 at most. Others use the processors, too, hence the second term: so many times the usual wait.
MOST, TIMES, TRIES = 0.15, 5, 3
TICK = 0.01
# Seconds that a client waits for a large answer; it takes 4 at most on a quiet machine.
PATIENCE = 60
MANY = 10_000
SERVERS = {f"s{i}": {"name": f"s{i}", "address": "127.0.0.1", "port": 1 + i, "weight": 10} for i in range(MANY)}
RULES = [{"type": "deny", "cond": "if", "cond_test": f"{{ path /{i} }}"} for i in range(MANY)]
MILLION = 1_000_000
ALIKE = "backend b\n    server s 127.0.0.1:1\n\n" * MANY
BACKENDS = "".join(f"backend b{i}\n    server s 127.0.0.1:1\n\n" for i in range(MANY))


TIMES_OUT = "".join(f"    timeout {side} 1s\n" for side in ("connect", "client", "server"))
SECTIONS = f"defaults plain\n    mode http\n{TIMES_OUT}\nfrontend f from plain\n    bind 127.0.0.1:1\n\n"


def _asked(config: str) -> dict[str, str]:
    return {"config": config, "method": "GET", "url": "http://127.0.0.1:1/"}


@dataclass(frozen=True)
class Large:
    """`codes`: what it may be answered with."""

    what: str
    method: str
    path: str
    body: Any
    codes: tuple[int, ...]
    query: str = "version=1"

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()

    @property
    def kind(self) -> str:
        return "text/plain" if self.path.endswith(("raw", "plan", "apply")) else "application/json"


LARGE = [
    Large("a long name", "POST", "backends", {"name": "a" * 999_000}, (422,)),
    Large("a very long name", "POST", "backends", {"name": "a" * 5_000_000}, (422,), "version=1&full_section=true"),
    Large(
        "many servers", "POST", "backends", {"name": "big", "servers": SERVERS, "from": "nothing"}, (400,), "version=1&full_section=true"
    ),
    Large(
        "many wrong servers", "POST", "backends", {"name": "x", "servers": {f"s{i}": {} for i in range(MANY)}}, (422,), "full_section=true"
    ),
    Large(
        "many servers of a section",
        "PUT",
        "backends/app",
        {"name": "app", "from": "plain", "servers": SERVERS},
        (202,),
        "full_section=true&transaction_id={transaction}",
    ),
    Large("many servers, read", "GET", "backends/app", b"", (200,), "full_section=true&transaction_id={transaction}"),
    Large("a name of many escapes", "POST", "backends/app/servers", {"name": "\\" * 60_000, "address": "::1"}, (400,)),
    Large("many rules", "PUT", "backends/app/http_request_rules", RULES, (202,), "transaction_id={transaction}"),
    Large("many rules, read", "GET", "backends/app/http_request_rules", b"", (200,), "transaction_id={transaction}"),
    Large("many digits", "POST", "backends/app/servers", b'{"name":"n","address":"::1","port":' + b"1" * 900_000 + b"}", (400,)),
    Large("many members", "POST", "backends/app/servers", {"name": "n"} | dict.fromkeys(map(str, range(20_000)), 0), (422,)),
    Large("deep", "POST", "backends/app/servers", b"[" * 900_000, (400,)),
    Large("many empty texts", "PUT", "backends/app/http_request_rules", b"[" + b'"",' * 1_000_000 + b'""]', (400,)),
    Large("empty lines", "POST", "raw", b"\n" * 20_000_000, (400,), "only_validate=true"),
    Large("one line", "POST", "raw", b"x" * 20_000_000 + b"\n", (400,), "only_validate=true"),
    Large("no characters", "POST", "raw", b"\xff" * 5_000_000 + b"\n", (400,), "only_validate=true"),
    Large("many sections", "POST", "raw", (SECTIONS + BACKENDS).encode(), (202,), "only_validate=true"),
    Large("a plan", "POST", "/v3/sidecar/plan", (SECTIONS + BACKENDS).encode(), (200,), ""),
    Large("a plan of backends of one name", "POST", "/v3/sidecar/plan", (SECTIONS + ALIKE).encode(), (200,), ""),
    Large("a plan of empty lines", "POST", "/v3/sidecar/plan", (SECTIONS + "\n" * MILLION).encode(), (200,), ""),
    Large("backends applied", "PUT", "/v3/sidecar/apply", (SECTIONS + BACKENDS).encode(), (200,), "owner=x&dry_run=true"),
    Large("empty lines applied", "PUT", "/v3/sidecar/apply", (SECTIONS + "\n" * MILLION).encode(), (200,), "owner=x&dry_run=true"),
    Large("backends explained", "POST", "/v3/sidecar/explain", _asked(SECTIONS + BACKENDS), (200,), ""),
    Large("empty lines explained", "POST", "/v3/sidecar/explain", _asked(SECTIONS + "\n" * MILLION), (200,), ""),
    Large("a long query", "GET", "backends", b"", (400,), "a=b&" * 15_000),
    Large("a long path", "GET", "/" + "a/" * 30_000, b"", (404,), ""),
]


@dataclass
class Others:
    """Asks for the version, again and again; `waits` are how long each answer took, in seconds."""

    port: int
    waits: list[float] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)) as connection:
            while not self.ended.is_set():
                began = time.perf_counter()
                connection.request("GET", f"{CONFIGURATION}/version", headers=LOGIN)
                assert connection.getresponse().read()
                self.waits.append(time.perf_counter() - began)
                time.sleep(TICK)

    def percentile(self) -> float:
        """The 99th, of what one who comes at any moment waits: a long wait holds up all who come meanwhile."""
        waits = sorted(each - past * TICK for each in self.waits for past in range(1 + int(each / TICK)))
        return waits[len(waits) * 99 // 100]


def waited(port: int, work: Any) -> float:
    """The 99th percentile of the others' waits while the work is done, and for a second at least."""
    others = Others(port)
    thread = threading.Thread(target=others.run)
    thread.start()
    end = time.monotonic() + 1
    try:
        work()
        time.sleep(max(0.0, end - time.monotonic()))
    finally:
        others.ended.set()
        thread.join()
    return others.percentile()


def assert_short(port: int, work: Callable[[], None]) -> None:
    """The others' waits are while the work is done, or when it is done again: other processes may make them longer, but not each time."""
    waits: list[float] = []
    while len(waits) < TRIES:
        waits.append(waited(port, work))
        if waits[-1] < MOST or waits[-1] < TIMES * waited(port, lambda: None):
            return
    raise AssertionError(f"the others wait {waits} s")


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    directory = tmp_path_factory.mktemp("large")
    with HAProxy(directory, CONFIG.format(site=free_port()), binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy) as running:
        yield running


@pytest.fixture(scope="module")
def transaction(sidecar: Quick) -> str:
    return sidecar.transaction()


@pytest.mark.parametrize("large", LARGE, ids=lambda large: large.what)
def test_the_others_do_not_wait(sidecar: Quick, transaction: str, large: Large) -> None:
    path = large.path if large.path.startswith("/") else f"{CONFIGURATION}/{large.path}"
    content, query = large.content, large.query.format(transaction=transaction)

    def ask() -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", sidecar.port, timeout=PATIENCE)) as connection:
            connection.request(large.method, f"{path}?{query}", content or None, {**LOGIN, "Content-Type": large.kind})
            answer = connection.getresponse()
            said = answer.read()
        assert answer.status in large.codes, (answer.status, said[:1000])
        assert answer.status < 400 or len(json.loads(said)["message"].partition("\n")[0]) <= 300

    assert_short(sidecar.port, ask)


def test_an_edit_by_hand_and_what_it_differs_in(tmp_path: Path) -> None:
    """A large text is read as soon as it is there; a plan compares it with another order of its lines."""
    config = CONFIG.format(site=free_port())
    reordered = (SECTIONS + "".join(f"backend b{i}\n    server s 127.0.0.1:1\n\n" for i in range(MANY, 0, -1))).encode()
    with HAProxy(tmp_path, config, binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy) as sidecar:
        text, lines = haproxy.file.read_text(), itertools.count(1)

        def edit() -> None:
            before = sidecar.version()
            haproxy.file.write_text(text + "\n" * next(lines) + BACKENDS)
            until(lambda: sidecar.version() > before)

        def plan() -> None:
            answer = sidecar.client.post("/v3/sidecar/plan", content=reordered, headers={"Content-Type": "text/plain"}, timeout=PATIENCE)
            assert answer.json()["diff"].count("\n") > MANY

        assert_short(sidecar.port, edit)
        assert_short(sidecar.port, plan)


def test_a_check_ends_with_its_client(tmp_path: Path) -> None:
    """What the command starts is ended, too."""
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
