"""What a client states as a whole is so in the process as well, also where others have changed the process and the text does not change."""

from pathlib import Path
from typing import Any

import pytest

from haproxy_native.access.rights import VERBS, AccessRule, Rights
from haproxy_native.changes.expect import Version
from haproxy_native.commit import process
from haproxy_native.commit.change import Change, Outcome
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.features.overrides.overrides import Overrides
from haproxy_native.history.history import History
from haproxy_native.history.journal import Journal
from haproxy_native.planning.observed import Claim
from haproxy_native.planning.outcome import Plan
from haproxy_native.request_context import NOBODY, Author
from haproxy_native.runtime.server_state import IN_PROGRESS
from haproxy_native.text.document import Document
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import ByFunction, Stating, push, reload, run, running_engine, substituting

CONFIG = """\
global
  stats socket {stats} level admin
defaults base
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
frontend web from base
  bind 127.0.0.1:%d
  default_backend app
backend app from base
  server s1 127.0.0.1:1 weight 10 maxconn 20 check port 9 addr 127.0.0.9 inter 1h
  server s2 127.0.0.1:2 weight 10
backend old from base
  balance source
  server s1 127.0.0.1:1 weight 10
"""
# What others send, and what sets it back; None for a reload.
CHANGES = [
    ("set server app/s1 addr 127.0.0.9 port 77", ["set server app/s1 addr 127.0.0.1 port 1"]),
    ("set server app/s1 addr 127.0.0.9", ["set server app/s1 addr 127.0.0.1 port 1"]),
    ("set server app/s1 weight 5", ["set server app/s1 weight 10"]),
    ("set server app/s1 state maint", ["set server app/s1 state ready"]),
    ("set server app/s1 state drain", ["set server app/s1 state ready"]),
    ("set maxconn server app/s1 5", ["set maxconn server app/s1 20"]),
    ("disable health app/s1", ["enable health app/s1"]),
    ("set server app/s1 check-port 8", ["set server app/s1 check-port 9"]),
    (
        "set server app/s1 addr 127.0.0.9 port 77; set server app/s1 weight 0",
        ["set server app/s1 addr 127.0.0.1 port 1", "set server app/s1 weight 10"],
    ),
    ("set server old/s1 health down", ["set server old/s1 health up"]),
    ("set server old/s1 health stopping; set server old/s1 weight 0", ["set server old/s1 health up", "set server old/s1 weight 10"]),
    ("set server old/s1 weight 0", ["set server old/s1 weight 10"]),
    ("set server app/s1 weight 10", []),
    ("set server app/s1 state maint; del server app/s1", None),
]
ONE = frozenset({Claim("app", "s1"), Claim("old", "s1")})


NEWEST = "3.4"
SOAK = [pytest.param(version, marks=pytest.mark.soak) for version in binaries.WANTED]


@pytest.fixture(params=[*SOAK, NEWEST])
def haproxy(request: pytest.FixtureRequest, tmp_path: Path) -> HAProxy:
    with HAProxy(tmp_path, CONFIG % free_port(), binary=binaries.exactly(request.param)) as process:
        yield process


def state(haproxy: HAProxy) -> list[list[str]]:
    """Address, state, weight, port and the checks of each server."""
    rows = [line.split(" ") for line in haproxy.ask("show servers state").splitlines()[2:] if line]
    # A check that runs at this moment is no difference.
    checks = [str(int(row[13]) & ~IN_PROGRESS) for row in rows]
    return [[row[3], row[4], row[6], row[7], check, row[18], row[21], row[22]] for row, check in zip(rows, checks, strict=True)]


HEAD = CONFIG.partition("backend app from")[0]
# Backends whose servers are not plain lines of a section that is surely loaded: the lines, the claim, what others send, and what sets it
# back; None for a reload. Without what others send nothing is to be done.
SET = "set server app/s1 weight 5"
DEFAULTS = "defaults d from base\n  default-server weight %d\n"
OTHERS: dict[str, tuple[str, Claim, str, list[str] | None]] = {
    "inside": ("backend app from base\n.if 1\n  server s1 127.0.0.1:1 weight 10\n.endif\n", Claim("app", "s1"), SET, None),
    "beside": ("backend app from base\n.if 1\n  fullconn 5\n.endif\n  server s1 127.0.0.1:1 weight 10\n", Claim("app", "s1"), SET, None),
    "around": (".if 1\nbackend app from base\n  server s1 127.0.0.1:1 weight 10\n.endif\n", Claim("app", "s1"), SET, None),
    "defaults": (
        f".if 1\n{DEFAULTS % 10}.else\n{DEFAULTS % 20}.endif\nbackend app from d\n  server s1 127.0.0.1:1\n",
        Claim("app", "s1"),
        SET,
        None,
    ),
    "other": ("backend app from base\n.if 1\n  server s1 127.0.0.1:1\n.endif\n  server s2 127.0.0.1:1\n", Claim("app", "s2"), SET, []),
    "template": (
        "backend app from base\n  server-template s 1-3 127.0.0.1:1 weight 10\n",
        Claim("app", "s", is_template=True),
        f"{SET}; set server app/s3 state drain; set server app/s3 addr 127.0.0.9 port 7",
        ["set server app/s1 weight 10", "set server app/s3 addr 127.0.0.1 port 1", "set server app/s3 state ready"],
    ),
    "template of a number": (
        "backend app from base\n  server-template s 2 127.0.0.1:1 weight 10\n  server-template t 1 127.0.0.1:1 weight 10\n",
        Claim("app", "t", is_template=True),
        "set server app/t1 weight 5",
        ["set server app/t1 weight 10"],
    ),
    "template inside": (
        "backend app from base\n.if 1\n  server-template s 1-3 127.0.0.1:1 weight 10\n.endif\n",
        Claim("app", "s", is_template=True),
        SET,
        None,
    ),
}


def stating(document: Document, claims: frozenset[Claim]) -> Stating:
    return Stating(document, claimed=claims)


async def put_back(engine: Engine, way: str, author: Author = NOBODY) -> Outcome:
    change = Change([stating(engine.document, ONE)], Version(engine.version()), skips_same=way == "patch", author=author)
    return await engine.commit(change)


@pytest.mark.parametrize(
    ("haproxy", "way"),
    [
        ("2.6", "put"),
        (NEWEST, "patch"),
        *(pytest.param(version, "put", marks=pytest.mark.soak) for version in (*binaries.WANTED[1:], NEWEST)),
        *(pytest.param(version, "patch", marks=pytest.mark.soak) for version in binaries.WANTED),
    ],
    indirect=["haproxy"],
)
def test_each_change_of_others_is_set_back(haproxy: HAProxy, way: str) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            before = state(haproxy)
            for change, commands in CHANGES:
                for command in change.split("; "):
                    haproxy.ask(command)
                outcome = await put_back(engine, way)
                if commands is None:
                    assert outcome.reload_id, change
                    break
                assert (sorted(outcome.commands), outcome.live) == (sorted(commands), True), change
                assert state(haproxy) == before, change

    run(work())


@pytest.mark.parametrize(
    ("case", "version"),
    [
        *((case, NEWEST) for case in OTHERS),
        ("template", "2.6"),
        *(pytest.param(case, "2.6", marks=pytest.mark.soak) for case in OTHERS if case != "template"),
    ],
)
def test_servers_of_any_line_are_set_back(tmp_path: Path, case: str, version: str) -> None:
    lines, claim, change, commands = OTHERS[case]
    with HAProxy(tmp_path, HEAD % free_port() + lines, binary=binaries.exactly(version)) as haproxy:

        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                for command in ("", change):
                    before = state(haproxy)
                    for each in filter(None, command.split("; ")):
                        assert not haproxy.ask(each).startswith("No such")
                    outcome = await engine.write([stating(engine.document, frozenset({claim}))], Version(engine.version()), author=NOBODY)
                    if command and commands is None:
                        assert outcome.reload_id
                        await reload(engine)
                    else:
                        assert outcome.live and sorted(outcome.commands) == (commands if command else []), outcome
                    assert state(haproxy) == before or commands == []

        run(work())


@pytest.mark.parametrize("change", [None, "weight 10 maxconn 20"])
def test_a_transaction_remembers_what_is_claimed_in_it(haproxy: HAProxy, change: str | None) -> None:
    """Also after a restart of the server."""

    async def work() -> None:
        before = state(haproxy)
        async with running_engine(haproxy.directory, haproxy) as engine:
            haproxy.ask("set server app/s1 weight 5")
            transaction = engine.start_transaction(engine.version(), author=NOBODY)
            await edited(engine, transaction.id)
        async with running_engine(haproxy.directory, haproxy) as engine:
            planned = await engine.plan_transaction(transaction.id, author=NOBODY)
            _, outcome = await engine.commit_transaction(transaction.id, author=NOBODY)
            assert outcome.live and "set server app/s1 weight 10" in outcome.commands
            assert [*planned.commands] == [*outcome.commands], "its plan shows what it sets back"
            assert state(haproxy)[0] == before[0]

    async def edited(engine: Engine, id_: str) -> None:
        await engine.write([stating(engine.read(id_), ONE)], transaction_id=id_, author=NOBODY)
        if change:
            await engine.write(
                [ByFunction(substituting("127.0.0.1:2 weight 10", "127.0.0.1:2 weight 11"))], transaction_id=id_, author=NOBODY
            )

    run(work())


def test_the_history_names_what_was_set_back(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with (
            running_engine(haproxy.directory, haproxy) as engine,
            History(engine.context, engine.database) as history,
        ):
            await put_back(engine, "put")
            assert await last(history) == ([], [])
            haproxy.ask("set server app/s1 weight 5")
            haproxy.ask("set server app/s1 state maint")
            await put_back(engine, "put")
            server = "backend/app/server/s1"
            changed = [(server, "maintenance", "enabled", "disabled"), (server, "weight", 5, 10)]
            assert await last(history) == ([server], changed)
            # What a line changes is an effect of the configuration, and told once.
            haproxy.ask("set server app/s1 weight 5")
            haproxy.ask("set server app/s1 state maint")
            heavier = substituting("weight 10 maxconn 20", "weight 11 maxconn 20")(engine.document)
            await engine.write([stating(heavier, ONE)], Version(engine.version()), author=NOBODY)
            assert (await last(history))[1] == changed[:1]
            haproxy.ask("set server app/s1 state maint")
            haproxy.ask("del server app/s1")
            outcome = await put_back(engine, "put")
            objects, ((object_, member, old, _),) = await last(history)
            assert outcome.reload_id and (objects, object_, member, old) == ([server], server, "", None)

    async def last(history: History) -> tuple[list[str], list[tuple[object, ...]]]:
        await history.settled()
        id_ = await history.ask(lambda journal: journal.last)
        members = await history.ask(Journal.members, id_)
        found = [(each.object, each.member, each.old, each.new) for each in members]
        return await history.ask(Journal.objects, id_), sorted(found, key=str)

    run(work())


def test_only_what_is_claimed(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            haproxy.ask("set server app/s2 weight 5")
            haproxy.ask("set server app/s1 weight 5")
            haproxy.ask("set server app/s1 state maint")
            outcome = await engine.write([], Version(engine.version()), author=NOBODY)
            assert outcome.live and not outcome.commands
            outcome = await put_back(engine, "put")
            assert sorted(outcome.commands) == ["set server app/s1 state ready", "set server app/s1 weight 10"]

    run(work())


ADMIN, LIMITED = (Rights((name,), (AccessRule(objects, frozenset(VERBS)),)) for name, objects in (("admin", "**"), ("one", "backend/**")))


def test_only_who_may_do_everything_sets_back_what_others_set(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_engine(tmp_path, haproxy) as engine:
            haproxy.ask("set server app/s1 weight 5")
            assert not (await put_back(engine, "put", Author("ann", rights=LIMITED))).commands
            assert len((await put_back(engine, "put", Author("ann", rights=ADMIN))).commands) == 1

    with HAProxy(tmp_path, CONFIG % free_port(), binary=binaries.exactly("3.2")) as haproxy:
        run(work())


def test_a_push_of_the_same_text_sets_nothing_back(haproxy: HAProxy) -> None:
    """Whoever sends the whole text states nothing of one server: a drain by hand stays."""

    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            haproxy.ask("set server app/s1 state drain")
            before = state(haproxy)
            assert not (await engine.plan(Change([await engine.text(engine.raw())], author=NOBODY))).commands
            outcome = await push(engine, engine.raw(), version=engine.version())
            assert outcome.live and not outcome.commands and state(haproxy) == before

    run(work())


def test_overrides_stay(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine, Overrides(engine, Editor()) as overrides:
            (before,) = [each for each in await engine.runtime.servers("app") if each.name == "s1"]
            haproxy.ask("set server app/s1 weight 5")
            (after,) = [each for each in await engine.runtime.servers("app") if each.name == "s1"]
            await overrides.store_members([(before, after)], ["weight"], author=NOBODY)
            haproxy.ask("set server app/s1 addr 127.0.0.3 port 7")
            outcome = await put_back(engine, "put")
            assert outcome.commands == ["set server app/s1 addr 127.0.0.1 port 1"]

    run(work())


def test_an_override_that_comes_while_a_put_is_planned_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan was made of a worker without it."""
    planned = process.plan_without_check

    async def work() -> None:
        async with running_engine(tmp_path, haproxy) as engine, Overrides(engine, Editor()) as overrides:

            async def overtaken(*given: Any) -> Plan | None:
                plan = await planned(*given)
                monkeypatch.undo()
                (before,) = [each for each in await engine.runtime.servers("app") if each.name == "s1"]
                haproxy.ask("set server app/s1 weight 4")
                (after,) = [each for each in await engine.runtime.servers("app") if each.name == "s1"]
                await overrides.store_members([(before, after)], ["weight"], author=NOBODY)
                return plan

            haproxy.ask("set server app/s1 weight 5")
            haproxy.ask("set server app/s1 addr 127.0.0.3 port 7")
            monkeypatch.setattr(process, "plan_without_check", overtaken)
            assert (await put_back(engine, "put")).commands == ["set server app/s1 addr 127.0.0.1 port 1"]
            assert state(haproxy)[0][3] == "4"

    with HAProxy(tmp_path, CONFIG % free_port(), binary=binaries.exactly("3.2")) as haproxy:
        run(work())


@pytest.mark.parametrize("way", ["put", "patch"])
def test_nothing_is_in_effect_of_a_worker_of_which_nothing_is_known(tmp_path: Path, way: str) -> None:
    with HAProxy(tmp_path, CONFIG % free_port(), binary=binaries.exactly("3.2")) as haproxy:

        async def work() -> None:
            haproxy.file.write_text(haproxy.file.read_text().replace("weight 10 maxconn", "weight 11 maxconn"))
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert engine.running is None
                assert (await put_back(engine, way)).reload_id
                assert (await put_back(engine, way)).reload_id, "it has not come yet"
                await reload(engine)
                assert (await put_back(engine, way)).live
                assert "11" in state(haproxy)[0]

        run(work())
