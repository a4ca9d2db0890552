"""Change the configuration under traffic without a failed request. Three of four changes are made at runtime.

Each change states its effect on the text of the file. At the end the file must be exactly this text.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.quick import Quick, is_live
from tests.acceptance.traffic import Traffic
from tests.acceptance.web import Web
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

CONFIG = """\
# kept by hand: two backends, and two spaces where others use four
global
  stats socket {{stats}} level admin expose-fd listeners
  maxconn 2000

defaults plain
    mode    http
    option  idle-close-on-response   # a client's next request on an old connection is still answered
    timeout connect 2s
    timeout client  30s
    timeout server  30s
\tretries 3

frontend site from plain
    bind 127.0.0.1:{site}
    maxconn 1000
    http-request set-header X-Round begins
    use_backend beta if {{ path_beg /beta }}
    default_backend alpha

backend alpha from plain
    balance roundrobin
    timeout queue 1s   # rounds change this
    server a1 127.0.0.1:{one} weight 10   # the first
    server a2 127.0.0.1:{two} weight 10
    server a3 127.0.0.1:{three}   weight 10 maxconn 200

backend beta from plain
  balance leastconn
  timeout queue 1s
  server b1 127.0.0.1:{one} weight 20
  server b2 127.0.0.1:{three} weight 20
"""
# In each round.
LIVE, RELOADING = 15, 5
REQUESTS = 200
HEADER = re.compile(r"(# _(md5hash|version)=.*\n|# Dataplaneapi managed File\n|# changing file directly can cause a conflict.*\n)*")


class Run:
    """The expected text of the file, and the changes that lead to it."""

    def __init__(self, sidecar: Quick, web: Web) -> None:
        self.sidecar, self.ports = sidecar, list(web.ports.values())
        self.text = sidecar.text()
        self.version = sidecar.version()
        self.random = random.Random(2026)
        self.reload_ids: set[str] = set()
        self.added = 0

    def expect(self, line: str, new: str) -> None:
        """Replace a line in the expected text by `new`: another line, the line with more lines after it, or nothing."""
        assert self.text.count(line) == 1, (line, self.text)
        self.text = self.text.replace(line, new)

    def line(self, backend: str, name: str) -> str:
        body = self.text.partition(f"\nbackend {backend} ")[2]
        found = re.search(rf"^ +server {name} .*\n", body, re.MULTILINE)
        assert found, (backend, name)
        return found[0]

    def edit(self, backend: str, name: str, pattern: str, word: str) -> None:
        line = self.line(backend, name)
        new, count = re.subn(pattern, word, line)
        assert count == 1, (line, pattern)
        self.expect(line, new)

    def put(self, backend: str, name: str, **change: object) -> httpx2.Response:
        return self.done(self.sidecar.put_server(name, change, backend, version=self.version))

    def done(self, answer: httpx2.Response) -> httpx2.Response:
        assert answer.is_success, answer.text
        self.version += 1
        return answer

    def live(self, number: int) -> None:
        """Make a change that must not reload."""
        kinds = [self.weight, self.maintenance, self.address, self.add, self.delete, self.maxconn, self.push]
        answer = kinds[number % len(kinds)]()
        assert is_live(answer), self.sidecar.why(answer)

    def weight(self) -> httpx2.Response:
        value = self.random.randrange(1, 257)
        backend, name = self.random.choice([("alpha", "a1"), ("alpha", "a2"), ("beta", "b1")])
        answer = self.put(backend, name, weight=value)
        self.edit(backend, name, r"weight \d+", f"weight {value}")
        return answer

    def maintenance(self) -> httpx2.Response:
        """Disable a2, and enable it again. The added word comes before the weight, as the schema orders them."""
        line = self.line("alpha", "a2")
        out = " disabled" in line
        answer = self.put("alpha", "a2", maintenance=None if out else "enabled")
        self.expect(line, line.replace(" disabled", "") if out else re.sub(r"( weight \d+)?\n", r" disabled\1\n", line))
        return answer

    def address(self) -> httpx2.Response:
        port = self.random.choice(self.ports)
        answer = self.put("beta", "b2", port=port)
        self.edit("beta", "b2", r"127.0.0.1:\d+", f"127.0.0.1:{port}")
        return answer

    def add(self) -> httpx2.Response:
        self.added += 1
        name, port, last = f"n{self.added}", self.random.choice(self.ports), self.last_server()
        body = {"name": name, "address": "127.0.0.1", "port": port, "check": "enabled", "inter": 100, "weight": 30}
        answer = self.done(self.sidecar.post("backends/beta/servers", body, version=self.version))
        written = self.sidecar.line(f"server {name} ")
        assert sorted(written.split()) == sorted(f"server {name} 127.0.0.1:{port} check inter 100ms weight 30".split())
        self.expect(last, f"{last}  {written}\n")
        return answer

    def delete(self) -> httpx2.Response:
        name = f"n{self.added}"
        answer = self.done(self.sidecar.delete(f"backends/beta/servers/{name}", version=self.version))
        self.expect(self.line("beta", name), "")
        return answer

    def last_server(self) -> str:
        return re.findall(r"^ +server .*\n", self.text, re.MULTILINE)[-1]

    def maxconn(self) -> httpx2.Response:
        value = self.random.randrange(100, 900)
        answer = self.put("alpha", "a3", maxconn=value)
        self.edit("alpha", "a3", r"maxconn \d+", f"maxconn {value}")
        return answer

    def push(self) -> httpx2.Response:
        """Push the whole text with one changed weight."""
        self.edit("alpha", "a3", r"weight \d+", f"weight {self.random.randrange(1, 257)}")
        return self.done(self.sidecar.post("raw", self.text, version=self.version))

    def reloading(self, number: int) -> None:
        """Make a change that needs a reload."""
        kinds = [self.timeout, self.rule]
        answer = kinds[number % len(kinds)](number)
        assert answer.status_code == 202, answer.text
        self.reload_ids.add(answer.headers["Reload-Id"])

    def timeout(self, number: int) -> httpx2.Response:
        backend = {**self.sidecar.get("backends/alpha").json(), "queue_timeout": 5001 + number}
        answer = self.done(self.sidecar.put("backends/alpha", backend, version=self.version))
        line = re.search(r"^    timeout queue .*\n", self.text, re.MULTILINE)
        assert line
        self.expect(line[0], f"    timeout queue {5001 + number}ms   # rounds change this\n")
        return answer

    def rule(self, number: int) -> httpx2.Response:
        """Add a rule to the frontend in a transaction."""
        transaction = self.sidecar.transaction()
        rule = {"type": "set-header", "hdr_name": "X-Round", "hdr_format": str(number)}
        path, index = "frontends/site/http_request_rules", number // 2 + 1
        assert self.sidecar.post(f"{path}/{index}", rule, transaction_id=transaction).status_code == 202
        former = f"    http-request set-header X-Round {number - 2 if index > 1 else 'begins'}\n"
        self.expect(former, f"{former}    http-request set-header X-Round {number}\n")
        return self.done(self.sidecar.commit(transaction))

    def wait(self) -> None:
        """Wait until every reload has an outcome."""
        for identity in self.reload_ids:
            assert self.sidecar.outcome(identity)["status"] == "succeeded"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[HAProxy, Web, int]]:
    with Web("one", "two", "three") as web:
        site = free_port()
        config = CONFIG.format(site=site, **web.ports)
        with HAProxy(tmp_path, config, binary=binaries.exactly("3.2")) as haproxy:
            yield haproxy, web, site


@pytest.mark.parametrize("rounds", [3, pytest.param(10, marks=pytest.mark.soak)])
def test_no_request_fails_while_changes_are_made(served: tuple[HAProxy, Web, int], rounds: int) -> None:
    haproxy, web, site = served
    with Quick(haproxy, delay=1000) as sidecar, Traffic(f"http://127.0.0.1:{site}", ("/", "/beta"), list(web.ports)) as traffic:
        run = Run(sidecar, web)
        for number in range(rounds):
            for each in range(LIVE):
                run.live(number * LIVE + each)
            for each in range(RELOADING):
                run.reloading(number * RELOADING + each)
            run.wait()
        traffic.wait_for(rounds * REQUESTS)
        listed = [(each, server) for each in ("alpha", "beta") for server in sidecar.get(f"backends/{each}/servers").json()]
        running = [sidecar.server(server["name"], backend) for backend, server in listed]
    assert traffic.failures == []
    assert traffic.count >= rounds * REQUESTS
    assert generations(haproxy) == len(run.reload_ids)
    assert run.version == 1 + rounds * (LIVE + RELOADING)
    assert [(server["weight"], server["port"]) for _, server in listed] == [(each.uweight, each.port) for each in running if each]
    assert HEADER.sub("", haproxy.file.read_text(), count=1) == run.text


def generations(haproxy: HAProxy) -> int:
    """Return how many workers the master has started after the first."""
    return haproxy.log.read_text().count("Initializing new worker") - 1
