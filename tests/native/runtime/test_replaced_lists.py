"""Whole lists of a real HAProxy: replaced at once, or left as they were."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator

import pytest

from haproxy_native.errors import BadValue, RuntimeAbsent, RuntimeRefused
from haproxy_native.runtime import lists
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.lists import MapEntry, replace_map
from tests.haproxy import binaries
from tests.haproxy.process import SMALL, HAProxy

MANY = 4_000


@pytest.fixture(scope="module", params=["2.6", "3.4"])
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HAProxy]:
    directory = tmp_path_factory.mktemp("lists")
    for name, line in (("paths.acl", "/former\n"), ("nets.acl", "192.0.2.0/24\n"), ("a.map", "former x\n")):
        (directory / name).write_text(line)
    config = (
        SMALL
        + f"""\
  acl p path -f {directory}/paths.acl
  acl n src -f {directory}/nets.acl
  http-request set-var(txn.x) path,map_str({directory}/a.map)
  http-request deny if p n
"""
    )
    with HAProxy(directory, config, binary=binaries.exactly(request.param)) as haproxy:
        yield haproxy


def doing(haproxy: HAProxy, work, *, stats: bool = True) -> None:
    async def do() -> None:
        runtime = Runtime(timeout=60)
        assert await runtime.connect(str(haproxy.master), [str(haproxy.stats)] if stats else [], 60, 0.02)
        await work(runtime)

    asyncio.run(do())


def file(haproxy: HAProxy, name: str) -> str:
    return str(haproxy.directory / name)


async def patterns(runtime: Runtime, name: str) -> list[str]:
    return [pattern for _, pattern in await lists.read_acl(runtime, name)]


def test_many_patterns_take_little_time(loaded: HAProxy) -> None:
    """A connection of the master's for each would take eight times as long; the worker's own socket is used."""

    async def work(runtime: Runtime) -> None:
        name, wanted = file(loaded, "paths.acl"), [f"/some path/{number:06}; #{number}" for number in range(MANY)]
        connections = await total(runtime)
        began = time.monotonic()
        await lists.replace_patterns(name, lambda: wanted).apply(runtime)
        print(f"{MANY} patterns in {time.monotonic() - began:.2f} s")
        assert await total(runtime) - connections < MANY / 20
        assert sorted(await patterns(runtime, name)) == sorted(wanted)

    doing(loaded, work)


async def total(runtime: Runtime) -> int:
    """How many connections the worker has had, those of its sockets included."""
    lines = (await runtime.send("show info")).splitlines()
    return int(next(line for line in lines if line.startswith("CumConns:")).split()[1])


def test_a_list_that_is_refused_in_the_middle_is_left_as_it_was(loaded: HAProxy) -> None:
    async def work(runtime: Runtime) -> None:
        nets, table = file(loaded, "nets.acl"), file(loaded, "a.map")
        good = [f"10.0.{number // 250}.{number % 250}" for number in range(1000)]
        with pytest.raises(RuntimeRefused):
            await lists.replace_patterns(nets, lambda: [*good, "nonsense", *good]).apply(runtime)
        with pytest.raises(BadValue):
            await lists.replace_patterns(nets, lambda: [*good, "10.0.0.1\n"]).apply(runtime)
        assert await patterns(runtime, nets) == ["192.0.2.0/24"]
        with pytest.raises(BadValue):
            await replace_map(table, lambda: [*(MapEntry(each, "x") for each in good), MapEntry("a", "b\nc")]).apply(runtime)
        assert [(each.key, each.value) for each in await lists.read_map(runtime, table)] == [("former", "x")]
        # Nothing of what was refused is left over for the next one.
        await lists.replace_patterns(nets, lambda: ["192.0.2.1"]).apply(runtime)
        assert await patterns(runtime, nets) == ["192.0.2.1"]
        await lists.replace_patterns(nets, lambda: ["192.0.2.0/24"]).apply(runtime)

    doing(loaded, work)


@pytest.mark.parametrize("others", [False, True])
def test_a_worker_that_is_replaced_meanwhile(loaded: HAProxy, *, others: bool) -> None:
    """The new one knows nothing of the version that its predecessor has prepared, or has committed another client's of the same number.

    HAProxy adds to a committed version without a word, and refuses to commit it again.
    """

    async def work(runtime: Runtime) -> None:
        name, before = file(loaded, "nets.acl"), loaded.worker_pid()

        async def fill(runtime: Runtime, begin: str) -> None:
            os.kill(loaded.pid, signal.SIGUSR2)
            async with asyncio.timeout(60):
                while await runtime.worker_pid() == before:
                    await asyncio.sleep(0.02)
            version = ""
            # Each worker counts from 1 on.
            while others and f"@{version} " not in begin:
                version = (await runtime.send(f"prepare acl {name}")).rpartition(" ")[2].strip()
            if others:
                await runtime.execute(f"add acl @{version} {name} 192.0.2.0/24")
                await runtime.execute(f"commit acl @{version} {name}")
            await runtime.execute(f"{begin} 192.0.2.1")

        with pytest.raises(RuntimeAbsent, match="the worker was replaced before the new content was complete"):
            await lists.replacing_step("{} acl {}", name, "", fill).apply(runtime)
        assert await patterns(runtime, name) == (["192.0.2.0/24", "192.0.2.1"] if others else ["192.0.2.0/24"])
        await lists.replace_patterns(name, lambda: ["192.0.2.0/24"]).apply(runtime)

    doing(loaded, work)


def test_through_the_master_alone(loaded: HAProxy) -> None:
    async def work(runtime: Runtime) -> None:
        name = file(loaded, "nets.acl")
        await lists.replace_patterns(name, lambda: [f"10.1.0.{number}" for number in range(60)]).apply(runtime)
        assert len(await patterns(runtime, name)) == 60
        await lists.replace_patterns(name, lambda: ["192.0.2.0/24"]).apply(runtime)

    doing(loaded, work, stats=False)
