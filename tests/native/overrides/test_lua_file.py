"""The Lua file that workers begin with: what it sets, whatever the names are, and where it is."""

from pathlib import Path

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.overrides.ledger import Override
from haproxy_native.overrides.lua_file import NAME, LuaFile, place, source
from haproxy_native.runtime.server_state import server_states
from haproxy_native.text.document import Document
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import run

CONFIG = """\
global
  stats socket {{stats}} mode 600 level admin
  lua-load {script}
defaults
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
backend a:b.c-d_e
  server drained 127.0.0.1:1 weight 20
  server off 127.0.0.1:+2 disabled
  server light 127.0.0.1:3
  server-template t 2 unix@/run/nobody
listen l
  bind 127.0.0.1:{port}
  server s 127.0.0.1:4 weight 20
"""


def override(server: str, member: str, value: object, backend: str = "a:b.c-d_e") -> Override:
    return Override(f"backend/{backend}/server/{server}", member, value, None, 0.0)


OVERRIDES = [
    override("gone", "admin_state", "drain"),
    override("s", "admin_state", "drain", "missing"),
    override("drained", "admin_state", "drain"),
    override("drained", "weight", 7),
    override("off", "admin_state", "ready"),
    override("light", "weight", 3),
    override("t2", "admin_state", "maint"),
    override("s", "weight", 0, "l"),
    override("s", "port", 9, "l"),
]
WANTED = {
    "drained": ("drain", 7),
    "off": ("ready", 1),
    "light": ("ready", 3),
    "t1": ("ready", 1),
    "t2": ("maint", 1),
    "s": ("ready", 0),
}


@pytest.mark.parametrize("version", ["2.6", "3.4"])
def test_a_worker_begins_with_them(tmp_path: Path, version: str) -> None:
    text, file = CONFIG.format(script=tmp_path / NAME, port=free_port()), LuaFile(Editor())
    document = Document.parse(text)
    run(file.write(document, OVERRIDES))
    assert len(file.carried) == 7 and file.carried >= {"backend/l/server/s", "backend/a:b.c-d_e/server/t2"}
    with HAProxy(tmp_path, text, binary=binaries.exactly(version)) as haproxy:
        shown = {each.name: (each.forced_state, each.uweight) for each in server_states(haproxy.ask("show servers state"))}
        assert shown == WANTED
        run(file.write(document, []))
        haproxy.kill()
        haproxy.start()
        states = server_states(haproxy.ask("show servers state"))
        assert {each.forced_state for each in states if each.name != "off"} == {"ready"} and not file.carried


def test_no_name_ends_its_string() -> None:
    text = source([override('x"\\\n]]', "admin_state", "maint")])
    assert r'"x\034\092\010\093\093", function(s) s:set_maint() end)' in text


def test_where_it_is() -> None:
    def found(lines: str) -> Path | None:
        return place(Editor(), Document.parse(lines))

    assert found(f"global\n  lua-load /a/b.lua\n  lua-load /c/{NAME}\n") == Path("/c") / NAME
    assert found(f"global\n  lua-load {NAME}\n") is None and found(f"global\n  lua-load-per-thread /c/{NAME}\n") is None


def test_what_cannot_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = LuaFile(Editor())
    run(file.write(Document.parse(f"global\n  lua-load {tmp_path}/none/{NAME}\n"), OVERRIDES))
    assert file.carried == frozenset() and "a moment after its start" in caplog.text
    run(file.write(Document.parse("global\n"), OVERRIDES))
    assert file.carried == frozenset()
