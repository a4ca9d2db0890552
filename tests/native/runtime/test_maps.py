"""Maps of a real HAProxy: every sign comes through, what is refused changes nothing."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from haproxy_native.errors import BadValue, RuntimeRefused
from haproxy_native.runtime import lists
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.lists import CHUNK, MapEntry, add_entry, clear_map, delete_entries, payloads, replace_map, set_entry
from tests.haproxy import binaries
from tests.haproxy.process import SMALL, HAProxy

ODD = [
    MapEntry("plain", "two words"),
    MapEntry("semi;colon", "a;b"),
    MapEntry("back\\slash", "c:\\x\\"),
    MapEntry('quo"te', "'single' \"double\""),
    MapEntry("#hash", "# no comment"),
    MapEntry("ümlaut", "日本"),
    MapEntry("<<", "<< %EOF%"),
    MapEntry("comma,equal=", 'key="x", value="y", type="str"'),
]


@pytest.fixture(scope="module", params=["2.6", "3.4"])
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HAProxy]:
    """Maps named str, ip and reg, each with one entry; the first is looked up in two ways."""
    directory = tmp_path_factory.mktemp("maps")
    for kind, line in (("str", "a x\n"), ("ip", "10.0.0.0/8 x\n"), ("reg", "^/x$ y\n")):
        (directory / f"{kind}.map").write_text(line)
    rules = [f"http-request set-var(txn.{kind}) path,map_{kind}({directory}/{kind}.map)" for kind in ("str", "ip", "reg")]
    rules.append(f"http-request set-var(txn.beg) path,map_beg({directory}/str.map)")
    config = SMALL + "".join(f"  {rule}\n" for rule in rules)
    with HAProxy(directory, config, binary=binaries.exactly(request.param)) as haproxy:
        yield haproxy


def doing(haproxy: HAProxy, work) -> None:
    async def do() -> None:
        runtime = Runtime(timeout=60)
        assert await runtime.connect(str(haproxy.master), [str(haproxy.stats)], 60, 0.02)
        await work(runtime, *(str(haproxy.directory / f"{kind}.map") for kind in ("str", "ip", "reg")))

    asyncio.run(do())


def test_every_sign_comes_through(loaded: HAProxy) -> None:
    async def work(runtime: Runtime, name: str, *_: str) -> None:
        await replace_map(name, lambda: ODD).apply(runtime)
        assert [(each.key, each.value) for each in await lists.read_map(runtime, name)] == [(each.key, each.value) for each in ODD]
        for each in ODD:
            assert await lists.find_entry(runtime, name, each.key) == each
        await clear_map(name).apply(runtime)
        assert await lists.read_map(runtime, name) == []
        for each in ODD:
            await add_entry(name, each.key, each.value[::-1]).apply(runtime)
            await set_entry(name, each.key, each.value).apply(runtime)
        assert [(each.key, each.value) for each in await lists.read_map(runtime, name)] == [(each.key, each.value) for each in ODD]
        for each in ODD[1:]:
            await delete_entries(name, each.key).apply(runtime)
        assert [each.key for each in await lists.read_map(runtime, name)] == ["plain"]

    doing(loaded, work)


def test_a_key_goes_with_all_its_entries(loaded: HAProxy) -> None:
    async def work(runtime: Runtime, name: str, *_: str) -> None:
        await replace_map(name, lambda: [MapEntry("a", "1"), MapEntry("b", "2"), MapEntry("a", "3"), MapEntry("a", "4")]).apply(runtime)
        await delete_entries(name, "a").apply(runtime)
        assert [(each.key, each.value) for each in await lists.read_map(runtime, name)] == [("b", "2")]

    doing(loaded, work)


def test_many_entries_arrive_in_their_order(loaded: HAProxy) -> None:
    async def work(runtime: Runtime, name: str, *_: str) -> None:
        many = [MapEntry(f"key{number:05}", "v" * (number % 40 + 1)) for number in range(3000)]
        await replace_map(name, lambda: many).apply(runtime)
        assert [(each.key, each.value) for each in await lists.read_map(runtime, name)] == [(each.key, each.value) for each in many]

    doing(loaded, work)


def test_what_is_refused_changes_nothing(loaded: HAProxy) -> None:
    async def work(runtime: Runtime, _: str, name: str, regex: str) -> None:
        before = await lists.read_map(runtime, name)
        many = [MapEntry(f"10.0.{number // 250}.{number % 250}", "x") for number in range(1000)]
        for step in (
            replace_map(name, lambda: [*many, MapEntry("nonsense", "x")]),
            add_entry(name, "nonsense", "x"),
            set_entry(name, "9.9.9.9", "x"),
        ):
            with pytest.raises(RuntimeRefused):
                await step.apply(runtime)
            assert await lists.read_map(runtime, name) == before
        with pytest.raises(RuntimeRefused, match="Key not found"):
            await delete_entries(name, "9.9.9.9").apply(runtime)
        for step in (replace_map("none.map", lambda: many), clear_map("none.map"), add_entry("none.map", "a", "b")):
            with pytest.raises(RuntimeRefused, match="Unknown map identifier"):
                await step.apply(runtime)
        with pytest.raises(RuntimeRefused, match="Unknown map identifier"):
            await lists.read_map(runtime, "none.map")
        assert await lists.find_entry(runtime, regex, "^/x$") == MapEntry("^/x$", "y")
        assert await lists.find_entry(runtime, name, "10.1.2.3") is None

    doing(loaded, work)


def test_which_there_are(loaded: HAProxy) -> None:
    async def work(runtime: Runtime, *names: str) -> None:
        found = await lists.list_maps(runtime)
        assert [each.name for each in found] == list(names)
        assert all(each.id.isdigit() and "pattern loaded from file" in each.description for each in found)

    doing(loaded, work)


def test_payloads_hold_every_entry_once() -> None:
    many = [MapEntry(str(number), "v" * size) for number, size in enumerate((1, CHUNK, 1, CHUNK - 4, CHUNK // 2, CHUNK // 2, 2))]
    pieces = list(payloads(many))
    assert "\n".join(pieces).split("\n") == [f"{each.key} {each.value}" for each in many]
    assert all(len(piece) <= CHUNK or "\n" not in piece for piece in pieces)
    assert list(payloads([])) == []


@pytest.mark.parametrize(("key", "value"), [("a b", "x"), ("", "x"), ("a", ""), ("a", " "), ("a", "x\ny"), ("a\n", "x")])
def test_what_cannot_be_a_line_of_a_payload(key: str, value: str) -> None:
    with pytest.raises(BadValue):
        list(payloads([MapEntry(key, value)]))


def test_what_is_said(tmp_path: Path) -> None:
    assert replace_map("/x y", list).texts == [r"prepare map /x\ y", r"add map @<version> /x\ y <<", r"commit map @<version> /x\ y"]
    assert add_entry("/x", "a", "").texts == ["add map /x a "]
    assert (set_entry("/x", "a", "b").texts, delete_entries("/x", "a").texts, clear_map("/x").texts) == (
        ["set map /x a b"],
        ["del map /x a"],
        ["clear map /x"],
    )
