"""Configuration and stored files in one commit, beside a real HAProxy: all of it or nothing, whenever the server is killed."""

import errno
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.access.rights import AccessRule, Rights
from haproxy_native.changes.expect import Version
from haproxy_native.changes.file_operations import Contents, EditFiles
from haproxy_native.commit import publication
from haproxy_native.commit.change import Change
from haproxy_native.commit.commit import commit
from haproxy_native.commit.preview import would_reload
from haproxy_native.disk.atomic import DraftFile
from haproxy_native.disk.directories import Directory
from haproxy_native.engine import Engine
from haproxy_native.errors import BadRequest, Conflict, Forbidden, InUse, Refused, RefusedAtRuntime, WriteFailed
from haproxy_native.request_context import NOBODY, Author
from haproxy_native.runtime.client import Runtime
from haproxy_native.text.document import Document
from tests.databases import former_contents
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import ByFunction, reload, run, running_engine, substituting
from tests.tls.pems import made

CONFIG = """\
global
  stats socket {{stats}} mode 600 level admin

defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s

frontend web
  bind 127.0.0.1:{port} ssl crt {directory}/certificates/site.pem
  http-request set-var(txn.a) path,map({directory}/maps/hosts.map)
  http-request set-var(txn.b) path,map({directory}/maps/old.map)
  default_backend app

backend app
  server s1 127.0.0.1:1 weight 10
"""
FILES = {"maps/hosts.map": b"a 1\n", "maps/old.map": b"o 1\n", "certificates/site.pem": made("one.example", 17).pem.encode()}
NEW_PEM = made("one.example", 18).pem.encode()


@contextmanager
def running_in(directory: Path) -> Iterator[HAProxy]:
    for name, data in FILES.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_bytes(data)
    config = CONFIG.format(port=free_port(), directory=directory)
    with HAProxy(directory, config, binary=binaries.exactly("3.2")) as running:
        yield running


@pytest.fixture
def haproxy(tmp_path: Path) -> Iterator[HAProxy]:
    with running_in(tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HAProxy]:
    """One for all tests that leave HAProxy and the files as they are."""
    with running_in(tmp_path_factory.mktemp("unchanged")) as running:
        yield running


@asynccontextmanager
async def engine_of(haproxy: HAProxy) -> AsyncIterator[Engine]:
    directory = haproxy.directory
    directories = {
        "maps": Directory(directory / "maps", "maps_dir"),
        "ssl_certificates": Directory(directory / "certificates", "ssl_certs_dir"),
    }
    async with running_engine(directory, haproxy, directories=directories) as engine:
        await engine._watching.stop()
        yield engine


def beside(haproxy: HAProxy, work: Callable[[Engine], Any]) -> None:
    async def within() -> None:
        async with engine_of(haproxy) as engine:
            await work(engine)

    run(within())


def edits(engine: Engine, contents: dict[str, bytes | None]) -> EditFiles:
    """By names as in FILES."""
    stores = {"maps": engine.stores["maps"], "certificates": engine.stores["ssl_certificates"]}
    paths = {stores[name.split("/")[0]].directory / name.split("/")[1]: data for name, data in contents.items()}
    return EditFiles({path: stores[path.parent.name] for path in paths}, lambda before: paths)


def same(document: Document) -> Document:
    return document


def held(haproxy: HAProxy) -> dict[str, bytes]:
    names = [path for kind in ("maps", "certificates") for path in (haproxy.directory / kind).iterdir()]
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in names}


def shown(haproxy: HAProxy, name: str) -> str:
    answer = haproxy.ask(f"show map {haproxy.directory}/maps/{name}")
    return "".join(f"{line.split(' ', 1)[1]}\n" for line in answer.splitlines() if line)


def serial(haproxy: HAProxy) -> int:
    return int(haproxy.ask(f"show ssl cert {haproxy.directory}/certificates/site.pem").partition("Serial: ")[2].split()[0], 16)


def weight(haproxy: HAProxy) -> str:
    return haproxy.ask("get weight app/s1").split()[0]


LIVE = {"maps/hosts.map": b"a 2\n", "certificates/site.pem": NEW_PEM}
# One that comes with a line that names it, and one that goes with its own.
SWAP = {"maps/hosts.map": b"a 2\n", "maps/new.map": b"n 1\n", "maps/old.map": None}
heavier, swapped = substituting("weight 10", "weight 20"), substituting("old.map", "new.map")


def test_live_where_all_can_be(haproxy: HAProxy) -> None:
    async def work(engine: Engine) -> None:
        outcome = await commit(engine.context, Change([ByFunction(heavier), edits(engine, LIVE)], author=NOBODY))
        assert (outcome.live, outcome.version, engine.version()) == (True, 2, 2), outcome.reasons
        assert (shown(haproxy, "hosts.map"), serial(haproxy), weight(haproxy)) == ("a 2\n", 18, "20")
        assert held(haproxy) == FILES | LIVE and not engine.context.ledger.entries
        assert {each.object for each in outcome.contents} == {"map/hosts.map", "certificate/site.pem"} and outcome.texts

    beside(haproxy, work)


def test_files_alone_keep_the_version(haproxy: HAProxy) -> None:
    async def work(engine: Engine) -> None:
        before = haproxy.file.read_bytes()
        outcome = await commit(engine.context, Change([ByFunction(same), edits(engine, LIVE)], author=NOBODY))
        assert (outcome.live, outcome.version, outcome.texts, haproxy.file.read_bytes()) == (True, 1, None, before)
        assert (shown(haproxy, "hosts.map"), serial(haproxy)) == ("a 2\n", 18)
        again = await commit(engine.context, Change([ByFunction(same), edits(engine, LIVE)], author=NOBODY))
        assert (again.live, again.contents, engine.context.ledger.entries) == (True, (), {})

    beside(haproxy, work)


def test_one_reload_for_all_of_it_and_nothing_before(haproxy: HAProxy) -> None:
    async def work(engine: Engine) -> None:
        outcome = await commit(engine.context, Change([ByFunction(swapped), edits(engine, SWAP)], author=NOBODY))
        assert outcome.reload_id and shown(haproxy, "hosts.map") == "a 1\n" and engine.context.ledger.waits
        assert held(haproxy).keys() == {"maps/hosts.map", "maps/new.map", "certificates/site.pem"}
        assert (await reload(engine)).status == "succeeded"
        assert (shown(haproxy, "hosts.map"), shown(haproxy, "new.map"), engine.context.ledger.entries) == ("a 2\n", "n 1\n", {})

    beside(haproxy, work)


def test_haproxy_is_asked_about_text_and_files_together(unchanged: HAProxy) -> None:
    async def work(engine: Engine) -> None:
        before = held(unchanged), unchanged.file.read_bytes()
        bad = substituting("weight 10", "heavy")
        with pytest.raises(Refused, match="heavy"):
            await commit(engine.context, Change([ByFunction(bad), edits(engine, LIVE)], author=NOBODY))
        with pytest.raises(InUse, match=r"delete file .*old\.map referenced in haproxy conf at line \d+: http-request"):
            await commit(engine.context, Change([ByFunction(same), edits(engine, SWAP)], author=NOBODY))
        with pytest.raises(Refused, match=r"new\.map"):
            await commit(engine.context, Change([ByFunction(swapped), edits(engine, {"maps/old.map": None})], author=NOBODY))
        with pytest.raises(BadRequest, match=r"certificate/site\.pem"):
            await commit(engine.context, Change([ByFunction(heavier), edits(engine, {"certificates/site.pem": b"none"})], author=NOBODY))
        assert (held(unchanged), unchanged.file.read_bytes()) == before and not engine.context.ledger.entries

    beside(unchanged, work)


def test_what_haproxy_does_not_take_changes_nothing(unchanged: HAProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """The map is live before the certificate is refused, and is as it was afterwards."""

    async def work(engine: Engine) -> None:
        send, seen = Runtime.send, list[str]()

        async def refusing(self: Runtime, command: str, payload: str | None = None) -> str:
            if command.startswith("set ssl cert"):
                seen.append(shown(unchanged, "hosts.map"))
                command = "set ssl cert unknown.pem"
            return await send(self, command, payload)

        before = unchanged.file.read_bytes()
        monkeypatch.setattr(Runtime, "send", refusing)
        with pytest.raises(RefusedAtRuntime):
            await commit(engine.context, Change([ByFunction(heavier), edits(engine, LIVE)], author=NOBODY))
        assert seen[0] == "a 2\n"
        assert (shown(unchanged, "hosts.map"), serial(unchanged), weight(unchanged)) == ("a 1\n", 17, "10")
        assert (held(unchanged), unchanged.file.read_bytes(), engine.context.ledger.entries) == (FILES, before, {})

    beside(unchanged, work)


def test_a_failed_reload_takes_all_of_it_back(haproxy: HAProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where HAProxy names a line of another change."""

    async def work(engine: Engine) -> None:
        await engine.amend([ByFunction(substituting("timeout client 5s", "timeout client 6s"))], author=NOBODY)
        await commit(engine.context, Change([ByFunction(swapped), edits(engine, SWAP)], author=NOBODY))
        line = haproxy.file.read_text().splitlines().index("  timeout client 6s") + 1
        monkeypatch.setattr(engine.reloads._strategy, "run", failing(f"[ALERT] (1) : config : parsing [haproxy.cfg:{line}] : no"))
        record = await reload(engine)
        assert record.status == "failed" and {each["outcome"] for each in record.changes} == {"taken_back"}, record
        assert held(haproxy) == FILES and "old.map" in haproxy.file.read_text() and "6s" not in haproxy.file.read_text()
        assert not engine.context.ledger.entries

    beside(haproxy, work)


def failing(said: str) -> Callable[[], Any]:
    from haproxy_native.reload.strategies import ReloadClaim

    async def run_() -> ReloadClaim:
        return ReloadClaim(False, said)

    return run_


def test_what_is_overtaken_begins_again(haproxy: HAProxy) -> None:
    """By another change of a file that its edit has read, and of the text."""

    async def work(engine: Engine) -> None:
        path, tries = haproxy.directory / "maps" / "hosts.map", list[bytes | None]()

        def append(before: Contents) -> Contents:
            tries.append(before[path])
            if len(tries) == 1:
                path.write_bytes(b"a 1\nb 1\n")
            return {path: (before[path] or b"") + b"c 1\n"}

        outcome = await commit(
            engine.context, Change([ByFunction(heavier), EditFiles({path: engine.stores["maps"]}, append)], author=NOBODY)
        )
        assert outcome.live and tries == [b"a 1\n", b"a 1\nb 1\n"] and path.read_bytes() == b"a 1\nb 1\nc 1\n"
        with pytest.raises(Conflict, match="given version is 1"):
            await commit(engine.context, Change([ByFunction(heavier), edits(engine, SWAP)], Version(1), author=NOBODY))

    beside(haproxy, work)


def test_rights_are_for_all_of_it(haproxy: HAProxy) -> None:
    async def work(engine: Engine) -> None:
        def by(*rules: AccessRule) -> Author:
            return Author("bob", rights=Rights(("some",), rules))

        verbs = frozenset(("create", "change", "delete"))
        maps, servers = AccessRule("map/**", verbs), AccessRule("backend/**", verbs, reloads=False)
        change = Change([ByFunction(heavier), edits(engine, {"maps/hosts.map": b"a 2\n"})], author=by(servers))
        with pytest.raises(Forbidden, match=r"map/hosts\.map"):
            await commit(engine.context, change)
        with pytest.raises(Forbidden, match="backend/app/server/s1"):
            await commit(
                engine.context,
                Change(
                    [ByFunction(heavier), edits(engine, LIVE)], author=by(AccessRule("map/**", verbs), AccessRule("certificate/**", verbs))
                ),
            )
        allowed = Change([ByFunction(heavier), edits(engine, {"maps/hosts.map": b"a 2\n"})], author=by(maps, servers))
        assert (await commit(engine.context, allowed)).live
        needing = Change(
            [ByFunction(same), edits(engine, {"maps/old.map": b"without a value\nalone\n"})],
            author=by(AccessRule("map/**", verbs, reloads=False)),
        )
        with pytest.raises(Forbidden, match="reload: any"):
            await commit(engine.context, needing)

    beside(haproxy, work)


@pytest.mark.parametrize(("edit", "files", "reloads"), [(heavier, LIVE, False), (swapped, SWAP, True)])
def test_a_check_changes_nothing(unchanged: HAProxy, edit: Any, files: dict[str, bytes | None], reloads: bool) -> None:
    async def work(engine: Engine) -> None:
        before = held(unchanged), unchanged.file.read_bytes()
        assert await would_reload(engine.context, Change([ByFunction(edit), edits(engine, files)], author=NOBODY)) is reloads
        assert (held(unchanged), unchanged.file.read_bytes()) == before

    beside(unchanged, work)


@pytest.mark.parametrize("at", ["hosts.map", pytest.param("new.map", marks=pytest.mark.soak), "haproxy.cfg"])
def test_a_full_disk_changes_nothing(unchanged: HAProxy, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    async def work(engine: Engine) -> None:
        before, put = unchanged.file.read_bytes(), DraftFile.put_in_place
        failed = list[Path]()

        def full(self: DraftFile, target: Path, **how: Any) -> None:
            if target.name == at and not failed:
                failed.append(target)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            put(self, target, **how)

        monkeypatch.setattr(DraftFile, "put_in_place", full)
        with pytest.raises(WriteFailed, match="make room"):
            await commit(engine.context, Change([ByFunction(swapped), edits(engine, SWAP)], author=NOBODY))
        assert failed and (held(unchanged), unchanged.file.read_bytes()) == (FILES, before)
        await engine.database.catch_up()
        assert not engine.context.ledger.entries and former_contents(engine.database.directory) == 0

    beside(unchanged, work)


# Every fifth of them in `make test`.
STEPS, SOME, ALL = 30, 5, 1


@pytest.mark.parametrize("every", [SOME, pytest.param(ALL, marks=pytest.mark.soak)], ids=["some", "all"])
@pytest.mark.parametrize(
    ("edit", "files"),
    [
        pytest.param(heavier, LIVE, id="live"),
        pytest.param(same, LIVE, id="files", marks=pytest.mark.soak),
        pytest.param(swapped, SWAP, id="reload"),
    ],
)
def test_killed_at_every_step(haproxy: HAProxy, edit: Any, files: dict[str, bytes | None], every: int) -> None:
    """Before a write of a file, or a command: one of two states stands afterwards, and the process does it."""
    before, found = haproxy.file.read_text(), set[bool]()
    for step in range(0, STEPS, every):
        is_done = _killed(haproxy, edit, files, step)
        beside(haproxy, _settled)
        text = haproxy.file.read_text()
        is_new = held(haproxy) != FILES
        found.add(is_new)
        assert held(haproxy) == ({name: data for name, data in (FILES | files).items() if data is not None} if is_new else FILES), step
        assert ("weight 20" in text, "new.map" in text) == (is_new and edit is heavier, is_new and edit is swapped), step
        assert shown(haproxy, "hosts.map").encode() == held(haproxy)["maps/hosts.map"], step
        assert weight(haproxy) == ("20" if "weight 20" in text else "10"), step
        assert serial(haproxy) == (18 if is_new and files is LIVE else 17), step
        left = haproxy.directory / "storage"
        assert former_contents(left / "state") == 0 and not [*(left / "journals").glob("*/*")], step
        if is_done:
            break
        if is_new:
            beside(haproxy, lambda engine: _put_back(engine, before))
            beside(haproxy, _settled)
            assert held(haproxy) == FILES
    assert is_done and found == {False, True}


async def _settled(engine: Engine) -> None:
    """Nothing is owed any more."""
    if engine.reloads.pending:
        assert (await reload(engine)).status == "succeeded"
    assert engine.context.ledger.entries == {} and engine.context.running.is_current


async def _put_back(engine: Engine, text: str) -> None:
    contents = dict.fromkeys(held_names(engine)) | FILES
    await commit(engine.context, Change([ByFunction(lambda now: Document.parse(text.encode())), edits(engine, contents)], author=NOBODY))


def held_names(engine: Engine) -> list[str]:
    return [f"maps/{path.name}" for path in engine.stores["maps"].files()]


def _killed(haproxy: HAProxy, edit: Any, files: dict[str, bytes | None], step: int) -> bool:
    """True if the change came to its end before so many steps."""
    if not (pid := os.fork()):
        _kill_at(step)
        beside(haproxy, lambda engine: commit(engine.context, Change([ByFunction(edit), edits(engine, files)], author=NOBODY)))
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def _kill_at(step: int) -> None:
    """In a child: a SIGKILL before the step of this number, each write of a file and each command being one."""
    left = [step]

    def count() -> None:
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1

    put, delete, send = DraftFile.put_in_place, publication.delete, Runtime.send

    def put_(self: DraftFile, target: Path, **how: Any) -> None:
        count()
        put(self, target, **how)

    def delete_(path: Path) -> None:
        count()
        delete(path)

    async def send_(self: Runtime, command: str, *given: Any) -> str:
        if not command.startswith(("show", "get")):
            count()
        return await send(self, command, *given)

    DraftFile.put_in_place = put_  # type: ignore[method-assign]
    Runtime.send = send_  # type: ignore[method-assign, assignment]
    publication.delete = delete_
