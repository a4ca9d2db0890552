"""Shapes that come with a change: only where it takes a reload in any case, and never those that HAProxy has refused."""

from pathlib import Path

import pytest

from haproxy_native.check.messages import Message
from haproxy_native.commit import shaping
from haproxy_native.commit.change import Change
from haproxy_native.editing.shape_file import shapes_of
from haproxy_native.text import parts
from haproxy_native.text.document import Document
from haproxy_native.text.parts import SHAPES
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, reload, run, running_engine

OWN = b"\nbackend b from base\n  fullconn 5\n  server s 127.0.0.1:1\n"
BARE = b"\nbackend b from base\n  server s 127.0.0.1:1\n"


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / SHAPES).write_text("# none yet\n")
    return tmp_path / "conf.d"


@pytest.fixture
def haproxy(tmp_path: Path, conf: Path) -> HAProxy:
    return HAProxy(tmp_path, CONFIG % free_port(), binary=binaries.exactly("3.4"), arguments=("-f", str(conf)))


@pytest.mark.parametrize(
    ("more", "change", "number"),
    [
        (OWN, {}, 1),
        (BARE, {}, 0),
        (BARE + OWN.replace(b" b ", b" c "), {}, 1),
        (OWN, {"skip_reload": True}, 0),
        (OWN, {"gated": True}, 0),
        (OWN, {"checked": False}, 0),
        (BARE, {"force_reload": True}, 0),
    ],
)
def test_which_come_with_a_change(tmp_path: Path, conf: Path, haproxy: HAProxy, more: bytes, change: dict[str, bool], number: int) -> None:
    async def work() -> None:
        async with running_engine(tmp_path, haproxy, after=(str(conf),), shapes=8) as engine:
            before = engine.document
            texts = parts.split(before.data)
            new = Document.parse(parts.join([(name, data + more * (name == parts.MAIN)) for name, data in texts.items()]))
            given = Change(lambda document: new, **change)
            assert len(shapes_of(await shaping.shaped(engine.context, given, before, new))) == number
            assert await shaping.shaped(engine.context, given, before, before) is before

    with haproxy:
        run(work())


def test_none_join_a_reload_that_waits(tmp_path: Path, conf: Path, haproxy: HAProxy) -> None:
    """The next one brings them: a change that waits with others is otherwise compared with what runs."""

    async def work() -> None:
        async with running_engine(tmp_path, haproxy, after=(str(conf),), shapes=8) as engine:
            text = engine.raw()
            outcome = await engine.push_raw(text + OWN, version=engine.version())
            assert outcome.reload_id and (conf / SHAPES).read_text().count("fullconn 5") == 1
            await engine.push_raw(text + OWN + OWN.replace(b" b ", b" c ").replace(b"5", b"6"), version=engine.version())
            assert "fullconn 6" not in (conf / SHAPES).read_text()
            assert (await reload(engine)).status == "succeeded"
            outcome = await engine.push_raw(engine.raw() + OWN.replace(b" b ", b" d "), version=engine.version())
            assert outcome.live and not outcome.reload_id

    with haproxy:
        run(work())


NAMES = ["shape-1", "shape-2"]


@pytest.mark.parametrize(
    ("said", "is_refused", "names"),
    [
        ([], False, []),
        ([], True, NAMES),
        ([Message("warning", "something else", "haproxy.cfg", 3, "backend b")], False, []),
        ([Message("alert", "something else")], True, NAMES),
        ([Message("warning", "ignored", SHAPES, 3, "defaults shape-2")], False, ["shape-2"]),
        ([Message("alert", "Proxy 'shape-1': unable to find capture id")], True, ["shape-1"]),
        ([Message("warning", "ignored", SHAPES, 3, "defaults shape-0")], False, []),
    ],
)
def test_those_that_are_refused(tmp_path: Path, said: list[Message], is_refused: bool, names: list[str]) -> None:
    def document(*shapes: str) -> Document:
        text = "".join(f"defaults {name}\n" for name in shapes)
        return Document.parse(parts.join([(parts.MAIN, b"global\n"), (f"/conf/{SHAPES}", text.encode())]))

    async def work() -> None:
        async with running_engine(tmp_path) as engine:
            found = shaping.refuse(engine.context, document("shape-0", *NAMES), document("shape-0"), said, is_refused=is_refused)
            assert (found, sorted(engine.context.refused_shapes)) == (bool(names), names)

    (tmp_path / "haproxy.cfg").write_text("global\n")
    run(work())
