"""Run a fleet: three servers or more, each with a real HAProxy, and a real etcd."""

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Self

import httpx2
from ruamel.yaml import YAML

from haproxy_native.features.fleet.sealing import new_secret
from tests.acceptance.quick import Quick
from tests.haproxy.etcd import EtcdMember
from tests.haproxy.process import HAProxy
from tests.until import until

FLEET = "/v3/sidecar/fleet"
NAMES = ("lb1", "lb2", "lb3")
CONFIG = """global
  maxconn 100
defaults
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
frontend web
  bind unix@web.sock
  default_backend app
backend app
  server a 127.0.0.1:1 weight 10
"""
QUICK = {"bake": "0s"}


class Node(Quick):
    def __init__(self, haproxy: HAProxy, name: str, settings: Mapping[str, Any]) -> None:
        super().__init__(haproxy)
        local = "drift" if name == "lb3" else "refuse"
        with self.file.open("a") as file:
            YAML().dump({"fleet": {"group": "edge", "node": name, "local_changes": local, **settings}}, file)

    def set_fleet(self, **settings: Any) -> None:
        """Change settings of the fleet in the settings file. They take effect at the next start."""
        content = YAML().load(self.file)
        content["fleet"] |= settings
        with self.file.open("w") as file:
            YAML().dump(content, file)

    def add_users(self, roles: Mapping[str, Any]) -> None:
        """Add roles, and for each a user with the same name and password. They take effect at the next start."""
        content = YAML().load(self.file)
        for user in (api := content["dataplaneapi"])["user"]:
            user["role"] = "admin"
        api["user"] += [{"name": name, "password": name, "insecure": True, "role": name} for name in roles]
        api["roles"] = dict(roles)
        with self.file.open("w") as file:
            YAML().dump(content, file)

    def fleet(self) -> dict[str, Any]:
        return dict(self.get(FLEET).json())

    def phase(self) -> str:
        return str(self.get(f"{FLEET}/health").json()["phase"])

    def difference(self, name: str) -> dict[str, Any]:
        """Return how a node differs from the release; nothing while the node has not stored that yet."""
        return dict(self.get(f"{FLEET}/nodes/{name}", diff=True).json().get("difference", {}))

    def metric(self, name: str) -> float:
        """Return the value of a metric of the fleet, with its labels in the name; -1 if there is no such metric."""
        found = re.search(rf"^dataplane_fleet_{re.escape(name)} (\S+)$", self.get("/metrics").text, re.MULTILINE)
        return float(found[1]) if found else -1.0

    def weight(self) -> str:
        """Return the weight of the server `a` in the worker; '' while HAProxy does not answer because it reloads."""
        try:
            return self.stat("a").get("weight", "")
        except OSError:
            return ""

    def set_weight(self, weight: int) -> None:
        answer = self.put_server("a", {"weight": weight})
        assert answer.status_code == 200, answer.text

    def release(self, **body: Any) -> httpx2.Response:
        return self.post(f"{FLEET}/releases", QUICK | body)

    def adopt(self, side: str) -> httpx2.Response:
        return self.post(f"{FLEET}/adopt", {"from": side})

    def is_done(self, number: int) -> bool:
        release = self.fleet().get("release", {})
        return bool(release.get("number") == number and release["state"] == "done")

    def has_release(self, number: int, weight: str) -> bool:
        return self.is_done(number) and self.weight() == weight and self.phase() == "good"

    def file_state(self) -> tuple[int, int]:
        """Return values that change with each write of the configuration."""
        state = self.haproxy.file.stat()
        return state.st_ino, state.st_mtime_ns

    def reloads(self) -> int:
        return len(self.get("/v3/services/haproxy/reloads").json())


class Fleet:
    """A fleet. `settings` are further settings of all nodes. `binaries` has the HAProxy of nodes that use another one than the newest.

    `names` are the nodes.
    """

    def __init__(
        self,
        directory: Path,
        config: str = CONFIG,
        settings: Mapping[str, Any] | None = None,
        *,
        etcd: Sequence[str] = (),
        binaries: Mapping[str, str] | None = None,
        names: Sequence[str] = NAMES,
    ) -> None:
        self._directory, self.etcd, self._config = directory, EtcdMember(directory, *etcd), config
        self._binaries, self._names = binaries or {}, names
        (key := directory / "fleet.key").write_text(new_secret())
        key.chmod(0o600)
        self.settings = {"endpoints": [self.etcd.url], "keys": [str(key)], **(settings or {})}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self.etcd)
            self.nodes = [self._node(stack, name) for name in self._names]
            lb1, *others = self.nodes
            assert lb1.post(f"{FLEET}/init").status_code == 201, lb1.get(FLEET).text
            for node in others:
                assert (joined := node.adopt("store")).status_code == 200, joined.text
            until(lambda: sorted(node["phase"] for node in lb1.fleet()["nodes"]) == ["good"] * len(self.nodes), lb1.get(FLEET).text)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _node(self, stack: ExitStack, name: str) -> Node:
        (directory := self._directory / name).mkdir()
        haproxy = stack.enter_context(HAProxy(directory, self._config, binary=self._binaries.get(name, "")))
        return stack.enter_context(Node(haproxy, name, self.settings))

    def another(self, directory: Path, name: str, **settings: Any) -> Node:
        """Return one more node, which is not running yet."""
        directory.mkdir()
        return Node(self._stack.enter_context(HAProxy(directory, self._config)), name, {**self.settings, **settings})

    def all(self, number: int, weight: str) -> None:
        """Wait until all nodes have release `number`, in which the server `a` has this weight."""
        for node in self.nodes:
            until(partial(node.has_release, number, weight), str(node.fleet()))


def number(node: Node) -> int:
    return int(node.fleet()["release"]["number"])
