"""Every command on every version: HAProxy takes it, and a re-read shows it. And the ways in which it does not."""

import asyncio
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from pathlib import Path

import pytest

from haproxy_native.errors import BadValue, RuntimeConflict, RuntimeMissing, RuntimeRefused, RuntimeUnverified
from haproxy_native.planning.server_plan import add_server_commands
from haproxy_native.runtime import commands
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.commands import Command
from haproxy_native.runtime.server_state import ServerState
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, ask, free_port


def with_runtime(haproxy: HAProxy, work: Callable[[Runtime], Awaitable[None]]) -> None:
    async def run() -> None:
        runtime = Runtime(timeout=60)
        assert await runtime.connect(str(haproxy.master), [], 60, 0.02)
        await work(runtime)

    asyncio.run(run())


def applied(haproxy: HAProxy, *made: Command) -> dict[str, ServerState]:
    """The rows of `app` afterwards."""
    rows: dict[str, ServerState] = {}

    async def work(runtime: Runtime) -> None:
        await commands.apply(runtime, made)
        rows.update({row.name: row for row in await runtime.servers("app")})

    with_runtime(haproxy, work)
    return rows


DISABLED = """\
global
  stats socket {stats} level admin
defaults off
  disabled
defaults base
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
backend on from base
backend own from base
  disabled
backend inherits from off
  server s1 127.0.0.1:1
listen both from base
  bind 127.0.0.1:%d
  disabled
"""


@pytest.mark.parametrize("version", ["2.6", pytest.param("3.0", marks=pytest.mark.soak), "3.4"])
def test_no_server_is_added_to_a_disabled_backend(tmp_path: Path, version: str) -> None:
    """HAProxy 3.4 ends on the command."""
    with HAProxy(tmp_path, DISABLED % free_port(), binary=binaries.exactly(version)) as haproxy:
        worker = haproxy.worker_pid()

        async def work(runtime: Runtime) -> None:
            for backend in ("own", "inherits", "both"):
                for made in (
                    commands.add_server(backend, "s2", ["127.0.0.1:1"]),
                    add_server_commands(backend, {"name": "s2", "address": "127.0.0.1", "port": 1}, runtime.capabilities),
                ):
                    with pytest.raises(RuntimeConflict, match=f"Backend {backend} is disabled"):
                        await commands.apply(runtime, made)
            with pytest.raises(RuntimeMissing, match="No such backend"):
                await commands.apply(runtime, commands.add_server("none", "s2", ["127.0.0.1:1"]))
            await commands.apply(runtime, commands.add_server("on", "s2", ["127.0.0.1:1"]))

        with_runtime(haproxy, work)
        assert haproxy.worker_pid() == worker


def test_one_change_of_every_kind(haproxy: HAProxy) -> None:
    rows = applied(
        haproxy,
        commands.weight("app", "plain", 33),
        commands.address("app", "plain", "127.0.0.9", 99),
        commands.address("app", "checked", "::1"),
        commands.check_port("app", "checked", 88),
        commands.checks("app", "checked", False),
        commands.agent_address("app", "agent", "127.0.0.7"),
        commands.agent_send("app", "agent", "two words; and more"),
        commands.agent("app", "agent", False),
        commands.health("app", "plain", "up"),
        commands.state("app", "off", "ready"),
        commands.state("app", "plain", "drain"),
        commands.frontend_maxconn("web", 55),
    )
    plain, checked, agent = rows["plain"], rows["checked"], rows["agent"]
    assert (plain.uweight, plain.address, plain.port, plain.admin_state) == (33, "127.0.0.9", 99, "drain")
    assert (checked.address, checked.port, checked.check_port) == ("::1", 2, 88)
    assert not checked.check_enabled and not agent.agent_enabled
    assert agent.agent_addr == "127.0.0.7"
    assert rows["off"].admin_state == "ready"


def test_the_same_again_is_no_refusal(haproxy: HAProxy) -> None:
    change = [commands.address("app", "plain", "127.0.0.1", 1), commands.weight("app", "plain", 10), commands.state("app", "off", "maint")]
    applied(haproxy, *change, *change)


def test_an_added_server_serves(haproxy: HAProxy) -> None:
    words = ["127.0.0.1:90", "check", "inter", "1h", "weight", "5", "agent-check", "agent-port", "9", "agent-inter", "1h"]
    rows = applied(
        haproxy,
        *commands.add_server("app", "new", words, check=True, agent_check=True),
        *commands.add_server("app", "bare", ["127.0.0.1:91"]),
        *commands.add_server("app", "later", ["127.0.0.1:92"], ready=False),
        *commands.add_server("app", "blanks", ["127.0.0.1:93", "agent-check", "agent-port", "9", "agent-send", "a b\tc"]),
    )
    new, bare, later = rows["new"], rows["bare"], rows["later"]
    assert new.admin_state == "ready" and new.check_enabled and new.agent_enabled and (new.port, new.uweight) == (90, 5)
    assert bare.admin_state == "ready" and bare.operational_state == "up" and not bare.check_enabled
    assert later.admin_state == "maint"
    assert rows["blanks"].port == 93, "words with blanks stay one word"


def test_deleted_and_added_again_in_one_change(haproxy: HAProxy) -> None:
    rows = applied(
        haproxy,
        *commands.delete_server("app", "plain"),
        *commands.add_server("app", "plain", ["127.0.0.1:91"]),
        *commands.delete_server("app", "off"),
    )
    assert rows["plain"].port == 91 and rows["plain"].admin_state == "ready" and "off" not in rows


def test_refusals(haproxy: HAProxy) -> None:
    before = haproxy.ask("show servers state app").splitlines()
    for made, words in (
        ([commands.weight("app", "ghost", 1)], "No such server"),
        # A name cannot smuggle a command.
        ([commands.weight("app", "a;set server app/plain weight 0;", 1)], "No such server"),
        ([commands.weight("ghost", "plain", 1)], "No such backend"),
        ([commands.weight("static", "one", 7)], "static LB"),
        ([commands.check_port("app", "plain", 7)], "health checks are not enabled"),
        ([commands.agent_send("app", "plain", "x")], "agent checks are not enabled"),
        ([commands.agent_address("app", "plain", "127.0.0.1")], "agent checks are not enabled"),
        ([commands.agent("app", "plain", True)], "Agent was not configured"),
        ([commands.checks("app", "plain", True)], "Health check was not configured"),
        ([commands.frontend_maxconn("ghost", 1)], "No such frontend"),
        (commands.add_server("app", "plain", ["127.0.0.1:1"]), "Already exists"),
        (commands.add_server("app", "new", ["127.0.0.1:1", "resolvers", "r"]), "resolvers"),
        (commands.add_server("static", "new", ["127.0.0.1:1"]), "dynamic"),
        (commands.add_server("app", "new", ["127.0.0.1:1", *["weight", "1"] * 40]), "64"),
        # A half-added server is taken back.
        (commands.add_server("app", "new", ["127.0.0.1:1"], check=True), "Health check was not configured"),
    ):
        with pytest.raises(RuntimeRefused, match=words):
            applied(haproxy, *made)
        assert len(haproxy.ask("show servers state app").splitlines()) == len(before), made
    assert haproxy.ask("get weight app/plain").startswith("10 ")


def test_an_address_that_python_writes_otherwise(haproxy: HAProxy) -> None:
    for text in ("::ffff:127.0.0.1", "[::ffff:127.0.0.1]", "::127.0.0.1"):
        assert applied(haproxy, commands.address("app", "plain", text))["plain"].address == text.strip("[]")


def test_a_server_that_is_added_without_its_address_is_taken_back(haproxy: HAProxy) -> None:
    """HAProxy accepts a name here and does not resolve it."""
    made = commands.add_server("app", "new", ["localhost:90"], shown={"address": ip_address("127.0.0.1"), "port": 90})
    with pytest.raises(RuntimeUnverified, match=r"address of app/new is -, not 127\.0\.0\.1"):
        applied(haproxy, *made)
    assert " new " not in haproxy.ask("show servers state app")


def test_a_server_that_cannot_be_deleted_serves_on(haproxy: HAProxy) -> None:
    with pytest.raises(RuntimeRefused, match="other configuration elements pointing to it"):
        applied(haproxy, *commands.delete_server("referring", "kept"))
    assert haproxy.ask("show servers state referring").splitlines()[2].split()[6] == "0"


def test_deleting_waits_for_the_last_connection(haproxy: HAProxy) -> None:
    """A request is held by a server that answers only when it is in maintenance; deleting it waits for that answer."""
    port, held = free_port(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        held.set()
        # In maintenance: its deletion has begun.
        while "slow 127.0.0.1 0 1 " not in await asyncio.to_thread(ask, haproxy.stats, "show servers state app"):
            pass
        writer.write(b"HTTP/1.0 200 OK\r\n\r\ndone")
        writer.close()

    async def request() -> bytes:
        web = int(haproxy.file.read_text().split("bind 127.0.0.1:")[1].split()[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", web)
        writer.write(b"GET / HTTP/1.0\r\n\r\n")
        answer = await reader.read()
        writer.close()
        return answer

    async def work(runtime: Runtime) -> None:
        others = [commands.state("app", name, "maint") for name in ("plain", "checked", "agent")]
        await commands.apply(runtime, [*others, *commands.add_server("app", "slow", [f"127.0.0.1:{port}"])])
        async with await asyncio.start_server(serve, "127.0.0.1", port):
            asked = asyncio.create_task(request())
            await held.wait()
            await commands.apply(runtime, commands.delete_server("app", "slow", patience=20))
            assert (await asked).endswith(b"done")

    with_runtime(haproxy, work)
    assert " slow " not in haproxy.ask("show servers state app")


@pytest.mark.parametrize(
    "build",
    [
        lambda: commands.weight("app", "a", 257),
        lambda: commands.weight("app", "a", -1),
        lambda: commands.address("app", "a", "host.example", 1),
        lambda: commands.address("app", "a", "127.0.0.1", 65536),
        lambda: commands.state("app", "a", "asleep"),
        lambda: commands.check_port("app", "a", 0),
        lambda: commands.agent_address("app", "a", "localhost"),
        lambda: commands.frontend_maxconn("web", 0),
        lambda: commands.weight("app", "a\nset server app/b weight 1", 1),
    ],
)
def test_what_haproxy_would_misunderstand_is_never_sent(build: Callable[[], Command]) -> None:
    with pytest.raises(BadValue):
        build()
