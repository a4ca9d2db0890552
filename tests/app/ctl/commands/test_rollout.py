"""`ctl rollout`, `ctl compare` and `ctl copy` beside two real servers, each with its own HAProxy."""

import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from demo.children import start, stop
from tests.acceptance.killer import wait_for_what_is_owed
from tests.acceptance.quick import Quick
from tests.app.authority import Authority
from tests.app.ctl.calls import Ctl, config
from tests.haproxy.forwarder import Forwarder
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import COMMAND, USER
from tests.until import until

SHOP = """\
backends:
- name: new
  from: plain
  servers:
    one: {name: one, address: 127.0.0.1, port: 3, weight: 5}
"""
HISTORY = "/v3/sidecar/history"
PLAIN = {"Content-Type": "text/plain"}


@contextmanager
def two_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Quick]]:
    with ExitStack() as stack:
        text, servers = config(), {}
        for name in ("lb1", "lb2"):
            haproxy = stack.enter_context(HAProxy(tmp_path_factory.mktemp(name), text.replace("name one", f"name {name}")))
            servers[name] = stack.enter_context(Quick(haproxy))
        yield servers


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Quick]]:
    with two_servers(tmp_path_factory) as servers:
        yield servers


@pytest.fixture
def alike(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Quick]]:
    """A pair for a test that makes one like the other: both HAProxies then open the same stats socket."""
    with two_servers(tmp_path_factory) as servers:
        yield servers


@pytest.fixture
def ctl(pair: dict[str, Quick], tmp_path: Path) -> Ctl:
    return client_of(pair, tmp_path)


def client_of(pair: dict[str, Quick], tmp_path: Path) -> Ctl:
    """With a context for each server, and `more.yaml`, which declares a backend."""
    contexts: dict[str, Any] = {}
    for name, server in pair.items():
        if server.get("backends/new").status_code == 200:
            assert server.put("/v3/sidecar/apply", {}, owner="team", force_reload=True).is_success
        contexts[name] = {"url": f"http://127.0.0.1:{server.port}", "user": USER[0], "password": USER[1]}
    (tmp_path / "ctl.yaml").write_text(json.dumps({"contexts": contexts}))
    (tmp_path / "ctl.yaml").chmod(0o600)
    (tmp_path / "more.yaml").write_text(SHOP)
    # Variables name another server, which is never called.
    return Ctl(1, tmp_path, DATAPLANECTL_CONFIG=str(tmp_path / "ctl.yaml"))


def words(ctl: Ctl, *more: str) -> list[str]:
    return ["rollout", "-f", f"{ctl.home}/more.yaml", "--owner", "team", "--to", "lb2,lb1", "--bake", "0", *more]


def have_it(pair: dict[str, Quick]) -> list[str]:
    return [name for name, server in pair.items() if "backend new " in server.text()]


def waiting(pair: dict[str, Quick]) -> list[str]:
    found = {name: server.get("/v3/sidecar/confirmations").json() for name, server in pair.items()}
    return [name for name, rows in found.items() if any(row["status"] in ("open", "pending") for row in rows)]


def test_all_are_changed(ctl: Ctl, pair: dict[str, Quick]) -> None:
    shown = ctl.output(*words(ctl, "-m", "a new shop"))
    assert shown.startswith("lb2:\n+ backend/new\n") and "lb1:\n+ backend/new\n" in shown
    assert [line.split()[::2] for line in shown.splitlines()[-2:]] == [["lb2", "confirmed"], ["lb1", "confirmed"]]
    assert have_it(pair) == ["lb1", "lb2"] and not waiting(pair)
    assert all(server.get(HISTORY).json()[0]["message"] == "a new shop" for server in pair.values())
    again = json.loads(ctl.output(*words(ctl, "-o", "json")))
    assert [(row["server"], row["outcome"]) for row in again] == [("lb2", "unchanged"), ("lb1", "unchanged")]


def test_plans_alone(ctl: Ctl, pair: dict[str, Quick]) -> None:
    rows = json.loads(ctl.output(*words(ctl, "--dry-run", "-o", "json")))
    assert [(row["outcome"], row["plan"]["created"][0]) for row in rows] == [("untouched", "backend/new")] * 2
    assert have_it(pair) == []


def test_one_that_refuses_its_plan_stops_all(ctl: Ctl, pair: dict[str, Quick]) -> None:
    """The first in the order is asked as well as the last."""
    body = {"name": "new", "from": "plain", "balance": {"algorithm": "leastconn"}}
    assert pair["lb1"].post("backends", body, version=pair["lb1"].version(), force_reload=True).is_success
    (ctl.home / "more.yaml").write_text(SHOP.replace("  from: plain", "  from: plain\n  balance: {algorithm: first}"))
    try:
        refused = ctl(*words(ctl))
        assert refused.returncode == 3 and "lb1 refuses; nothing was changed on any server" in refused.stderr, refused
        assert have_it(pair) == ["lb1"]
    finally:
        assert pair["lb1"].delete("backends/new", version=pair["lb1"].version(), force_reload=True).is_success


def test_one_that_does_not_answer_stops_all(ctl: Ctl, pair: dict[str, Quick]) -> None:
    contexts = json.loads((ctl.home / "ctl.yaml").read_text())
    contexts["contexts"]["lb1"]["url"] = "http://127.0.0.1:1"
    (ctl.home / "ctl.yaml").write_text(json.dumps(contexts))
    refused = ctl(*words(ctl))
    assert refused.returncode == 4 and "lb1: http://127.0.0.1:1 does not answer" in refused.stderr, refused
    assert have_it(pair) == []


def test_a_later_one_that_refuses_the_change_rolls_back_the_others(ctl: Ctl, pair: dict[str, Quick]) -> None:
    """A change of somebody else waits on it."""
    held = pair["lb1"].put_server("web1", {"weight": 11}, "shop", version=pair["lb1"].version(), confirm="1h")
    assert held.is_success, held.text
    try:
        refused = ctl(*words(ctl))
        assert refused.returncode == 3 and "lb1: 409" in refused.stderr, refused
        assert [line.split()[-1] for line in refused.stdout.splitlines()[-2:]] == ["back", "untouched"]
        assert have_it(pair) == [] and waiting(pair) == ["lb1"]
    finally:
        assert pair["lb1"].delete(held.headers["Location"]).is_success


def test_a_server_whose_reload_fails_has_rolled_back(ctl: Ctl, pair: dict[str, Quick]) -> None:
    """By a port that is taken: HAProxy's check accepts it, so each plan was valid. The later server is not changed."""
    with socket.create_server(("127.0.0.1", port := free_port())):
        binds = {"b": {"name": "b", "address": "127.0.0.1", "port": port}}
        (ctl.home / "more.yaml").write_text(json.dumps({"frontends": [{"name": "taken", "from": "plain", "binds": binds}]}))
        refused = ctl(*words(ctl))
    assert refused.returncode == 5 and "lb2: 400 Reload failed: " in refused.stderr and "cannot bind socket" in refused.stderr, refused
    assert [line.split()[-1] for line in refused.stdout.splitlines()[-2:]] == ["back", "untouched"]
    assert not waiting(pair) and all("frontend taken" not in server.text() for server in pair.values())
    for server in pair.values():
        assert server.put("/v3/sidecar/apply", {}, owner="team", force_reload=True).is_success


def test_a_guard_that_is_violated_rolls_back_all(ctl: Ctl, pair: dict[str, Quick]) -> None:
    """The first one loses a ready server while it is watched."""
    ctl.output(*words(ctl))
    (ctl.home / "more.yaml").write_text(SHOP.replace("  from: plain", "  from: plain\n  balance: {algorithm: first}"))
    line = [str(COMMAND), "ctl", *words(ctl, "--guard", "ready", "--bake", "500")]
    with subprocess.Popen(line, env=ctl.environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as running:
        try:
            assert running.stderr
            assert running.stderr.readline() == "lb2: changed, and watched without traffic\n"
            pair["lb2"].haproxy.ask("set server new/one state maint")
            said = running.stderr.read()
            assert "lb2: the change is rolled back: " in said and "ready" in said, said
            assert running.wait(60) == 5 and not waiting(pair)
            assert not [name for name, server in pair.items() if "balance first" in server.text()]
        finally:
            running.kill()
            pair["lb2"].haproxy.ask("set server new/one state ready")


def test_a_guard_without_a_verdict_is_reported_while_the_command_waits(ctl: Ctl, pair: dict[str, Quick]) -> None:
    """The server has traffic, and the new backend gets none of it."""
    site = int(pair["lb2"].line("bind 127.0.0.1:").partition(":")[2].split()[0])
    environment, log = [f"{name}={value}" for name, value in ctl.environment.items()], ctl.home / "rollout.log"
    running = start(["env", *environment, str(COMMAND), "ctl", *words(ctl, "--guard", "errors=2,min_requests=1")], log)

    def is_reported() -> bool:
        with socket.create_connection(("127.0.0.1", site), 5) as client:
            client.sendall(b"GET /own HTTP/1.0\r\n\r\n")
            client.recv(4096)
        return "--guard ready" in log.read_text()

    try:
        until(is_reported)
        why = "lb2: the guard has no verdict yet: 0 requests since the change; the guard needs 1; waiting at most "
        assert why in log.read_text() and "press Ctrl-C" in log.read_text()
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 130 and not waiting(pair) and have_it(pair) == []
        assert log.read_text().count("no verdict") == 1
    finally:
        stop(running)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_end_while_one_is_watched(ctl: Ctl, pair: dict[str, Quick], number: signal.Signals) -> None:
    """It rolls back at once if the command can still say so, otherwise by itself."""
    times = ("--bake", "7s", "--confirm", "8s") if number == signal.SIGKILL else ("--bake", "500")
    line = [str(COMMAND), "ctl", *words(ctl, *times)]
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        # A shell ignores SIGINT for what it runs in the background, and so would all that this starts.
        started = subprocess.Popen(line, env=ctl.environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    finally:
        signal.signal(signal.SIGINT, former)
    with started as running:
        try:
            assert running.stderr
            assert running.stderr.readline() == "lb2: changed, and watched\n"
            assert have_it(pair) == ["lb2"]
            running.send_signal(number)
            assert running.wait(60) == (-9 if number == signal.SIGKILL else 130)
        finally:
            running.kill()
    while waiting(pair):
        time.sleep(0.05)
    assert have_it(pair) == []


@pytest.mark.parametrize("places", [["after confirm 1"], pytest.param([], marks=pytest.mark.soak)], ids=["one", "every"])
def test_a_kill_at_a_request(pair: dict[str, Quick], tmp_path: Path, places: list[str]) -> None:
    """Kill the command before or after a request. A server keeps its change only if it was confirmed; it rolls any other change back."""
    with ExitStack() as stack:
        forwarders = {name: stack.enter_context(Forwarder(server.port)) for name, server in pair.items()}
        ctl = client_of(pair, tmp_path)
        (other := tmp_path / "other").mkdir()
        contexts = json.loads((tmp_path / "ctl.yaml").read_text())
        for name, forwarder in forwarders.items():
            contexts["contexts"][name]["url"] = forwarder.url
        (tmp_path / "ctl.yaml").write_text(json.dumps(contexts))
        run = KilledRollout(forwarders, ctl)
        for place in places or run.places():
            # Removes what is left of the rollout before.
            client_of(pair, other)
            confirmed = run.kill_at(place)
            until(lambda: not waiting(pair))
            assert have_it(pair) == sorted(confirmed), place
            for server in pair.values():
                wait_for_what_is_owed(server)


class KilledRollout:
    """Runs a rollout through forwarders, and kills it at a place, such as `after confirm 1`: the first confirmation is answered."""

    def __init__(self, forwarders: dict[str, Forwarder], ctl: Ctl) -> None:
        self._line = [str(COMMAND), "ctl", *words(ctl, "--confirm", "8s")]
        self._environment, self._log, self._place = ctl.environment, ctl.home / "rollout.log", ""
        self._seen: list[str] = []
        self._confirmed: list[str] = []
        for name, forwarder in forwarders.items():
            forwarder.before = partial(self._notice, "before", name)
            forwarder.after = partial(self._notice, "after", name)

    def places(self) -> list[str]:
        """Return the places of a rollout that is not killed."""
        assert sorted(self.kill_at("")) == ["lb1", "lb2"]
        return list(self._seen)

    def kill_at(self, place: str) -> list[str]:
        """Run the rollout, and return the servers that have got a confirmation."""
        self._place, self._seen, self._confirmed = place, [], []
        self._process = start(["env", *(f"{name}={value}" for name, value in self._environment.items()), *self._line], self._log)
        # Polls differ in number, so the rollout may end before the place.
        assert self._process.wait(120) in (0, -signal.SIGKILL), (place, self._log.read_text())
        return self._confirmed

    def _notice(self, side: str, name: str, path: str, body: bytes) -> None:
        above, last = path.partition("?")[0].split("/")[-2:]
        kind = "plan" if "dry_run" in path else above if above == "confirmations" else last
        number = sum(each.startswith(f"{side} {kind} ") for each in self._seen) + 1
        self._seen.append(f"{side} {kind} {number}")
        if (side, kind) == ("after", "confirm"):
            self._confirmed.append(name)
        if self._seen[-1] == self._place:
            self._process.kill()
            self._process.wait()
            raise ConnectionError


def test_a_server_that_is_gone_while_it_is_watched(ctl: Ctl, pair: dict[str, Quick]) -> None:
    """The others are rolled back; it rolls back when it runs again."""
    line = [str(COMMAND), "ctl", *words(ctl, "--bake", "9s", "--confirm", "10s")]
    with subprocess.Popen(line, env=ctl.environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as running:
        try:
            assert running.stderr
            assert running.stderr.readline() == "lb2: changed, and watched\n"
            pair["lb2"].kill()
            said = running.stderr.read()
            assert running.wait(60) == 4 and "lb2: unknown, because it does not answer" in said, said
        finally:
            running.kill()
            pair["lb2"].start()
    while waiting(pair):
        time.sleep(0.05)
    assert have_it(pair) == []


def test_contexts_are_completed(ctl: Ctl) -> None:
    assert ctl.output("completion", "--words", "compare", "lb1", "") == "lb1\nlb2\n"
    assert ctl.output("completion", "--words", "rollout", "--to", "lb2,") == "lb2,lb1\n"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["--owner", "team", "--to", "lb1"], "-f FILE and --owner NAME are required"),
        (["-f", "x", "--owner", "team", "--to", "lb1,lb1"], "names a server twice"),
        (["-f", "x", "--owner", "team", "--to", "lb3"], "context lb3 is not in"),
        (
            ["-f", "x", "--owner", "team", "--to", "lb1", "--guard", "error=2"],
            "'error=2' is none of errors=PERCENT, ready and min_requests=N",
        ),
        (["-f", "x", "--owner", "team"], "--to"),
        (["-f", "x", "--owner", "team", "--to", "lb1", "--confirm", "5s"], "must be shorter than --confirm"),
    ],
)
def test_what_is_wrong(ctl: Ctl, line: list[str], says: str) -> None:
    assert says in ctl.refusal(2, "rollout", *line)


def test_two_servers_are_compared_and_made_alike(alike: dict[str, Quick], tmp_path: Path) -> None:
    pair, ctl = alike, client_of(alike, tmp_path)
    maps, storage = "/v3/services/haproxy/storage/maps", "/v3/services/haproxy/storage"
    for name, content in (("both.map", "a 1\n"), ("lb1.map", "b 2\n")):
        assert pair["lb1"].client.post(maps, files={"file_upload": (name, content)}).is_success
    assert pair["lb1"].client.post(f"{storage}/general", files={"file_upload": ("sorry.http", "HTTP/1.0 503 Sorry\n\n")}).is_success
    for name, content in (("both.map", "a 3\n"), ("lb2.map", "c 4\n")):
        assert pair["lb2"].client.post(maps, files={"file_upload": (name, content)}).is_success
    authority = Authority(tmp_path)
    certificates = {name: b"".join(file.read_bytes() for file in authority.issue(name)) for name in pair}
    for name, server in pair.items():
        file = ("shop.pem", certificates[name])
        assert server.client.post(f"{storage}/ssl_certificates", files={"file_upload": file}).is_success
    text = pair["lb2"].text()
    refused = ctl("copy", "lb1", "lb2", "--wait")
    assert (
        refused.returncode == 1 and "certificate/shop.pem: content\n" in refused.stdout and "store shop.pem on lb2 first" in refused.stderr
    )
    assert pair["lb2"].text() == text and "lb1.map" not in pair["lb2"].get(maps).text
    assert pair["lb2"].client.put(f"{storage}/ssl_certificates/shop.pem", content=certificates["lb1"], headers=PLAIN).is_success
    compared = ctl("compare", "lb2", "lb1")
    assert compared.returncode == 10
    assert "--- lb2\n+++ lb1\n" in compared.stdout and "name lb2\n+" in compared.stdout
    assert compared.stdout.endswith(
        "map/both.map: content\nmap/lb1.map: only on lb1\nmap/lb2.map: only on lb2\ngeneral/sorry.http: only on lb1\n"
    )
    assert ctl.output("copy", "lb1", "lb2", "--dry-run") == compared.stdout
    assert "name lb2" in pair["lb2"].text()
    copied = ctl("copy", "lb1", "lb2", "--wait", "-m", "as lb1")
    assert copied.returncode == 0 and "succeeded" in copied.stderr, copied
    for weight in (5, 10):
        assert pair["lb1"].put_server("web1", {"weight": weight}, "shop").is_success
    assert pair["lb1"].version() != pair["lb2"].version()
    assert ctl("compare", "lb1", "lb2").stdout == "map/lb2.map: only on lb2\n"
    assert pair["lb2"].get(HISTORY).json()[0]["message"] == "as lb1"
    version = pair["lb2"].version()
    assert ctl("copy", "lb1", "lb2").stderr == "" and pair["lb2"].version() == version


def test_a_server_without_a_directory_has_no_files_of_that_kind(tmp_path: Path, ctl: Ctl, pair: dict[str, Quick]) -> None:
    without = dict.fromkeys(("maps_dir", "ssl_certs_dir", "general_storage_dir", "acl_dir", "spoe_dir"), "")
    resources = {"dataplane_storage_dir": str(tmp_path / "dataplane"), **without}
    with HAProxy(tmp_path, config()) as haproxy, Quick(haproxy, dataplaneapi={"resources": resources}) as bare:
        contexts = json.loads((ctl.home / "ctl.yaml").read_text())
        contexts["contexts"]["bare"] = {"url": f"http://127.0.0.1:{bare.port}", "user": USER[0], "password": USER[1]}
        (ctl.home / "ctl.yaml").write_text(json.dumps(contexts))
        assert bare.get("/v3/sidecar/acls").status_code == 404
        compared = ctl("compare", "lb1", "bare")
        assert compared.returncode == 10 and "--- lb1\n+++ bare\n" in compared.stdout, compared
