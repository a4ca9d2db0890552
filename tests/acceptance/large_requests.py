"""Define large and hostile requests. Each takes the server some time; `make bench` measures that other requests are not delayed."""

import http.client
import json
from base64 import b64encode
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from tests.acceptance.quick import PLAIN
from tests.haproxy.sidecar import CONFIGURATION, USER, Sidecar

CONFIG = PLAIN + "backend app from plain\n    server one 127.0.0.1:1\n\nfrontend site from plain\n    bind 127.0.0.1:{site}\n"
LOGIN = {"Authorization": "Basic " + b64encode(":".join(USER).encode()).decode()}
# How many seconds a client waits for a large answer. Reached only if the server hangs.
PATIENCE = 300
TIMES_OUT = "".join(f"    timeout {side} 1s\n" for side in ("connect", "client", "server"))
SECTIONS = f"defaults plain\n    mode http\n{TIMES_OUT}\nfrontend f from plain\n    bind 127.0.0.1:1\n\n"


def backends(many: int) -> str:
    return "".join(f"backend b{i}\n    server s 127.0.0.1:1\n\n" for i in range(many))


def _asked(config: str) -> dict[str, str]:
    return {"config": config, "method": "GET", "url": "http://127.0.0.1:1/"}


@dataclass(frozen=True)
class Large:
    """A large request. `codes` are the permitted statuses of the answer."""

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


def large_requests(many: int = 10_000) -> list[Large]:
    """Return the requests. Their numbers of objects, lines and bytes are proportional to `many`."""
    servers = {f"s{i}": {"name": f"s{i}", "address": "127.0.0.1", "port": 1 + i, "weight": 10} for i in range(many)}
    rules = [{"type": "deny", "cond": "if", "cond_test": f"{{ path /{i} }}"} for i in range(many)]
    sections, alike, lines = backends(many), "backend b\n    server s 127.0.0.1:1\n\n" * many, "\n" * (100 * many)
    return [
        Large("a long name", "POST", "backends", {"name": "a" * 999_000}, (422,)),
        Large("a very long name", "POST", "backends", {"name": "a" * 5_000_000}, (422,), "version=1&full_section=true"),
        Large(
            "many servers",
            "POST",
            "backends",
            {"name": "big", "servers": servers, "from": "nothing"},
            (400,),
            "version=1&full_section=true",
        ),
        Large(
            "many wrong servers",
            "POST",
            "backends",
            {"name": "x", "servers": {f"s{i}": {} for i in range(many)}},
            (422,),
            "full_section=true",
        ),
        Large(
            "many servers of a section",
            "PUT",
            "backends/app",
            {"name": "app", "from": "plain", "servers": servers},
            (202,),
            "full_section=true&transaction_id={transaction}",
        ),
        Large("many servers, read", "GET", "backends/app", b"", (200,), "full_section=true&transaction_id={transaction}"),
        Large("a name of many escapes", "POST", "backends/app/servers", {"name": "\\" * 60_000, "address": "::1"}, (400,)),
        Large("many rules", "PUT", "backends/app/http_request_rules", rules, (202,), "transaction_id={transaction}"),
        Large("many rules, read", "GET", "backends/app/http_request_rules", b"", (200,), "transaction_id={transaction}"),
        Large("many digits", "POST", "backends/app/servers", b'{"name":"n","address":"::1","port":' + b"1" * 900_000 + b"}", (400,)),
        Large("many members", "POST", "backends/app/servers", {"name": "n"} | dict.fromkeys(map(str, range(2 * many)), 0), (422,)),
        Large("deep", "POST", "backends/app/servers", b"[" * 900_000, (400,)),
        Large("many empty texts", "PUT", "backends/app/http_request_rules", b"[" + b'"",' * 100 * many + b'""]', (400,)),
        Large("empty lines", "POST", "raw", b"\n" * (2000 * many), (400,), "only_validate=true"),
        Large("one line", "POST", "raw", b"x" * (2000 * many) + b"\n", (400,), "only_validate=true"),
        Large("no characters", "POST", "raw", b"\xff" * (500 * many) + b"\n", (400,), "only_validate=true"),
        Large("many sections", "POST", "raw", (SECTIONS + sections).encode(), (202,), "only_validate=true"),
        Large("a plan", "POST", "/v3/sidecar/plan", (SECTIONS + sections).encode(), (200,), ""),
        Large("a plan of backends of one name", "POST", "/v3/sidecar/plan", (SECTIONS + alike).encode(), (200,), ""),
        Large("a plan of empty lines", "POST", "/v3/sidecar/plan", (SECTIONS + lines).encode(), (200,), ""),
        Large("backends applied", "PUT", "/v3/sidecar/apply", (SECTIONS + sections).encode(), (200,), "owner=x&dry_run=true"),
        Large("empty lines applied", "PUT", "/v3/sidecar/apply", (SECTIONS + lines).encode(), (200,), "owner=x&dry_run=true"),
        Large("backends explained", "POST", "/v3/sidecar/explain", _asked(SECTIONS + sections), (200,), ""),
        Large("empty lines explained", "POST", "/v3/sidecar/explain", _asked(SECTIONS + lines), (200,), ""),
        Large("a long query", "GET", "backends", b"", (400,), "a=b&" * 15_000),
        Large("a long path", "GET", "/" + "a/" * 30_000, b"", (404,), ""),
    ]


LARGE = large_requests()


def ask(sidecar: Sidecar, large: Large, transaction: str) -> None:
    """Send a large request. Raises AssertionError for an answer with another status, or with a long message."""
    path = large.path if large.path.startswith("/") else f"{CONFIGURATION}/{large.path}"
    query = large.query.format(transaction=transaction)
    with closing(http.client.HTTPConnection("127.0.0.1", sidecar.port, timeout=PATIENCE)) as connection:
        connection.request(large.method, f"{path}?{query}", large.content or None, {**LOGIN, "Content-Type": large.kind})
        answer = connection.getresponse()
        said = answer.read()
    assert answer.status in large.codes, (answer.status, said[:1000])
    assert answer.status < 400 or len(json.loads(said)["message"].partition("\n")[0]) <= 300
