"""The rows of a measurement: a name and a median, in seconds, MiB or answers a second."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any

from bench.apply import declared_backend
from bench.connection import Answer, Connection, Refused, flood
from bench.farm import LARGE, MAP_CHANGES, MAP_ENTRIES, PATTERNS, Farm, map_entries, server_line
from bench.plan import Effort
from bench.stalls import stalls
from bench.subject import CONFIGURATION, Subject
from tests.haproxy.process import ask

RUNTIME = "/v3/services/haproxy/runtime"
MAPS, ACLS = f"{RUNTIME}/maps", f"{RUNTIME}/acls"
# Clients that change servers at once, and how a server says that another one was first.
CLIENTS, CONFLICT = 8, ": 409 "
PATIENCE = 10.0
SINGLE = "3,000 servers by single calls"


class Run:
    """One server beside one farm; every method is a row or a family of them, in the order of `all`."""

    def __init__(self, subject: Subject, farm: Farm, effort: Effort) -> None:
        self.subject, self.farm, self.effort = subject, farm, effort
        self._weight = 100

    def all(self) -> Iterator[tuple[str, float]]:
        yield "start", self.subject.seconds_to_start
        time.sleep(self.effort.rest)
        yield "memory at rest", self.subject.memory()
        yield "read each server once", self.read_each()
        yield "read one server", self.median(self.effort.reads, self.read_one)
        yield "read all backends", self.median(self.effort.large_reads, self.read_all)
        if self.farm.size > LARGE:
            yield "read 2,000 rules", self.median(self.effort.large_reads, self.read_rules)
            yield "read all backends after a change", self.median(self.effort.changes, lambda: self.after_a_change(self.read_all))
            yield "read 2,000 rules after a change", self.median(self.effort.changes, lambda: self.after_a_change(self.read_rules))
        yield "many readers", flood(self.subject.port, self.one, clients=self.effort.clients, seconds=self.effort.seconds)
        yield "statistics", self.median(self.effort.large_reads, self.read_statistics)
        if self.farm.has_maps:
            yield f"list {MAP_ENTRIES:,} entries", self.median(self.effort.large_reads, self.list_map)
            yield f"fill {MAP_CHANGES:,} entries", self.median(self.effort.pushes, self.fill_map)
            yield f"replace {PATTERNS:,} patterns", self.median(self.effort.pushes, self.replace_patterns)
        yield "read a runtime server", self.median(self.effort.large_reads, self.read_runtime)
        yield "live change", self.live_change()
        yield "live change, in effect", self.median(self.effort.changes, self.in_effect)
        yield "live changes of 8 clients", self.changes_of_many(self.effort.changes)
        yield "open a transaction", self.median(self.effort.changes, self.open_and_drop)
        yield "commit one change", self.median(self.effort.changes, self.commit_one)
        yield from self.large_transaction()
        yield "raw push of weights", self.median(self.effort.pushes, self.push)
        yield "memory at the end", self.subject.memory()
        yield f"{self.effort.transactions} transactions", self.open_many()
        if self.effort.single:
            yield SINGLE, self.by_single_calls(self.effort.single)
        if self.farm.size > LARGE:
            yield from stalls(self.subject, self.farm)

    @property
    def one(self) -> str:
        return self.path(0)

    def path(self, number: int) -> str:
        backend, name = self.farm.server(number)
        return f"{CONFIGURATION}/backends/{backend}/servers/{name}"

    def median(self, times: int, action: Callable[[], float]) -> float:
        action()
        return median(action() for _ in range(times))

    def read_one(self) -> float:
        return self.ask("GET", self.one).seconds

    def read_each(self) -> float:
        """The cost of a read that is requested for the first time."""
        paths = [self.path(number) for number in range(1, min(self.effort.reads, self.farm.size))]
        return median(self.ask("GET", path).seconds for path in paths)

    def read_all(self) -> float:
        return self.ask("GET", f"{CONFIGURATION}/backends").seconds

    def read_rules(self) -> float:
        return self.ask("GET", f"{CONFIGURATION}/frontends/rules/http_request_rules").seconds

    def read_statistics(self) -> float:
        return self.ask("GET", "/v3/services/haproxy/stats/native").seconds

    def list_map(self) -> float:
        return self.ask("GET", f"{MAPS}/{self.farm.map.name}/entries").seconds

    def fill_map(self) -> float:
        body = [{"key": key, "value": value} for key, value in map_entries(MAP_CHANGES)]
        return self.ask("PUT", f"{MAPS}/{self.farm.other_map.name}", body).seconds

    def replace_patterns(self) -> float:
        """All of an ACL anew; each time others, so that nothing is there already."""
        (acl,) = [acl for acl in self.ask("GET", ACLS).json() if acl["storage_name"] == str(self.farm.patterns)]
        body = [{"value": f"/{self.weight()}/{number}"} for number in range(PATTERNS)]
        return self.ask("PUT", f"{ACLS}/{acl['id']}/entries", body).seconds

    def after_a_change(self, read: Callable[[], float]) -> float:
        """The cost of the first read after the file was changed elsewhere."""
        self.change(0, version=self.subject.version())
        return read()

    def live_change(self) -> float:
        """Another weight for one server, by PUT, outside a transaction."""
        return self.median(self.effort.changes, lambda: self.change(0, version=self.subject.version()))

    def in_effect(self) -> float:
        """Until HAProxy shows the new weight, which its own socket is asked for all the while."""
        version, wanted = self.subject.version(), self._next_weight
        backend, name = self.farm.server(0)
        with ThreadPoolExecutor(1) as beside:
            begin = time.perf_counter()
            change = beside.submit(self.change, 0, version=version)
            while not ask(self.farm.haproxy.stats, f"get weight {backend}/{name}").startswith(f"{wanted} "):
                if change.done() and time.perf_counter() - begin > PATIENCE:
                    raise Refused(f"the weight {wanted} is not in effect after {PATIENCE:g} s")
            seconds = time.perf_counter() - begin
            change.result()
        return seconds

    def changes_of_many(self, each: int) -> float:
        """Changes a second of clients with a server each; a change that another one has overtaken is made again."""

        def work(number: int) -> None:
            with Connection(self.subject.port) as connection:
                for _ in range(each):
                    self._until_taken(connection, number)

        begin = time.perf_counter()
        with ThreadPoolExecutor(CLIENTS) as clients:
            list(clients.map(work, range(CLIENTS)))
        return CLIENTS * each / (time.perf_counter() - begin)

    def _until_taken(self, connection: Connection, number: int) -> None:
        backend, name = self.farm.server(number)
        body = self.farm.server_body(number, self.weight())
        while True:
            version = connection.ask("GET", f"{CONFIGURATION}/version").json()
            try:
                connection.ask("PUT", f"{CONFIGURATION}/backends/{backend}/servers/{name}?version={version}", body)
                return
            except Refused as error:
                if CONFLICT not in str(error):
                    raise

    def read_runtime(self) -> float:
        backend, name = self.farm.server(0)
        return self.ask("GET", f"{RUNTIME}/backends/{backend}/servers/{name}").seconds

    def change(self, number: int, **parameters: object) -> float:
        query = "&".join(f"{name}={value}" for name, value in parameters.items())
        backend, name = self.farm.server(number)
        return self.ask(
            "PUT", f"{CONFIGURATION}/backends/{backend}/servers/{name}?{query}", self.farm.server_body(number, self.weight())
        ).seconds

    def weight(self) -> int:
        """A weight that the file does not have yet."""
        self._weight = self._next_weight
        return self._weight

    @property
    def _next_weight(self) -> int:
        return 1 + self._weight % 200

    def open_and_drop(self) -> float:
        seconds, transaction = self.open()
        self.ask("DELETE", f"/v3/services/haproxy/transactions/{transaction}")
        return seconds

    def open(self) -> tuple[float, str]:
        answer = self.ask("POST", f"/v3/services/haproxy/transactions?version={self.subject.version()}")
        return answer.seconds, str(answer.json()["id"])

    def commit_one(self) -> float:
        _, transaction = self.open()
        self.change(0, transaction_id=transaction)
        return self.commit(transaction)

    def commit(self, transaction: str) -> float:
        return self.ask("PUT", f"/v3/services/haproxy/transactions/{transaction}").seconds

    def large_transaction(self) -> Iterator[tuple[str, float]]:
        """Many changes, each of another server as far as there are so many."""
        _, transaction = self.open()
        taken = [self.change(number % self.farm.size, transaction_id=transaction) for number in range(self.effort.batch)]
        yield "change in a transaction", median(taken)
        yield f"commit {self.effort.batch} changes", self.commit(transaction)

    def push(self) -> float:
        """The whole file, with another weight for some servers."""
        lines = {server_line(number, 0).split()[1] for number in range(min(self.effort.pushed, self.farm.size))}
        weight = f"weight {self.weight()}"
        text = "".join(_with_weight(line, weight) if _name(line) in lines else line for line in self.raw().splitlines(keepends=True))
        return self.ask("POST", f"{CONFIGURATION}/raw?version={self.subject.version()}", text.encode()).seconds

    def raw(self) -> str:
        """The file without the header that a server writes above it."""
        text = self.ask("GET", f"{CONFIGURATION}/raw").body.decode()
        return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))

    def open_many(self) -> float:
        """MiB that many open transactions with a change each take beyond one."""
        self.change(0, transaction_id=self.open()[1])
        before = self.subject.memory()
        for number in range(self.effort.transactions):
            self.change(number % self.farm.size, transaction_id=self.open()[1])
        return self.subject.memory() - before

    def by_single_calls(self, backends: int) -> float:
        """What bench/apply.py declares in one call, as clients of the API do it: a call for each object, in a transaction."""
        begin = time.perf_counter()
        _, transaction = self.open()
        for declared in map(declared_backend, range(backends)):
            path, query = f"{CONFIGURATION}/backends", f"?transaction_id={transaction}"
            backend = {"name": f"single-{declared['name']}", "mode": "http", "balance": declared["balance"]}
            self.ask("POST", f"{path}{query}", backend)
            for server in declared["servers"].values():
                self.ask("POST", f"{path}/{backend['name']}/servers{query}", server)
        self.commit(transaction)
        return time.perf_counter() - begin

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        return self.subject.connection.ask(method, path, body)


def _name(line: str) -> str:
    words = line.split(maxsplit=2)
    return words[1] if len(words) > 1 and words[0] == "server" else ""


def _with_weight(line: str, weight: str) -> str:
    before, _, after = line.partition("weight ")
    return f"{before}{weight} {after.partition(' ')[2]}" if after else line
