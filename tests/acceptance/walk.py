"""Call all operations that a server declares, and record the answers whose status is not a declared success code.

This module calls the actions on resources of the configuration; walk_areas.py calls all other operations.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx2

from haproxy_native import seccomp
from tests.acceptance.examples import Examples, Upload
from tests.acceptance.objects import CHILDREN, SECTIONS
from tests.haproxy.sidecar import Sidecar

# The order in which the actions of a collection are called. A section that exists once is deleted before it is created.
ACTIONS = ("list", "create", "append", "get", "replace", "patch", "replace_all", "delete")
SINGLE = ("get", "replace", "patch", "delete", "create")
# The sections in the configuration, by kind. HAProxy 3.4 requires different names of proxies and defaults sections.
PARENTS, PARENT = {"defaults": "spare", "frontends": "web", "backends": "app", "listens": "both"}, "one"
# The exceptions from PARENTS, by parent and resource.
OTHERS = {("healthchecks", "tcp_checks"): "tcp"}
BODIES = {
    ("backends", "servers"): {"name": "s3", "address": "127.0.0.1", "port": 3},
    ("listens", "servers"): {"name": "s3", "address": "127.0.0.1", "port": 3},
    ("global", "log_targets"): CHILDREN["log_targets"][-1],
}


# Operations that answer like the reference implementation, whose declaration differs.
ODD = {"getAPIEndpoints": {404}, "setCaFile": {201}}
# The statuses before and after the node has joined its group.
ODD |= {"getFleetHealth": {200, 503}}
if not seccomp.available():
    # Without seccomp, the server starts no shadow.
    ODD |= {"explainRequest": {200, 501}, "runRoutingTests": {200, 501}}
SERVICE_UNAVAILABLE = 503


@dataclass(frozen=True)
class Operation:
    """An operation: one method of one path. `about` is its `x-operation`.

    `asked` are its query parameters, `needs` the required ones, and `takes` the media types of its body.
    """

    id: str
    method: str
    path: str
    about: Mapping[str, Any]
    codes: frozenset[int]
    asked: frozenset[str]
    needs: frozenset[str]
    takes: frozenset[str]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    for path, item in document["paths"].items():
        for method, declared in item.items():
            asked = [each for named in declared.get("parameters", ()) if (each := _resolved(document, named))["in"] == "query"]
            yield Operation(
                declared["operationId"],
                method.upper(),
                path,
                declared["x-operation"],
                frozenset(int(code) for code in declared["responses"] if code.startswith("2")),
                frozenset(each["name"] for each in asked),
                frozenset(each["name"] for each in asked if each.get("required")),
                frozenset(declared.get("requestBody", {}).get("content", ())),
            )


def _resolved(document: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    return document["components"]["parameters"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node


@dataclass
class Walk:
    """A walk. `called` has the ids of called operations, `trouble` the undeclared answers, and `examples` the calls for the reference."""

    sidecar: Sidecar
    document: Mapping[str, Any]
    called: set[str] = field(default_factory=set)
    trouble: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.examples = Examples(self.sidecar.directory)
        self.operations = list(operations(self.document))
        self.by_id = {each.id: each for each in self.operations}
        self.table = self.document["x-resources"]

    @property
    def left(self) -> list[Operation]:
        return [each for each in self.operations if each.id not in self.called]

    def call(self, operation: Operation, names: Mapping[str, str] = {}, body: Any = None, **query: Any) -> httpx2.Response:
        """Call an operation. `names` are the values of placeholders in the path. Adds the version unless the query has a transaction."""
        path = operation.path
        for name, value in names.items():
            path = path.replace("{" + name + "}", quote(value, safe=""))
        assert "{" not in path, f"{operation} needs further names"
        if "version" in operation.asked and operation.method != "GET" and "transaction_id" not in query:
            query.setdefault("version", self.sidecar.version())
        answer = self._ask(operation, "/v3" + path, body, query)
        self.called.add(operation.id)
        if answer.status_code not in ODD.get(operation.id, operation.codes):
            self.trouble.append(f"{operation}: {answer.status_code} {answer.text[:500]}")
        else:
            self.examples.add(operation.id, path, query, body, answer)
        return answer

    def step(self, id_: str, names: Mapping[str, str] = {}, body: Any = None, **query: Any) -> httpx2.Response:
        return self.call(self.by_id[id_], names, body, **query)

    def _ask(self, operation: Operation, path: str, body: Any, query: Mapping[str, Any]) -> httpx2.Response:
        send = self.sidecar.client.request
        if isinstance(body, Upload):
            return send(operation.method, path, params=query, files={"file_upload": (body.name, body.data)})
        if isinstance(body, str) and "application/json" in operation.takes:
            return send(operation.method, path, params=query, json=body)
        return self.sidecar.ask(operation.method, path, body, **query)

    def plain_reads(self) -> None:
        """Call all reads whose path has no placeholder, and that have no required parameter."""
        for operation in self.operations:
            if operation.method == "GET" and "{" not in operation.path and "resource" not in operation.about and not operation.needs:
                self.call(operation, **({"end_after": "0"} if "end_after" in operation.asked else {}))

    def strangers(self) -> list[Operation]:
        """Call the operations that were not called yet with names that do not exist, and return them. Answers must not be server errors."""
        found = self.left
        for operation in found:
            path = re.sub(r"\{\w+\}", "nosuch", operation.path)
            answer = self.sidecar.ask(operation.method, "/v3" + path, {} if "application/json" in operation.takes else None)
            if answer.status_code >= 500 and answer.status_code != SERVICE_UNAVAILABLE:
                self.trouble.append(f"{operation}: {answer.status_code} {answer.text[:500]}")
        return found

    # -- regular resources of the configuration

    def resources(self, *, everywhere: bool) -> None:
        """Call all actions of each resource, in one of its kinds of parents in turn, or with `everywhere` in each of them."""
        for number, (name, row) in enumerate(self.table.items(), 1):
            parents = row.get("parents", [None]) if "file" not in row else []
            for parent in parents if everywhere or not parents else [parents[number % len(parents)]]:
                self._life(name, row, parent)

    def _life(self, name: str, row: Mapping[str, Any], parent: str | None) -> None:
        own = [each for each in self.operations if each.about.get("resource") == name and each.about.get("parent") == parent]
        order = SINGLE if row["kind"] == "singleton" else ACTIONS
        for operation in sorted(own, key=lambda each: order.index(each.about["action"])):
            action = operation.about["action"]
            body = None if action in ("list", "get", "delete") else self._body(name, row, operation)
            self.call(
                operation, self._names(operation, name, row), [body] if action == "replace_all" else body, **self._owner(operation, row)
            )

    def _body(self, name: str, row: Mapping[str, Any], operation: Operation) -> Any:
        if row["kind"] == "singleton" and name not in SECTIONS:
            return self.sidecar.get(f"/v3/services/haproxy/configuration/{name}").json()
        body = BODIES.get((operation.about.get("parent"), name)) or (CHILDREN[name][0] if name in CHILDREN else SECTIONS[name])
        another = operation.about["action"] == "create" and operation.method == "PUT"
        return {**body, "name": "three"} if another else body

    def _names(self, operation: Operation, name: str, row: Mapping[str, Any]) -> dict[str, str]:
        placeholders = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
        key = row.get("key")
        own = "0" if row["kind"] == "indexed" else str(self._body(name, row, operation)[key]) if key in placeholders else ""
        return {each: own if each == key else _parent(operation) for each in placeholders}

    def _owner(self, operation: Operation, row: Mapping[str, Any]) -> dict[str, str]:
        owner = row.get("parent_parameter")
        return {owner: PARENT} if owner in operation.asked else {}


def _parent(operation: Operation) -> str:
    parent = operation.about.get("parent", "")
    return OTHERS.get((parent, operation.about.get("resource", ""))) or PARENTS.get(parent, PARENT)
