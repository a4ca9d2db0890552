"""Certificate lists on disk and as a real HAProxy serves them, of every version: both change, or neither does."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from haproxy_native.commit.change import Reload
from haproxy_native.engine import Engine
from haproxy_native.errors import InUse, Missing, RefusedAtRuntime
from haproxy_native.request_context import NOBODY
from haproxy_native.storage.crt_list import CrtListLine
from haproxy_native.storage.crt_list_store import CrtListStore
from tests.haproxy import binaries
from tests.tls.pems import made
from tests.tls.site import CONFIG, TlsSite, tls_site
from tests.tls.stored import storing_engine


@pytest.fixture(scope="module", params=binaries.EACH)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsSite]:
    with tls_site(tmp_path_factory.mktemp("tls"), binaries.exactly(request.param)) as site:
        (site.directory / "c.pem").write_text(made("c.example.com", 300).pem)
        yield site


@pytest.fixture
def newest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsSite]:
    with tls_site(tmp_path_factory.mktemp("tls"), binaries.newest()) as site:
        (site.directory / "c.pem").write_text(made("c.example.com", 300).pem)
        yield site


def working(site: TlsSite, work: Callable[[Engine, CrtListStore], Awaitable[None]]) -> None:
    async def run() -> None:
        async with storing_engine(site) as engine:
            store = engine.stores["ssl_crt_lists"]
            assert isinstance(store, CrtListStore)
            await work(engine, store)

    asyncio.run(run())


def replaced(site: TlsSite, text: str):
    """The outcome of another text, and the reload it asks for."""
    found = []

    async def work(engine: Engine, store: CrtListStore) -> None:
        upload = store.upload_existing("list.txt", author=NOBODY)
        try:
            await upload.append(text.encode())
            found.append(await upload.commit(engine.context))
        finally:
            upload.discard()
        assert bool(engine.reloads.pending) == bool(found[0].reasons)

    working(site, work)
    return found[0]


def rows(site: TlsSite) -> list[str]:
    return [
        line.partition(":")[0].rpartition("/")[2]
        for line in site.haproxy.ask(f"show ssl crt-list -n {site.path('list.txt')}").split("\n")[1:-2]
    ]


def test_an_entry_is_served_at_once_and_no_more_when_it_is_deleted(site: TlsSite) -> None:
    async def work(engine: Engine, store: CrtListStore) -> None:
        worker, before = site.haproxy.worker_pid(), (store.directory / "list.txt").read_text()
        entry = CrtListLine(site.path("c.pem"), "ssl-min-ver TLSv1.2", ("c.example.com", "*.c.example.com"))
        assert (await store.add_entry(engine.context, "list.txt", entry, author=NOBODY)).live
        assert (store.directory / "list.txt").read_text() == f"{before}{entry.text}\n"
        assert site.serial("LIST", "x.c.example.com") == 300
        assert (await store.delete_entry(engine.context, "list.txt", entry.file, 0, author=NOBODY)).live
        assert (store.directory / "list.txt").read_text() == before
        assert site.serial("LIST", "x.c.example.com") == 100
        assert engine.reloads.pending is None
        assert engine.context.ledger.entries == {}
        assert site.haproxy.worker_pid() == worker

    working(site, work)


def test_the_text_as_a_whole(site: TlsSite) -> None:
    """Comments and blank lines say nothing; what is new comes last."""
    before = (site.directory / "list.txt").read_text()
    a, c = site.path("a.pem"), site.path("c.pem")
    outcome = replaced(site, f"{a}\n# b went away\n\n{c} [alpn h2] c.example.com\n{c} d.example.com\n")
    assert outcome.live
    assert rows(site) == ["a.pem", "c.pem", "c.pem"]
    assert site.serial("LIST", "c.example.com") == 300
    assert replaced(site, before).live
    assert rows(site) == ["a.pem", "b.pem"]


def test_what_haproxy_refuses_reaches_neither(site: TlsSite) -> None:
    before = (site.directory / "list.txt").read_text()

    async def work(engine: Engine, store: CrtListStore) -> None:
        for entry, said in [
            (CrtListLine(site.path("c.pem"), "nonsense 1"), "unknown ssl keyword nonsense"),
            (CrtListLine(site.path("none.pem")), "unable to stat SSL certificate"),
        ]:
            with pytest.raises(RefusedAtRuntime, match=said):
                await store.add_entry(engine.context, "list.txt", entry, author=NOBODY)
            assert (store.directory / "list.txt").read_text() == before
            assert rows(site) == ["a.pem", "b.pem"]

    working(site, work)


REORDERED = "{b} [alpn h2,http/1.1] b.example.com !x.b.example.com\n{a}\n"
OTHER_OCSP = "{a}\n{b} [ocsp-update off] b.example.com\n"
WITHOUT_DEFAULT = "{b} [alpn h2,http/1.1] b.example.com !x.b.example.com\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (REORDERED, "new entries precede existing ones"),
        (WITHOUT_DEFAULT, "used as default certificate"),
        (OTHER_OCSP, "ncompatib"),
        ("", "used as default certificate"),
    ],
)
def test_what_only_a_reload_can_do(newest: TlsSite, text: str, why: str) -> None:
    outcome = replaced(newest, text.format(a=newest.path("a.pem"), b=newest.path("b.pem")))
    assert not outcome.live
    assert [why in each.why for each in outcome.reasons] == [True]


def test_the_last_entry_goes_live_where_nothing_falls_back_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.tls.site.CONFIG", CONFIG.replace("crt-list DIR/list.txt", "crt-list DIR/list.txt strict-sni"))
    with tls_site(tmp_path, binaries.newest(), tmp_path / "ssl") as strict:

        async def work(engine: Engine, store: CrtListStore) -> None:
            for name in ("b.pem", "a.pem"):
                assert (await store.delete_entry(engine.context, "list.txt", strict.path(name), 0, author=NOBODY)).live
            assert rows(strict) == []

        working(strict, work)


def test_what_haproxy_has_not_read_yet_takes_a_reload(newest: TlsSite) -> None:
    """Also where the next change alone could be made live."""
    c = newest.path("c.pem")

    async def work(engine: Engine, store: CrtListStore) -> None:
        upload = store.upload_existing("list.txt", author=NOBODY)
        await upload.append(f"{c}\n".encode())
        assert (await upload.commit(engine.context, reload=Reload.NONE)).reload_id is None
        outcome = await store.add_entry(engine.context, "list.txt", CrtListLine(c, "", ("c.example.com",)), author=NOBODY)
        assert [each.why for each in outcome.reasons] == ["HAProxy has not read list.txt since it was changed"]

    working(newest, work)


def test_entries_that_somebody_else_added_take_a_reload(newest: TlsSite) -> None:
    assert "Success" in newest.haproxy.ask(f"add ssl crt-list {newest.path('list.txt')} {newest.path('plain.pem')}")
    outcome = replaced(newest, (newest.directory / "list.txt").read_text() + f"{newest.path('c.pem')}\n")
    assert [each.why for each in outcome.reasons] == ["HAProxy has other entries for list.txt than its former file"]


def test_lists_that_haproxy_does_not_use(newest: TlsSite) -> None:
    async def work(engine: Engine, store: CrtListStore) -> None:
        assert (await store.add_entry(engine.context, "made.txt", CrtListLine("/x.pem", "", ("x",)), author=NOBODY)).live
        assert (store.directory / "made.txt").read_text() == "/x.pem x\n"
        with pytest.raises(Missing, match="certificate /y.pem is not in the list"):
            await store.delete_entry(engine.context, "made.txt", "/y.pem", 0, author=NOBODY)
        assert [path.name for path in store.files()] == ["list.txt", "made.txt"]
        assert (await store.delete(engine.context, "made.txt", author=NOBODY)).live
        with pytest.raises(InUse):
            await store.delete(engine.context, "list.txt", author=NOBODY)

    working(newest, work)


def test_many_at_once_lose_nothing(newest: TlsSite) -> None:
    async def work(engine: Engine, store: CrtListStore) -> None:
        c = newest.path("c.pem")
        done = await asyncio.gather(
            *(store.add_entry(engine.context, "list.txt", CrtListLine(c, "", (f"{n}.example.com",)), author=NOBODY) for n in range(8))
        )
        assert all(outcome.live for outcome in done)
        assert len(rows(newest)) == 10

    working(newest, work)
