"""Kill, restart and reload HAProxy during calls of the API that read and change it. Each answer must be right, or 503 with the reason."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.quick import Quick
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import Sidecar

CONFIG = """\
global
    stats socket {{stats}} mode 600 level admin
    hard-stop-after 2s

defaults base
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s

frontend web from base
    bind 127.0.0.1:{port}
    acl paths path /a
    http-request track-sc0 path table app if paths
    default_backend app

backend app from base
    stick-table type string size 1k expire 1h store gpc0
{servers}
"""
NAMES = [f"s{number}" for number in range(300)]
RUNTIME = "/v3/services/haproxy/runtime"
STATS = "/v3/services/haproxy/stats/native"
# The members with the socket and the reason in answers of another shape.
TOLD_APART = {(f"{RUNTIME}/info", 200), (STATS, 500)}


class Caller(threading.Thread):
    """Makes one call after the other. `wrong` are the answers that are neither right nor a 503 with a reason."""

    def __init__(self, sidecar: Sidecar, calls: int, seed: int) -> None:
        super().__init__()
        self.client = httpx2.Client(base_url=sidecar.client.base_url, auth=sidecar.client.auth, timeout=60, verify=False)
        self.socket, self.calls, self.random = str(sidecar.haproxy.master), calls, random.Random(seed)
        self.wrong: list[str] = []
        self.right = self.absent = 0

    def run(self) -> None:
        kinds: list[Callable[[], bool | None]] = [self.info, self.stats, self.servers, self.weight, self.pattern, self.entry]
        with self.client:
            while self.right < self.calls and not self.wrong:
                call = self.random.choice(kinds)
                try:
                    verdict = call()
                except (httpx2.HTTPError, ValueError, LookupError) as error:
                    verdict = False
                    self.wrong.append(f"{call.__name__}: {error!r}")
                self.right += verdict is True
                self.absent += verdict is None
                if verdict is None:
                    time.sleep(0.05)

    def ask(self, method: str, path: str, body: object = None) -> httpx2.Response | None:
        """Make a call, and return the answer; None if it reports that HAProxy does not answer."""
        answer = self.client.request(method, path, **({} if body is None else {"json": body}))
        if answer.status_code == 503 and ".sock" in answer.json()["message"]:
            return None
        if (answer.request.url.path, answer.status_code) in TOLD_APART and ".sock" in answer.json().get("error", ""):
            return None
        return answer

    def judge(self, answer: httpx2.Response | None, right: Callable[[httpx2.Response], bool]) -> bool | None:
        if answer is None:
            return None
        if right(answer):
            return True
        self.wrong.append(f"{answer.request.method} {answer.request.url.path}: {answer.status_code} {answer.text[:300]}")
        return False

    def info(self) -> bool | None:
        return self.judge(self.ask("GET", f"{RUNTIME}/info"), lambda got: got.status_code == 200 and got.json()["info"]["pid"] > 0)

    def stats(self) -> bool | None:
        def right(got: httpx2.Response) -> bool:
            return got.status_code == 200 and {"web", "app", *NAMES} == {row["name"] for row in got.json()["stats"]}

        return self.judge(self.ask("GET", STATS), right)

    def servers(self) -> bool | None:
        def right(got: httpx2.Response) -> bool:
            return got.status_code == 200 and [server["name"] for server in got.json()] == NAMES

        return self.judge(self.ask("GET", f"{RUNTIME}/backends/app/servers"), right)

    def weight(self) -> bool | None:
        weight, name = self.random.randrange(256), self.random.choice(NAMES)
        answer = self.ask("PUT", f"{RUNTIME}/backends/app/servers/{name}", {"weight": weight})
        return self.judge(answer, lambda got: (got.status_code, got.json().get("weight")) == (200, weight))

    def pattern(self) -> bool | None:
        value = f"/{self.random.random()}"
        body = [{"value": "/a"}, {"value": value}]
        ids = self.ask("GET", f"{RUNTIME}/acls")
        if (verdict := self.judge(ids, lambda got: got.status_code == 200)) is not True or ids is None:
            return verdict
        number = next(acl["id"] for acl in ids.json() if acl["storage_name"] == "path")
        return self.judge(
            self.ask("PUT", f"{RUNTIME}/acls/{number}/entries", body), lambda got: got.status_code == 201 and got.json() == body
        )

    def entry(self) -> bool | None:
        path, key, value = f"{RUNTIME}/stick_tables/app/entries", f"k{self.random.random()}", self.random.randrange(1000)
        return self.judge(self.ask("POST", path, {"key": key, "data_type": {"gpc0": value}}), lambda got: got.status_code == 204)


def disturb(haproxy: HAProxy, how: str) -> None:
    if how == "reload":
        os.kill(haproxy.pid, signal.SIGUSR2)
        return
    if how == "kill the worker":
        with suppress(OSError, AssertionError):
            os.kill(haproxy.worker_pid(), signal.SIGKILL)
    elif how == "kill the master":
        os.kill(haproxy.pid, signal.SIGKILL)
    # A master ends with its worker, unless the worker is a former one.
    haproxy.stop()
    haproxy.start()


WAYS = ["reload", "kill the worker", "reload", "restart", "reload", "kill the master"]


@pytest.mark.parametrize(("calls", "seed"), [(40, 1), *(pytest.param(1000, seed, marks=pytest.mark.soak) for seed in range(3))])
def test_every_answer_is_right_or_says_why_not(tmp_path: Path, haproxy_binary: str, calls: int, seed: int) -> None:
    servers = "\n".join(f"    server {name} 127.0.0.1:1" for name in NAMES)
    haproxy = HAProxy(tmp_path, CONFIG.format(port=free_port(), servers=servers), binary=haproxy_binary)
    with haproxy, Quick(haproxy) as sidecar:
        callers = [Caller(sidecar, calls // 2, seed * 10 + number) for number in range(2)]
        for caller in callers:
            caller.start()
        ways = 0
        while any(caller.is_alive() for caller in callers):
            right = sum(caller.right for caller in callers)
            disturb(haproxy, WAYS[ways % len(WAYS)])
            ways += 1
            # Some calls are answered with success even if HAProxy starts slowly.
            while any(caller.is_alive() for caller in callers) and right == sum(caller.right for caller in callers):
                time.sleep(0.01)
        for caller in callers:
            caller.join()
        assert [wrong for caller in callers for wrong in caller.wrong] == []
        right, absent = sum(caller.right for caller in callers), sum(caller.absent for caller in callers)
        assert right == calls
        assert sidecar.process.poll() is None
        disturb(haproxy, "restart")
        assert sidecar.get(f"{RUNTIME}/info").json()["info"]["pid"] == haproxy.worker_pid(), "no restart of the server was needed"
        print(f"{right} right, {absent} absent, {ways} disturbances")
