"""Walk at random through the outcomes of reloads: valid and broken texts, failing commands, HAProxy and the server killed.

After some steps the walk waits for all reloads. Records, file and process must then agree: the file and HAProxy have exactly the changes
that were made at runtime, and those whose reload has succeeded.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx2

from haproxy_native.runtime.server_state import server_states
from tests.acceptance.effective import fresh
from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy.process import HAProxy, free_port

CONFIG = PLAIN.format() + "backend app from plain\n    server one 127.0.0.1:1 weight 1\n"
# A section that passes `haproxy -c` and cannot be loaded.
BROKEN = "\nlog-forward broken\n    bind 127.0.0.1:{port}\n    log ring@nowhere local0\n"
# The scripts of the reload command. $PID is the pid of HAProxy.
MOODS = {
    "well": "kill -USR2 $PID",
    "slowly": "sleep 0.3; kill -USR2 $PID; sleep 0.3",
    "denying": "kill -USR2 $PID; exit 1",
    "failing": "exit 1",
}
# A script that acts like a service manager: it waits for the outcome, and fails if HAProxy is not running.
MANAGER = "kill -0 $PID || { echo unit is not active >&2; exit 1; }\nkill -USR2 $PID\nsleep 0.5"
# Addresses of servers, including some that the socket reads differently from the file.
SPELLINGS = ("127.0.0.9", "::1", "localhost", "127.1", "ipv4@127.0.0.2")
STRATEGIES = ("command", "command beside a master", "manager", "master")
SECONDS = 90.0


@dataclass(frozen=True)
class Change:
    """An accepted change, with the id of its reload; None if it was made at runtime. `wanted` applies the change to the model."""

    about: str
    wanted: Callable[[dict[str, Any]], None]
    reload_id: str | None


@dataclass
class Walk:
    sidecar: Quick
    random: Random
    strategy: str
    chaos: bool
    changes: list[Change] = field(default_factory=list)
    number: int = 0
    has_haproxy: bool = True
    is_broken: bool = False
    model: dict[str, Any] = field(default_factory=lambda: {"backends": frozenset(), "servers": {}, "weight": 1, "broken": False})
    # How a newly started HAProxy reports a server with each address: by address, name and port.
    places: dict[str, tuple[str, str, int]] = field(default_factory=dict)

    @property
    def haproxy(self) -> HAProxy:
        return self.sidecar.haproxy

    def step(self) -> None:
        self.number += 1
        steps: list[Callable[[], None]] = [self.add, self.add, self.remove, self.weigh, self.weigh, self.mood, self.wait]
        steps += [self.add_server, self.add_server, self.remove_server]
        steps += [self.break_, self.restart_server, self.kill_haproxy if self.has_haproxy else self.start_haproxy]
        if self.chaos:
            steps += [self.restart_server, self.restart_server, self.kill_haproxy if self.has_haproxy else self.start_haproxy]
        self.random.choice(steps)()

    # -- changes

    def add(self) -> None:
        name = f"b{self.number}"
        body = {"name": name, "from": "plain"}
        answer = self.sidecar.post("backends", body, version=self.sidecar.version(), force_reload=self._forced())
        self._changed(f"add {name}", answer, lambda model: _put(model, name))

    def remove(self) -> None:
        names = [each["name"] for each in self.sidecar.get("backends").json() if each["name"] != "app"]
        if names:
            name = self.random.choice(names)
            answer = self.sidecar.delete(f"backends/{name}", version=self.sidecar.version(), force_reload=self._forced())
            self._changed(f"remove {name}", answer, lambda model: _drop(model, name))

    def add_server(self) -> None:
        name, address = f"s{self.number}", self.random.choice(SPELLINGS)
        body = {"name": name, "address": address, "port": 9}
        answer = self.sidecar.post("backends/app/servers", body, version=self.sidecar.version(), force_reload=self._forced())
        self._changed(f"add server {name} at {address}", answer, lambda model: model["servers"].update({name: address}))

    def remove_server(self) -> None:
        names = [each["name"] for each in self.sidecar.get("backends/app/servers").json() if each["name"] != "one"]
        if names:
            name = self.random.choice(names)
            answer = self.sidecar.delete(f"backends/app/servers/{name}", version=self.sidecar.version(), force_reload=self._forced())
            self._changed(f"remove server {name}", answer, lambda model: model["servers"].pop(name, None))

    def weigh(self) -> None:
        weight = self.random.randint(1, 200)
        answer = self.sidecar.put_server("one", {"weight": weight})
        self._changed(f"weight {weight}", answer, lambda model: model.update(weight=weight))

    def break_(self) -> None:
        """Send a broken text. A HAProxy without a master gets at most one: two failures in a row may remove its stats socket."""
        version, text = self.sidecar.version(), self.sidecar.get("raw").text
        if BROKEN[:20] not in text and (self.haproxy.master or not self.is_broken):
            self.is_broken = True
            text += BROKEN.format(port=free_port())
            answer = self.sidecar.post("raw", text, version=version, force_reload=self._forced())
            self._changed("break", answer, lambda model: model.update(broken=True))

    def mend(self) -> None:
        answer = None
        # A reload that has just failed raises the version.
        while answer is None or answer.status_code == 409:
            version, text = self.sidecar.version(), self.sidecar.get("raw").text
            if (start := text.find(BROKEN[:20])) < 0:
                return
            end = text.find("\nbackend ", start)
            text = text[:start] + (text[end:] if end >= 0 else "\n")
            answer = self.sidecar.post("raw", text, version=version)
        assert answer.status_code == 202, answer.text
        self._changed("mend", answer, lambda model: model.update(broken=False))

    def _forced(self) -> bool:
        return self.random.random() < 0.3

    def _changed(self, about: str, answer: httpx2.Response, wanted: Callable[[dict[str, Any]], None]) -> None:
        refused = answer.status_code == 400 and "Reload failed" in answer.json()["message"]
        # A reload that has just failed raises the version.
        if refused or answer.status_code == 409:
            return
        assert answer.is_success, (about, answer.status_code, answer.text)
        self.changes.append(Change(about, wanted, answer.headers.get("Reload-Id")))

    # -- what happens

    def mood(self) -> None:
        set_mood(self.sidecar.directory, MANAGER if self.strategy == "manager" else MOODS[self.random.choice(list(MOODS))])

    def wait(self) -> None:
        time.sleep(self.random.random())

    def restart_server(self) -> None:
        self.sidecar.kill()
        self.sidecar.start()

    def kill_haproxy(self) -> None:
        self.haproxy.kill()
        self.has_haproxy = False

    def start_haproxy(self) -> None:
        """Start HAProxy. Repair a broken configuration first, through the API."""
        self.mend()
        self.haproxy.start()
        self.has_haproxy, self.is_broken = True, False
        set_pid(self.sidecar)

    # -- the end of a stretch

    def settle(self) -> None:
        """Wait until every reload has ended, and model, file, API and process agree."""
        if not self.has_haproxy:
            self.start_haproxy()
        outcomes = {change.reload_id: self._outcome(change.reload_id) for change in self.changes if change.reload_id}
        for change in self.changes:
            if change.reload_id is None or outcomes[change.reload_id] == "succeeded":
                change.wanted(self.model)
        changes = [(change.about, change.reload_id, outcomes.get(change.reload_id or "")) for change in self.changes]
        deadline = time.monotonic() + SECONDS
        while differences := self._differences():
            assert time.monotonic() < deadline, (changes, differences)
            time.sleep(0.05)
        self.changes = []

    def _outcome(self, identity: str) -> str:
        deadline = time.monotonic() + SECONDS
        while True:
            found = self.sidecar.get(f"{SERVICES}/reloads/{identity}")
            assert found.status_code == 200, found.text
            if found.json()["status"] != "in_progress":
                return str(found.json()["status"])
            assert time.monotonic() < deadline, self.sidecar.get(f"/v3/sidecar/reloads/{identity}").text
            time.sleep(0.02)

    def _differences(self) -> dict[str, Any]:
        """Return the differences of the file, the API and the process from the model."""
        text, version = self.sidecar.text(), self.sidecar.version()
        raw, servers = self.sidecar.get("raw").text, {row.name: row for row in server_states(self.haproxy.ask("show servers state app"))}
        server = servers.pop("one", None)
        plan = self.sidecar.post("/v3/sidecar/plan", raw).json()
        inside = {line.split()[1] for line in text.splitlines() if line.startswith("backend ")}
        shown = {each["name"] for each in self.sidecar.get("backends").json()}
        model, backends = self.model, {*self.model["backends"], "app"}
        seen = {
            "version": f"# _version={version}\n" in text if "# _version=" in text else version == 1,
            "file": (inside, f"weight {model['weight']}\n" in text, "ring@nowhere" in text),
            "api": (shown, raw == text),
            "process": (set(self.haproxy.ask("show backend").split()[2:]), server.uweight if server else None),
            "servers": {name: (row.address, row.fqdn, row.port) for name, row in servers.items()},
            "plan": (plan["commands"], bool(plan["reload"])),
            "ready": self.sidecar.ask("GET", "/readyz").status_code,
        }
        wanted = {
            "version": True,
            "file": (backends, True, model["broken"]),
            "api": (backends, True),
            "process": (backends, model["weight"]),
            "servers": {name: self.places[address] for name, address in model["servers"].items()},
            "plan": ([], False),
            "ready": 200,
        }
        return {name: (seen[name], wanted[name]) for name in seen if seen[name] != wanted[name]}


def _put(model: dict[str, Any], name: str) -> None:
    model["backends"] |= {name}


def _drop(model: dict[str, Any], name: str) -> None:
    model["backends"] -= {name}


def as_fresh(directory: Path, binary: str) -> dict[str, tuple[str, str, int]]:
    """Return how a newly started HAProxy reports servers with the addresses in `SPELLINGS`."""
    lines = "".join(f"    server s{number} {_written(address)}:9\n" for number, address in enumerate(SPELLINGS))
    with fresh(directory / "fresh", binary, CONFIG + lines) as send:
        rows = {row.name: row for row in server_states(send("show servers state app"))}
    return {address: (row.address, row.fqdn, row.port) for number, address in enumerate(SPELLINGS) for row in [rows[f"s{number}"]]}


def _written(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def set_mood(directory: Path, text: str) -> None:
    script = directory / "reload.new"
    script.write_text(f"#!/bin/sh\nPID=$(cat {directory}/haproxy.pid)\n{text}\n")
    script.chmod(0o755)
    script.replace(directory / "reload")


def set_pid(sidecar: Quick) -> None:
    (sidecar.directory / "haproxy.pid").write_text(str(sidecar.haproxy.pid))


@contextmanager
def walking(directory: Path, binary: str, strategy: str, seed: int, *, chaos: bool) -> Iterator[Walk]:
    directory.mkdir(exist_ok=True)
    set_mood(directory, MANAGER if strategy == "manager" else MOODS["well"])
    master = strategy in ("command beside a master", "master")
    settings = {"master_worker_mode": strategy == "master"} if master else {}
    with (
        HAProxy(directory, CONFIG, binary=binary, master=master) as haproxy,
        Quick(haproxy, settings=settings, reload={"reload_cmd": str(directory / "reload")}) as sidecar,
    ):
        set_pid(sidecar)
        yield Walk(sidecar, Random(seed), strategy, chaos, places=as_fresh(directory, binary))
