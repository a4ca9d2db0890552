"""Send random requests to the running server with a real HAProxy: valid and invalid requests, and data that is no HTTP.

No answer may be 5xx. HAProxy must accept the file at every moment, and the memory of the server must not grow.
"""

import contextlib
import http.client
import json
import re
import socket
import subprocess
import time
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from dataplaneapi.api.operations import Operation, operations
from haproxy_native.grammar.load import bundle
from tests.acceptance.bodies import Bodies
from tests.acceptance.quick import PLAIN, Quick
from tests.acceptance.targets import target
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER

CONFIG = PLAIN + "frontend one\n    bind 127.0.0.1:{site} name one\n    default_backend one\n\nbackend one\n    server one 127.0.0.1:1\n"
BASIC = {"Authorization": "Basic " + b64encode(":".join(USER).encode()).decode()}
# Data that is no valid HTTP. After any answer to it, the server must accept the next request.
NO_HTTP = [
    b"",
    b"\0" * 100,
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /v3/info HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"POST /v3/services/haproxy/configuration/backends HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /v3/services/haproxy/configuration/raw HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nshort",
    b"GET /%zz%00/..%2f..%2fetc HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    b"GET /v3/info HTTP/1.1\r\n" + b"X: y\r\n" * 5000 + b"\r\n",
]
# Operations to leave out: a reload for each call would keep HAProxy busy, and others end HAProxy or wait for it.
LEFT_OUT = re.compile(r"discovery|acme|/reloads")
GROWTH = 40_000_000


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[Quick]:
    with (
        HAProxy(tmp_path, CONFIG.format(site=free_port()), binary=binaries.exactly("3.2")) as haproxy,
        Quick(haproxy, delay=3000) as running,
    ):
        yield running


def resident(sidecar: Quick) -> int:
    """Return the resident memory of the server in bytes."""
    return int(Path(f"/proc/{sidecar.process.pid}/statm").read_text().split()[1]) * 4096


class Caller:
    """A client that keeps its connection, and opens a new one after data that is no HTTP."""

    def __init__(self, port: int, random: Random) -> None:
        document = bundle()
        self._port, self._random, self._version = port, random, "1"
        self._bodies = Bodies(document["components"]["schemas"], random)
        self._operations = [each for each in operations(document) if not LEFT_OUT.search(each.path)]
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def close(self) -> None:
        self._connection.close()

    def once(self) -> None:
        operation = self._random.choice(self._operations)
        where = target(operation, self._random, sane=self._random.random() < 0.7)
        if operation.method != "GET" and "transaction" not in where:
            where += f"&version={self._version}"
        body, kind = self._body(operation)
        self._connection.request(operation.method, where, body, BASIC | ({"Content-Type": kind} if body is not None else {}))
        answer = self._connection.getresponse()
        text = answer.read()
        about = f"{operation.method} {where} {body!r:.1000}: {answer.status} {text!r:.1000}"
        assert answer.status < 500 or is_haproxys(operation, answer.status, text), about
        assert answer.status < 400 or json.loads(text)["code"] == answer.status, about
        self._version = answer.headers["Configuration-Version"]

    def _body(self, operation: Operation) -> tuple[bytes | None, str]:
        if operation.body is None:
            return None, ""
        if "application/json" not in operation.body.media_types:
            return self._random.randbytes(self._random.randrange(2000)), operation.body.media_types[0]
        valid = self._bodies.valid(operation.body.schema)
        if self._random.random() < 0.7:
            return json.dumps(valid).encode(), "application/json"
        mutants = [each.body for each in self._bodies.mutants(operation.body.schema)]
        chosen = self._random.choice(mutants)
        return chosen if isinstance(chosen, bytes) else json.dumps(chosen).encode(), "application/json"


def is_haproxys(operation: Operation, status: int, text: bytes) -> bool:
    """What HAProxy refuses at runtime is 500 in the protocol, a text at which it crashes 503, one that passes `haproxy -c` and of which no
    shadow starts 501; a failure of ours is seen in the log.
    """
    crashes, starts_none = b"validation error: signal: ", b"HAProxy does not start with it: [ALERT]"
    return "/runtime/" in operation.path or (status == 503 and crashes in text) or (status == 501 and starts_none in text)


def no_http(port: int, data: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), 60) as connection, contextlib.suppress(ConnectionError):
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass


def run(sidecar: Quick, count: int) -> None:
    caller = Caller(sidecar.port, Random(20261122))
    warm = 0
    try:
        for number in range(count):
            caller.once()
            if number % (count // len(NO_HTTP)) == 0:
                no_http(sidecar.port, NO_HTTP[number // (count // len(NO_HTTP)) % len(NO_HTTP)])
            if number == count // 4:
                warm = resident(sidecar)
    finally:
        caller.close()
    assert sidecar.process.poll() is None
    assert resident(sidecar) - warm < GROWTH
    subprocess.run([sidecar.haproxy.binary, "-c", "-f", sidecar.haproxy.file], cwd=sidecar.directory, check=True)
    assert "Traceback" not in sidecar.log.read_text()


def test_some(sidecar: Quick) -> None:
    run(sidecar, 300)


@pytest.mark.soak
def test_many(sidecar: Quick) -> None:
    began = time.monotonic()
    run(sidecar, 20_000)
    print(f"20,000 requests in {time.monotonic() - began:.0f} s, {resident(sidecar) / 1e6:.0f} MB")
