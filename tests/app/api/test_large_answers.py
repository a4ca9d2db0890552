"""A law of all handlers: the event loop encodes little of a large answer; threads do the rest, in pieces."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from dataplaneapi.api import responses
from haproxy_native.threads import LARGE
from tests.app.client import CONFIG, CONFIGURATION, Client, settings

SERVERS = 100
# Few objects with long names make answers as large as many objects do, and are read faster.
LONG = "x" * 1000
# What the loop may encode of one answer, and what one call may: characters.
IN_LOOP, AT_ONCE = 2 * LARGE, 3 * LARGE
RAW = {"content-type": "text/plain"}


class Watched:
    """Stands for a function of C code; `seen` has where each call was made, and how long its text was."""

    def __init__(self, work: Any, seen: list[tuple[bool, int]]) -> None:
        self._work, self._seen, self._loop = work, seen, threading.get_ident()

    def __call__(self, *given: Any, **named: Any) -> Any:
        result = self._work(*given, **named)
        text = result if isinstance(result, str | bytes) else given[-1]
        self._seen.append((threading.get_ident() == self._loop, len(text)))
        return result


def large(weight: int) -> str:
    """A configuration of servers, each with a weight, of rules and of backends, all with long names."""
    servers = "".join(f"  server s{number}{LONG} 10.0.{number // 250}.{number % 250}:80 weight {weight}\n" for number in range(SERVERS))
    rules = "".join(f"  http-request set-header X-{number}{LONG} x if {{ path /{number} }}\n" for number in range(SERVERS))
    backends = "".join(
        f"\nbackend b{number}{LONG} from base\n  server one 127.0.0.1:{number + 1} weight {weight}\n" for number in range(SERVERS)
    )
    return f"{CONFIGURATION}\nbackend large from base\n{servers}\nfrontend rules from base\n  bind :8099\n{rules}{backends}"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The application with an entry in its history, for a caller with a role, to whom secrets are not shown."""
    directory = tmp_path_factory.mktemp("large")
    users = [
        {"name": name, "password": "adminpwd", "insecure": True, "role": role} for name, role in (("admin", "admin"), ("ann", "editor"))
    ]
    with Client(settings(directory, users=users), large(1)) as client:
        client.runner.run(client.app.services.history.__aenter__())
        pushed = client.post(f"{CONFIG}/raw?version=1&skip_reload=true", large(2).encode(), headers=RAW)
        assert pushed.status in (200, 201, 202), pushed.body
        yield client
        client.runner.run(client.app.services.history.__aexit__(None, None, None))


CALLS = [
    ("GET", f"{CONFIG}/backends", None),
    ("GET", f"{CONFIG}/backends?full_section=true", None),
    ("GET", f"{CONFIG}/backends/large?full_section=true", None),
    ("GET", f"{CONFIG}/backends/large/servers", None),
    ("GET", f"{CONFIG}/frontends/rules/http_request_rules", None),
    ("GET", f"{CONFIG}/raw", None),
    ("GET", "/v3/sidecar/history", None),
    ("GET", "/v3/sidecar/history/1", None),
    ("GET", "/v3/sidecar/history/1/diff", None),
    ("GET", "/v3/sidecar/history/1/raw", None),
    ("GET", "/v3/sidecar/drift", None),
    ("GET", "/v3/sidecar/references?object=defaults/base", None),
    ("GET", "/v3/sidecar/lint", None),
    ("GET", "/v3/sidecar/reload_advice", None),
    ("POST", "/v3/sidecar/plan", large(3)),
    ("POST", f"{CONFIG}/raw?only_validate=true", large(3)),
    ("PUT", "/v3/sidecar/apply?owner=x&dry_run=true", large(3)[large(3).index("backend large") :]),
]


# What has nothing to say of this configuration.
SMALL = ("/v3/sidecar/drift", "/v3/sidecar/reload_advice")


@pytest.mark.parametrize(("method", "target", "text"), CALLS, ids=[f"{method} {target}" for method, target, _ in CALLS])
def test_the_loop_encodes_little(client: Client, monkeypatch: pytest.MonkeyPatch, method: str, target: str, text: str | None) -> None:
    encoded = list[tuple[bool, int]]()
    monkeypatch.setattr(responses, "_ENCODE", Watched(responses._ENCODE, encoded))
    body = None if text is None else text.encode()
    got = client(method, target, body, auth="ann:adminpwd", headers=RAW if body else {})
    assert got.status in (200, 202), got.body[:500]
    assert (len(got.body) > LARGE) == (target not in SMALL)
    assert sum(size for in_loop, size in encoded if in_loop) <= IN_LOOP
    assert max((size for _, size in encoded), default=0) <= AT_ONCE
