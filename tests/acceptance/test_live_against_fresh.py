"""Compare HAProxy after changes at runtime with a new process for the same file, by every field and every check.

A walk commits random changes. Changes that HAProxy refuses are undone. The seed is printed; the variables WALK_SEED,
WALK_STEPS and WALK_PATIENCE (seconds for checks to show the same) change a walk.
"""

import copy
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.commit.change import Change
from haproxy_native.engine import Engine
from haproxy_native.errors import Refused
from haproxy_native.grammar.load import grammar
from haproxy_native.planning.live import NOTHING
from haproxy_native.planning.observed import Claim, by_backend, server_differences
from haproxy_native.planning.servers import Servers
from haproxy_native.request_context import NOBODY
from haproxy_native.runtime.verification import server_limits
from haproxy_native.text.document import Document
from tests.acceptance.effective import differences, effective, fresh
from tests.acceptance.random_sections import ADDRESSES, BINDS, LOOPBACK, PLAIN, PORTS, Configuration
from tests.acceptance.witness import Witness
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import Stating, push, reload, run, running_engine
from tests.until import until

VERSIONS = (*binaries.EACH[:-1], pytest.param("3.2", marks=pytest.mark.soak), "3.4")
MOVED = "127.0.0.7"
MEDDLING = ["weight 33", "weight 0", "state maint", "state drain", f"addr {MOVED}", f"addr {MOVED} port 77"]
# HAProxy 3.4.7 refuses every address for checks. A later 3.4 may accept them, so the planner tries.
UNEXPECTED = "a runtime command failed: invalid addr"
STEPS = int(os.environ.get("WALK_STEPS", "12"))
SEED = int(os.environ.get("WALK_SEED", "0"))
# Longer than any interval of the checks; an agent of many may take longer between two visits, so that later looks last up to the second.
WINDOW, LONGEST_WINDOW = 0.25, 1.0
PATIENCE = float(os.environ.get("WALK_PATIENCE", "20"))


@dataclass
class Stage:
    """An engine with HAProxy, and the servers that its checks use. `other` are the servers for the checks of new processes."""

    haproxy: HAProxy
    servers: Witness
    other: Witness
    binds: tuple[list[int], list[int]]
    seed: int
    has_backends: bool
    outcomes: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        # Commands that others send to the socket, from a separate random generator.
        self.chance = random.Random(self.seed)

    def text(self, configuration: Configuration) -> str:
        return filled(configuration.text, self.servers, self.binds[0]).replace("{stats}", str(self.haproxy.stats))

    def fresh_text(self, configuration: Configuration) -> str:
        return filled(configuration.text, self.other, self.binds[1])

    def same_ports(self, send: Callable[[str], str]) -> Callable[[str], str]:
        """Send a command to a new process, and replace its ports in the answer by those of the first process."""
        ports = dict(zip(map(str, self.other.ports), map(str, self.servers.ports), strict=True))
        pattern = re.compile(rf"\b({'|'.join(ports)})\b")
        return lambda command: pattern.sub(lambda match: ports[match[0]], send(command))


def filled(text: str, witness: Witness, binds: list[int]) -> str:
    for number, port in enumerate(witness.ports):
        text = text.replace(f"{{p{number}}}", str(port))
    for number, port in enumerate(binds):
        text = text.replace(f"{{b{number}}}", str(port))
    return text


@pytest.fixture(params=VERSIONS)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    binary = binaries.exactly(request.param)
    with ExitStack() as stack:
        servers, other = (stack.enter_context(Witness([LOOPBACK, *ADDRESSES], PORTS)) for _ in range(2))
        binds = [free_port() for _ in range(BINDS)], [free_port() for _ in range(BINDS)]
        seed = SEED or (time.time_ns() % 1_000_000 if request.node.get_closest_marker("soak") else 638)
        has_backends = binaries.version(binary) >= (3, 4)
        configuration = filled(Configuration(seed).text, servers, binds[0])
        haproxy = stack.enter_context(HAProxy(tmp_path, configuration, binary=binary))
        yield Stage(haproxy, servers, other, binds, seed, has_backends)


async def differing(engine: Engine) -> set[tuple[str, str]]:
    """Return the servers that differ in the worker from the loaded configuration."""
    assert engine.running
    rows, limits = by_backend(await engine.runtime.servers()), await server_limits(engine.runtime)
    return {(each.backend, each.server) for each in server_differences(engine.running, Servers(grammar()), rows, limits)}


async def meddle(engine: Engine, stage: Stage, configuration: Configuration) -> None:
    """Change a server on the socket as others do. Assert that the engine finds this difference, and none before."""
    assert await differing(engine) == set(), f"seed {stage.seed}"
    servers = [(each, server) for each in configuration.backends for server in each.servers]
    chosen, server = stage.chance.choice(servers)
    backend = chosen.name
    row = next((row for row in await engine.runtime.servers(backend) if row.name == server.name), None)
    # No command gives a server its unresolved address back.
    choices = [each for each in MEDDLING if row is None or row.address != NOTHING or MOVED not in each]
    command = f"set server {backend}/{server.name} {stage.chance.choice(choices)}"
    before = row.settings if row else None
    # HAProxy may accept an address before it sets it.
    if stage.haproxy.ask(command).startswith("IP changed"):
        until(lambda: f" {MOVED} " in stage.haproxy.ask(f"show servers state {backend}"))
    is_seen = server.place in PLAIN and "agent-check" not in chosen.text() and "%" not in chosen.text()
    is_changed = await shown(engine, backend, server.name) != before
    found = await differing(engine)
    expected = {(backend, server.name)}
    described = f"seed {stage.seed}, {command}: {found}\n{configuration.text}"
    assert found == expected if is_seen and is_changed else found <= expected, described
    stage.outcomes["outside"] += is_changed
    await set_back(engine, backend, server.name)
    if row and not is_seen:
        # Values that an agent or HAProxy itself may have set are not changed.
        place = [f"addr {row.address} port {row.port}"] if row.address != NOTHING else []
        for member in (f"weight {row.uweight}", f"state {row.forced_state}", *place):
            stage.haproxy.ask(f"set server {backend}/{server.name} {member}")
        until(lambda: f" {MOVED} " not in stage.haproxy.ask(f"show servers state {backend}"))
    assert await differing(engine) == set(), f"seed {stage.seed}, {command}"


async def set_back(engine: Engine, backend: str, server: str) -> None:
    """Set a server to its configured values, as a PUT of the server does."""
    stated = Stating(engine.document, claimed=frozenset({Claim(backend, server)}))
    outcome = await engine.write([stated], Version(engine.version()), author=NOBODY)
    assert outcome.live or (await reload(engine)).status == "succeeded"


async def shown(engine: Engine, backend: str, server: str) -> str | None:
    return next((row.settings for row in await engine.runtime.servers(backend) if row.name == server), None)


async def step(engine: Engine, stage: Stage, configuration: Configuration) -> Configuration:
    """Commit one more change, and return the configuration that the process then has."""
    if engine.context.running.is_current and stage.chance.random() < 0.5:
        await meddle(engine, stage, configuration)
    changed = copy.deepcopy(configuration)
    what = changed.change()
    text = stage.text(changed).encode()
    planned = await engine.plan(Change([await engine.text(text)], author=NOBODY))
    try:
        outcome = await push(engine, text, version=engine.version())
    except Refused:
        stage.outcomes["refused"] += 1
        configuration.chance = changed.chance
        return configuration
    assert planned.valid, what
    done = [] if outcome.reasons else list(outcome.commands)
    # In the stored text, the line with the version comes first.
    whys = [[(reason.section, reason.keyword, reason.why) for reason in reasons] for reasons in (planned.reasons, outcome.reasons)]
    if not any(UNEXPECTED in why for _, _, why in whys[1]):
        assert (whys[0], list(planned.commands)) == (whys[1], done), f"seed {stage.seed}, {what}"
    stage.outcomes[outcome.kind] += 1
    if outcome.live:
        compare(stage, changed, what)
    elif outcome.reload_id:
        assert outcome.reasons
        assert (await reload(engine)).status == "succeeded", what
    return changed


def compare(stage: Stage, configuration: Configuration, what: str) -> None:
    with fresh(stage.haproxy.directory / "fresh", stage.haproxy.binary, stage.fresh_text(configuration)) as send:
        deadline, window = time.monotonic() + PATIENCE, WINDOW
        while found := [*fields(stage, configuration, send), *visits(stage, window)]:
            assert time.monotonic() < deadline, "\n".join([f"seed {stage.seed}, {what}:", *found, configuration.text])
            window = min(2 * window, LONGEST_WINDOW)


def fields(stage: Stage, configuration: Configuration, send: Callable[[str], str]) -> list[str]:
    """Return the effective fields. A computed fullconn is left out if no server has minconn, because it then has no effect."""
    unused = {f"{backend.name}/BACKEND slim" for backend in configuration.backends if "minconn" not in backend.text()}
    shown = effective(stage.haproxy.ask), effective(stage.same_ports(send))
    return differences(*({name: value for name, value in each.items() if name not in unused} for each in shown))


def visits(stage: Stage, seconds: float) -> list[str]:
    """Return the visits of checks from one process that the other process does not make."""
    live, other = stage.servers.seen(seconds), stage.other.seen(seconds)
    return [f"checks: live {sorted(live - other)}, fresh {sorted(other - live)}"] if live != other else []


def walk(stage: Stage, steps: int) -> None:
    print(f"seed {stage.seed}, HAProxy {stage.haproxy.version}")

    async def work() -> None:
        async with running_engine(stage.haproxy.directory, stage.haproxy) as engine:
            configuration = Configuration(stage.seed, backends_come=stage.has_backends)
            for _ in range(steps):
                configuration = await step(engine, stage, configuration)
                if what_came := configuration.text.count("backend n"):
                    stage.outcomes["most new backends"] = max(stage.outcomes["most new backends"], what_came)
            await reload(engine)

    run(work())
    print(dict(stage.outcomes))


def test_live_is_what_a_fresh_process_does(stage: Stage) -> None:
    walk(stage, STEPS)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_live_is_what_a_fresh_process_does_for_long(stage: Stage) -> None:
    walk(stage, 500)


def test_documents_of_the_walk_are_read_as_they_are_written() -> None:
    text = Configuration(1).text
    assert Document.parse(text).text == text
