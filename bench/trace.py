"""`python -m bench.trace [CHECKOUT]`: count what one request executes in our code, with a real HAProxy.

Prints a row for each of three requests: a PUT of a server's weight that is made live, the commit of a transaction with the same change, and
a PUT of a server in the running process. Another checkout is run by the Python of its own `.venv`. A column that counts functions by their
names shows `-` if the checkout has none of them. Python does not see when SQLite syncs, therefore its commits are counted.
"""

import argparse
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from multiprocessing.connection import Client
from pathlib import Path
from typing import Any, NamedTuple

from bench.farm import Farm, farm
from bench.subject import CONFIGURATION, Subject, running
from bench.traced import Call
from tests.haproxy import binaries

REQUESTS = PUT, COMMIT, IN_PROCESS = "PUT, live", "commit, live", "PUT in the process"
SERVICES, SERVER = "/v3/services/haproxy", "backends/b0/servers/s0"
# Requests of a kind before the first that counts: they import what is imported late, and resolve routes.
WARM = 3
# Before each request, so that what the one before left to be done later is no part of it.
REST_SECONDS = 0.3
# How the line of the server begins, as text and as words.
LINE, WORDS = re.compile(r"\s*server\s+s0\s"), ("server", "s0")
# Names of functions, here and in other checkouts; without a dot, of methods of any class as well.
EDITOR = {"Editor.replace"}
TO_WORDS = {"split", "words_of"}
TO_OBJECT, TAKEN_APART = {"LineShape.take", "LineShape.parse_words"}, {"LineShape._taken_apart", "LineShape._parse"}
NOTICE = {"notice", "notice_in_thread"}
COMPARE = {"Change.compare", "Version.compare", "Expect.compare"}
PERMIT = {"permit", "permits"}
EXCHANGE = {"RuntimeExchange.__init__"}
NAMES = frozenset().union(EDITOR, TO_WORDS, TO_OBJECT, TAKEN_APART, NOTICE, COMPARE, PERMIT, EXCHANGE)


class Trace(NamedTuple):
    """The calls for a request and those of timers meanwhile, in their order, and which of NAMES the checkout has."""

    calls: list[Call]
    known: set[str]

    def columns(self) -> dict[str, int | None]:
        """Return a row: `stack` counts own frames above the editor in its thread, `frames` in all tasks and threads that wait for it."""
        edits, functions = self._of(EDITOR), self._functions()
        return {
            "stack": max((call.stack for call in edits), default=None),
            "frames": max((call.depth - 1 for call in edits), default=None),
            "files": len({file for file, _ in functions}),
            "functions": len(functions),
            "calls": sum(bool(call.file and call.depth) for call in self.calls),
            "threads": len({call.thread for call in self.calls if call.depth}),
            "to words": self._count(TO_WORDS, holds_server),
            # A shape that keeps readings takes apart what it does not know.
            "to object": self._count(TAKEN_APART if self.known & TAKEN_APART else TO_OBJECT, holds_server),
            "stat": len(self._of({"os.stat", "os.lstat", "os.fstat"})),
            "notice": self._count(NOTICE),
            "compare": self._count(COMPARE),
            "permit": self._count(PERMIT),
            "fsync": len(self._of({"os.fsync", "os.fdatasync"})),
            "commits": len(self._of({"COMMIT"})),
            "commands": len(self.commands()) if self.known & EXCHANGE else None,
            "checks": sum("-c" in call.given for call in self._of({"subprocess.Popen"})),
        }

    def commands(self) -> list[str]:
        """Return what was sent to HAProxy, without the prefix of a master's socket."""
        requests = [value.decode() for call in self._of(EXCHANGE) for value in call.given if isinstance(value, bytes)]
        sent = [command for request in requests for command in request.split("\n")[0].split(";")]
        return [re.sub(r"^@\S+ ", "", command) for command in sent if command not in ("", "quit")]

    def packages(self) -> dict[str, str]:
        """Return the numbers of files and functions, by package."""
        functions = Counter(package(file) for file, _ in self._functions())
        files = Counter(map(package, {file for file, _ in self._functions()}))
        return {name: f"{files[name]} {number:3}" for name, number in functions.items()}

    def tree(self) -> Iterator[str]:
        """Yield the calls, each below the one that waits for it: its thread, name and place, and how often it was made in a row."""
        ours = [call for call in self.calls if call.depth]
        threads = list(dict.fromkeys(call.thread for call in ours))
        for (thread, depth, name, file, line), alike in groupby(ours, lambda c: (c.thread, c.depth, c.name, c.file, c.line)):
            number, where = len(list(alike)), f"  {file}:{line}" if file else ""
            yield f"{threads.index(thread)} {'  ' * depth}{name}{f' x{number}' if number > 1 else ''}{where}"

    def _functions(self) -> set[tuple[str, str]]:
        return {(call.file, call.name) for call in self.calls if call.file and call.depth}

    def _of(self, names: set[str]) -> list[Call]:
        """Return the request's calls of functions of these names, without those that they make of each other."""
        return [call for call in self.calls if call.depth and is_one(call.name, names) and not is_one(call.caller, names)]

    def _count(self, names: set[str], matches: Callable[[Call], bool] = lambda call: True) -> int | None:
        return sum(map(matches, self._of(names))) if self.known & names else None


def is_one(name: str, names: set[str]) -> bool:
    return name in names or name.rpartition(".")[2] in names


def holds_server(call: Call) -> bool:
    return any(LINE.match(value) if isinstance(value, str) else tuple(value[:2]) == WORDS for value in call.given)


def package(file: str) -> str:
    return ".".join(Path(file).parts[1:-1])


def request(kind: str, subject: Subject, site: Farm, number: int) -> tuple[str, str, Any]:
    """Return a request that changes something, unlike the one with the number before."""
    if kind == IN_PROCESS:
        return "PUT", f"{SERVICES}/runtime/{SERVER}", {"admin_state": "ready" if number % 2 else "maint"}
    version, body = f"version={subject.version()}", site.server_body(0, number)
    if kind == PUT:
        return "PUT", f"{CONFIGURATION}/{SERVER}?{version}", body
    opened = subject.connection.ask("POST", f"{SERVICES}/transactions?{version}").json()["id"]
    subject.connection.ask("PUT", f"{CONFIGURATION}/{SERVER}?transaction_id={opened}", body)
    return "PUT", f"{SERVICES}/transactions/{opened}", None


def traces(checkout: Path, rounds: int) -> dict[str, Trace]:
    """Return the trace of each kind of request: of several rounds, the one in which least was called, as timers run at any time.

    Raises SystemExit for a change that needs a reload.
    """
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        site, socket = farm(10, Path(directory), binaries.newest()), f"{directory}/trace.sock"
        entry = f"{checkout}/.venv/bin/python -P {Path(__file__).with_name('traced.py')} {checkout} {socket} -f {site.settings()}"
        with site.haproxy, running(entry, site.port, site.directory) as subject, Client(socket) as control:

            def traced(kind: str, number: int) -> Trace:
                asked = request(kind, subject, site, number)
                time.sleep(REST_SECONDS)
                control.send(NAMES)
                control.recv()
                answer = subject.connection.ask(*asked)
                control.send(None)
                if answer.status == 202:
                    raise SystemExit(f"{asked}: HAProxy reloads for it")
                calls, known = control.recv()
                return Trace([Call(*call) for call in calls], known)

            made = {kind: [traced(kind, number + 1) for number in range(WARM + rounds)][WARM:] for kind in REQUESTS}
    return {kind: min(some, key=lambda trace: len(trace.calls)) for kind, some in made.items()}


def table(rows: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    """Yield the lines of a table with the columns of its first row."""
    columns, first = next(iter(rows.values())), max(map(len, rows))
    yield " " * first + "".join(f"  {column}" for column in columns)
    for name, row in rows.items():
        yield f"{name:{first}}" + "".join(f"{'-' if row[each] is None else str(row[each]):>{len(each) + 2}}" for each in columns)


def main() -> None:
    options = parser().parse_args()
    made = traces(options.checkout.resolve(), options.rounds)
    print(*table({kind: trace.columns() for kind, trace in made.items()}), sep="\n")
    if options.by_package:
        by_kind = {kind: trace.packages() for kind, trace in made.items()}
        packages = sorted(set().union(*by_kind.values()))
        print("\nFiles and functions:", *table({each: {kind: by_kind[kind].get(each) for kind in made} for each in packages}), sep="\n")
    for kind, trace in made.items() if options.calls else ():
        print(f"\n{kind}:", *trace.tree(), *trace.commands(), sep="\n")


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m bench.trace", description="Counts what one request executes.")
    made.add_argument("checkout", nargs="?", type=Path, default=Path(__file__).parents[1], help="another one, which has a .venv")
    made.add_argument("--rounds", type=int, default=10, help="requests of each kind; the one in which least was called is shown")
    made.add_argument("--by-package", action="store_true", help="files and functions of each package, too")
    made.add_argument("--calls", action="store_true", help="each call below its caller, too")
    return made


if __name__ == "__main__":
    main()
