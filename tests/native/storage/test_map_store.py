"""Map files."""

from pathlib import Path

import pytest

from haproxy_native.disk.directories import Directory
from haproxy_native.engine import Engine
from haproxy_native.errors import NotFound, RefusedAtRuntime
from haproxy_native.request_context import NOBODY
from haproxy_native.runtime.lists import LONGEST_ENTRY
from haproxy_native.storage.list_store import MapStore
from haproxy_native.storage.live_lists import LiveMap
from tests.native.engines import push, reload
from tests.native.storage.live import Beside, put


@pytest.mark.parametrize(("upload", "stored"), [("hosts", "hosts.map"), ("hosts.map", "hosts.map"), ("list.txt", "list.txt.map"), ("", "")])
def test_names(tmp_path: Path, upload: str, stored: str) -> None:
    store = MapStore("maps", Directory(tmp_path, "maps_dir"), tmp_path)
    assert store.name_of(upload) == stored
    if stored:
        (tmp_path / stored).touch()
        assert store.find(upload).name == store.find(stored).name == stored


def test_a_replaced_file_is_live(maps: Beside) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        outcome = await put(engine, "# new\n/one eins\n/two zwei drei\n")
        assert (outcome.live, outcome.reload_id) == (True, None)
        assert [maps.get(key) for key in ("/one", "/two", "/three")] == ["eins", "zwei drei", "none"]
        assert not engine.context.ledger.entries

    maps.with_engine(work)


@pytest.mark.parametrize(
    ("text", "why"),
    [("only\n", "line 1 has a key without a value"), ("long " + "x" * LONGEST_ENTRY, "line 1 is longer than")],
)
def test_what_cannot_be_sent_is_reloaded(maps: Beside, text: str, why: str) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        outcome = await put(engine, text)
        assert outcome.reload_id
        assert outcome.reasons[0].why.startswith(why)
        assert maps.shown() == ["one 1", "two two words"]
        assert (await reload(engine)).status == "succeeded"
        assert maps.shown() == [text.strip() + ("" if " " in text else " ")]

    maps.with_engine(work)


def test_what_haproxy_refuses_is_not_stored(maps: Beside) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        upload = live.store.upload_existing("ip.map", author=NOBODY)
        await upload.append(b"192.0.2.9 y\nnonsense z\n")
        with pytest.raises(RefusedAtRuntime, match="'nonsense' is not a valid IPv4 or IPv6 address"):
            await upload.commit(engine.context)
        assert (maps.maps / "ip.map").read_text() == "192.0.2.1 x\n"
        assert engine.context.ledger.entries == {}

    maps.with_engine(work)


def test_a_crash_in_between_is_made_up_for(maps: Beside) -> None:
    async def crash(engine: Engine, live: LiveMap) -> None:
        await engine.context.ledger.begin({maps.file: "maps"})
        write(maps, "half way\n")

    async def after(engine: Engine, live: LiveMap) -> None:
        assert (maps.shown(), engine.context.ledger.entries) == (["half way"], {})

    maps.with_engine(crash)
    maps.again(after)


def test_a_reload_of_something_else_does_not_hold_up_a_live_change(maps: Beside) -> None:
    """The map is loaded, so it stays as it is when the other change's reload fails."""

    async def work(engine: Engine, live: LiveMap) -> None:
        foreign = engine.document.text + "frontend foreign\n    mode http\n    timeout client 1s\n    bind 203.0.113.7:8099\n"
        other = await push(engine, foreign.encode(), version=engine.version())
        assert other.reload_id == engine.reloads.pending is not None
        outcome = await put(engine, "/one eins\n")
        assert (outcome.live, outcome.reload_id) == (True, None)
        assert maps.get("/one") == "eins"
        assert (await reload(engine)).status == "failed"
        assert (maps.get("/one"), maps.file.read_text()) == ("eins", "/one eins\n")

    maps.with_engine(work)


def write(maps: Beside, text: str) -> None:
    maps.file.write_text(text)


def test_where_maps_are(tmp_path: Path) -> None:
    store = MapStore("maps", Directory(tmp_path, "maps_dir"), tmp_path)
    assert [store.path_of(name).name for name in ("hosts", "hosts.map", "a.b")] == ["hosts.map", "hosts.map", "a.b.map"]
    with pytest.raises(NotFound, match="not the name of a map"):
        store.path_of("../x")
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "sub").mkdir()
    for spelled in ("x.map", "./x.map", "sub/../x.map", "link/x.map", "link/sub/..//x.map"):
        assert store.file_at(f"{tmp_path}/{spelled}") == tmp_path / "x.map"
    for other in (f"{tmp_path}/sub/x.map", "virt@x", "x.map", f"{tmp_path}/sub/..", f"{tmp_path}/"):
        assert store.file_at(other) is None
