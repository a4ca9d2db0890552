"""Run the `ctl follow` of docs/etcd.md with a real etcd with client certificates, a real HAProxy and the server, and in a fleet."""

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from demo.children import start, stop
from tests.acceptance.fleets import CONFIG, FLEET, Fleet
from tests.acceptance.quick import Quick
from tests.app.authority import Authority
from tests.haproxy.binaries import path_with_curl, program
from tests.haproxy.process import SMALL, HAProxy, free_port
from tests.haproxy.sidecar import COMMAND, USER, Sidecar
from tests.rules.sources import CHECKOUT
from tests.until import until

KEY = "/haproxy/edge/haproxy.cfg"
# The key of the producer in the section about fleets.
PRODUCED = "/service-router/haproxy-config"
MORE = "backend more\n  server b 127.0.0.1:2 weight {weight}\n"


class Etcd:
    def __init__(self, directory: Path) -> None:
        authority = Authority(directory, "etcd-authority")
        self._server, self._client = authority.issue("etcd"), authority.issue("balancer")
        self._client[1].chmod(0o600)
        self._directory, self._authority, self._port = directory, authority.file, free_port()
        self._peer = f"http://127.0.0.1:{free_port()}"
        self.environment = {
            **os.environ,
            "ETCDCTL_API": "3",
            "ETCDCTL_ENDPOINTS": f"https://127.0.0.1:{self._port}",
            "ETCDCTL_CACERT": str(authority.file),
            "ETCDCTL_CERT": str(self._client[0]),
            "ETCDCTL_KEY": str(self._client[1]),
            "PATH": f"{Path(program('etcdctl')).parent}:{path_with_curl()}",
            "KEY": KEY,
        }

    def start(self) -> None:
        url = f"https://127.0.0.1:{self._port}"
        words = [program("etcd"), "--data-dir", self._directory / "etcd", "--listen-client-urls", url, "--advertise-client-urls", url]
        words += ["--cert-file", self._server[0], "--key-file", self._server[1], "--client-cert-auth", "--trusted-ca-file", self._authority]
        words += [
            "--listen-peer-urls",
            self._peer,
            "--initial-advertise-peer-urls",
            self._peer,
            "--initial-cluster",
            f"default={self._peer}",
        ]
        self._process = start([str(word) for word in words], self._directory / "etcd.log")
        until(lambda: self.ctl("endpoint", "health").returncode == 0)

    def stop(self) -> None:
        stop(self._process, 20)

    def put(self, text: str) -> None:
        assert self.ctl("put", KEY, text=text).returncode == 0

    def ctl(self, *words: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["etcdctl", *words], env=self.environment, input=text, capture_output=True, text=True, check=False)


@pytest.fixture
def etcd(tmp_path: Path) -> Iterator[Etcd]:
    made = Etcd(tmp_path)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[Sidecar]:
    with HAProxy(tmp_path, SMALL) as haproxy, Quick(haproxy) as made:
        yield made


class Follower:
    """A `ctl follow` of a key, and its log."""

    def __init__(self, etcd: Etcd, sidecar: Sidecar, log: Path, *options: str) -> None:
        self._environment = etcd.environment | {
            "DATAPLANECTL_URL": f"http://127.0.0.1:{sidecar.port}",
            "DATAPLANECTL_USER": USER[0],
            "DATAPLANECTL_PASSWORD": USER[1],
        }
        self._etcd, self._options, self.log = etcd, options, log

    def start(self) -> None:
        words = [str(COMMAND), "ctl", "follow", f"etcd:{KEY}", *self._options]
        self._process = start(["env", *(f"{name}={value}" for name, value in self._environment.items()), *words], self.log)

    def stop(self) -> None:
        stop(self._process)

    def outcome(self) -> dict[str, object]:
        """Return the outcome that it has written to the store."""
        found = self._etcd.ctl("get", "--print-value-only", f"{KEY}.status").stdout
        return dict(json.loads(found)) if found.strip() else {}


@pytest.fixture
def owner(etcd: Etcd, sidecar: Sidecar, tmp_path: Path) -> Iterator[Follower]:
    made = Follower(etcd, sidecar, tmp_path / "follow.log", "--owner", "edge")
    made.start()
    yield made
    made.stop()


def test_every_put_is_applied_and_its_outcome_stands_beside_it(etcd: Etcd, sidecar: Sidecar, owner: Follower) -> None:
    etcd.put(MORE.format(weight=7))
    until(lambda: "server b 127.0.0.1:2 weight 7" in sidecar.get("raw").text)
    until(lambda: owner.outcome().get("outcome") == "applied")
    first = sidecar.haproxy.worker_pid()
    etcd.put(MORE.format(weight=8))
    until(lambda: "weight 8" in sidecar.get("raw").text)
    assert sidecar.haproxy.worker_pid() == first, "a weight needs no reload"

    etcd.put("backend more\n  serwer b 127.0.0.1:2\n")
    until(lambda: owner.outcome().get("outcome") == "refused")
    assert "serwer" in str(owner.outcome()["message"]) and owner.outcome()["tries"] == 1
    assert "weight 8" in sidecar.get("raw").text

    etcd.stop()
    assert sidecar.get("version").status_code == 200
    etcd.start()
    etcd.put(MORE.format(weight=9))
    until(lambda: "weight 9" in sidecar.get("raw").text)
    until(lambda: owner.outcome().get("outcome") == "applied")


def test_a_put_made_while_the_api_is_away_is_applied_when_it_is_back(etcd: Etcd, sidecar: Sidecar, owner: Follower) -> None:
    etcd.put(MORE.format(weight=7))
    until(lambda: owner.outcome().get("outcome") == "applied")
    sidecar.kill()
    etcd.put(MORE.format(weight=8))
    until(lambda: owner.outcome().get("outcome") == "trying")
    etcd.put(MORE.format(weight=9))
    sidecar.start()
    until(lambda: "weight 9" in sidecar.haproxy.file.read_text())
    until(lambda: owner.outcome().get("outcome") == "applied")
    assert USER[1] not in owner.log.read_text()


def test_a_put_made_while_it_does_not_run_is_applied_at_its_start(etcd: Etcd, sidecar: Sidecar, owner: Follower) -> None:
    owner.stop()
    etcd.put(MORE.format(weight=5))
    owner.start()
    until(lambda: "weight 5" in sidecar.get("raw").text)


def test_many_puts_end_with_the_last_one(etcd: Etcd, sidecar: Sidecar, owner: Follower) -> None:
    for weight in range(1, 21):
        etcd.put(MORE.format(weight=weight))
    until(lambda: "weight 20" in sidecar.get("raw").text)
    until(lambda: owner.outcome().get("outcome") == "applied")
    assert "weight 20" in sidecar.get("raw").text


def test_a_whole_configuration(etcd: Etcd, sidecar: Sidecar, tmp_path: Path) -> None:
    etcd.put(sidecar.haproxy.file.read_text().replace("server a 127.0.0.1:1", "server a 127.0.0.1:1 weight 7"))
    whole = Follower(etcd, sidecar, tmp_path / "whole.log", "--whole", "--once")
    whole.start()
    until(lambda: "weight 7" in sidecar.get("raw").text)
    until(lambda: whole.outcome().get("outcome") == "applied")
    whole.stop()


def test_each_put_is_a_staged_release_of_a_fleet(tmp_path: Path) -> None:
    """Run the commands of the section "In a fleet" on one node. A put that another node refuses is rolled back on all nodes."""
    section = (CHECKOUT / "docs/etcd.md").read_text().partition("## In a fleet")[2]
    commands = section.partition("```sh\n")[2].partition("```")[0].splitlines()
    assert len(commands) == 2 and f"etcd:{PRODUCED} " in commands[0]
    with Fleet(tmp_path) as fleet, ExitStack() as stack:
        lb1, lb2, lb3 = fleet.nodes
        assert lb1.put(f"{FLEET}/policy", {"bake": "0s"}).status_code == 200
        environment = [f"PATH={COMMAND.parent}:{os.environ['PATH']}", f"ETCDCTL_ENDPOINTS={fleet.etcd.url}"]
        environment += [f"DATAPLANECTL_{name}={value}" for name, value in zip(("USER", "PASSWORD"), USER, strict=True)]
        environment.append(f"DATAPLANECTL_URL=http://127.0.0.1:{lb1.port}")
        for number, command in enumerate(commands):
            stack.callback(stop, start(["env", *environment, "bash", "-c", command], tmp_path / f"command{number}.log"))

        def put(text: str) -> None:
            fleet.etcd.ask("kv/put", key=base64.b64encode(PRODUCED.encode()).decode(), value=base64.b64encode(text.encode()).decode())

        def outcome() -> str:
            found = fleet.etcd.ask("kv/range", key=base64.b64encode(f"{PRODUCED}.status".encode()).decode()).get("kvs")
            return str(json.loads(base64.b64decode(found[0]["value"]))["outcome"]) if found else ""

        def log() -> str:
            return "".join(file.read_text() for file in sorted(tmp_path.glob("command?.log")))

        put(CONFIG.replace("weight 10", "weight 21"))
        fleet.all(2, "21")
        release = lb3.fleet()["release"]
        assert (release["message"], release["stages"], release["guard"]["errors"]) == ("from etcd", [["lb2"], ["lb3"]], 2), log()
        put(CONFIG.replace("server a", "serwer a"))
        until(lambda: outcome() == "refused")
        assert lb1.is_done(2)
        lb2.set_weight(22)
        until(lambda: lb2.phase() == "drifted")
        put(CONFIG.replace("weight 10", "weight 23"))
        until(lambda: lb1.is_done(4) and lb1.weight() == "21")
        assert lb1.fleet()["release"]["reason"] == "lb2: it was edited by hand" and outcome() == "applied"
        assert lb2.adopt("store").status_code == 200
        put(CONFIG.replace("weight 10", "weight 24"))
        fleet.all(5, "24")
