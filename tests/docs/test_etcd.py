"""The consumer of docs/etcd.md beside a real etcd with client certificates, a real HAProxy and the server."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from demo.children import start, stop
from tests.app.authority import Authority
from tests.haproxy.binaries import path_with_curl, program
from tests.haproxy.process import SMALL, HAProxy, free_port
from tests.haproxy.sidecar import USER, Sidecar
from tests.rules.sources import CHECKOUT
from tests.until import until

KEY = "/haproxy/edge/haproxy.cfg"
CONSUMER = CHECKOUT / "systemd/apply-from-etcd"


class Etcd:
    def __init__(self, directory: Path) -> None:
        authority = Authority(directory, "etcd-authority")
        self._server, self._client = authority.issue("etcd"), authority.issue("balancer")
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
    with HAProxy(tmp_path, SMALL) as haproxy, Sidecar(haproxy) as made:
        yield made


@pytest.fixture
def log(etcd: Etcd, sidecar: Sidecar, tmp_path: Path) -> Iterator[Path]:
    """The log of a consumer that runs meanwhile."""
    environment: Mapping[str, str] = etcd.environment | {
        "API": f"http://127.0.0.1:{sidecar.port}",
        "API_USER": ":".join(USER),
        "STATE_DIRECTORY": str(tmp_path / "consumer"),
        "RETRY": "0.2",
    }
    words = ["env", *(f"{name}={value}" for name, value in environment.items()), str(CONSUMER)]
    process = start(words, tmp_path / "consumer.log")
    yield tmp_path / "consumer.log"
    stop(process)


def test_the_consumer_applies_every_put(etcd: Etcd, sidecar: Sidecar, log: Path) -> None:
    text = sidecar.haproxy.file.read_text()
    first = sidecar.haproxy.worker_pid()

    etcd.put(text.replace("server a 127.0.0.1:1", "server a 127.0.0.1:1 weight 7"))
    until(lambda: "weight 7" in sidecar.get("raw").text)
    assert sidecar.haproxy.worker_pid() == first, "a weight needs no reload"

    etcd.put(text.replace("server a", "serwer a"))
    until(lambda: "serwer" in log.read_text())
    assert "weight 7" in sidecar.get("raw").text

    etcd.stop()
    assert sidecar.get("version").status_code == 200
    etcd.start()
    etcd.put(text + "backend more\n  server b 127.0.0.1:2\n")
    until(lambda: "backend more" in sidecar.get("raw").text)
    until(lambda: sidecar.haproxy.worker_pid() != first)


def test_a_put_made_while_the_api_is_away_is_applied_when_it_is_back(etcd: Etcd, sidecar: Sidecar, log: Path) -> None:
    text = sidecar.haproxy.file.read_text()
    etcd.put(text + "userlist staff\n  user one insecure-password secret-of-one\n")
    until(lambda: "staff" in sidecar.haproxy.file.read_text())
    until(lambda: "applied for the first time" in log.read_text())

    sidecar.kill()
    etcd.put(sidecar.haproxy.file.read_text().replace("server a 127.0.0.1:1", "server a 127.0.0.1:1 weight 8"))
    until(lambda: "not applied yet" in log.read_text())
    sidecar.start()
    until(lambda: "weight 8" in sidecar.haproxy.file.read_text())
    until(lambda: "+  server a 127.0.0.1:1 weight 8" in log.read_text())
    assert "secret-of-one" not in log.read_text()
    assert ":".join(USER) not in log.read_text()
