"""Write lines into the server-state file, and start real workers with them, also after lines of others in the file."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.features.overrides.ledger import Override
from haproxy_native.features.overrides.server_state_file import backends_with_health, state_file_path, with_lines, write_overrides
from haproxy_native.runtime.server_state import ServerState, server_states
from haproxy_native.text.document import Document
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy

CONFIG = """\
global
  stats socket {{stats}} mode 600 level admin
  server-state-base {base}
  server-state-file states
defaults
  mode http
  load-server-state-from-file global
  timeout client 5s
  timeout connect 5s
  timeout server 5s
backend app
  default-server weight 20
  server drained 127.0.0.1:1 check inter 20s
  server light localhost:2
  server off 127.0.0.1:3 disabled
  server zero 127.0.0.1:4 weight 0
  server mapped 127.0.0.1:+5
  server socket unix@/run/nobody
  server bare 127.0.0.1
  server gone 127.0.0.1:7
  server-template t 2 127.0.0.1:6
backend alone
  load-server-state-from-file none
  server s 127.0.0.1:8
"""


def override(server: str, member: str, value: object, backend: str = "app") -> Override:
    return Override(f"backend/{backend}/server/{server}", member, value, None, 0.0)


OVERRIDES = [
    override("drained", "admin_state", "drain"),
    override("light", "weight", 7),
    override("off", "admin_state", "ready"),
    override("off", "weight", 9),
    override("zero", "weight", 5),
    override("mapped", "admin_state", "drain"),
    override("socket", "admin_state", "drain"),
    override("bare", "admin_state", "maint"),
    override("bare", "port", 90),
    override("nobody", "weight", 5),
    override("t2", "admin_state", "maint"),
    override("gone", "address", "127.0.0.9"),
    override("s", "weight", 3, "alone"),
    override("s", "weight", 3, "missing"),
]
WANTED = {
    "drained": ("drain", 20, 1),
    "light": ("ready", 7, 2),
    "off": ("ready", 9, 3),
    "zero": ("ready", 5, 4),
    "mapped": ("ready", 20, 5),
    "socket": ("ready", 20, 0),
    "bare": ("maint", 20, 0),
    "gone": ("ready", 20, 7),
    "t1": ("ready", 20, 6),
    "t2": ("maint", 20, 6),
}


def shown(haproxy: HAProxy) -> dict[str, tuple[str, int, int]]:
    return {each.name: (each.forced_state, each.uweight, each.port) for each in states(haproxy)}


def states(haproxy: HAProxy) -> list[ServerState]:
    return server_states(haproxy.ask("show servers state app"))


@pytest.mark.parametrize("version", ["2.6", "3.4"])
def test_a_worker_begins_with_them(tmp_path: Path, version: str) -> None:
    text, path = CONFIG.format(base=tmp_path), tmp_path / "states"
    document, editor = Document.parse(text), Editor()
    written = asyncio.run(write_overrides(editor, document, OVERRIDES))
    assert {each.rpartition("/")[2] for each in written} == {"drained", "light", "off", "zero", "bare", "t2"}
    with HAProxy(tmp_path, text, binary=binaries.exactly(version)) as haproxy:
        assert shown(haproxy) == WANTED
        assert "invalid" not in haproxy.log.read_text() and "alone" not in path.read_text()
        # Lines of others stay, and our lines take precedence. A server that was down stays down.
        haproxy.ask("set server app/drained health down")
        haproxy.ask("set server app/gone weight 3")
        dump = haproxy.ask("show servers state")
        path.write_text(dump)
        asyncio.run(write_overrides(editor, document, [override("drained", "weight", 4)], states(haproxy)))
        assert path.read_text().endswith(dump.partition("\n")[2]) and backends_with_health(editor, document, OVERRIDES) == ["app"]
        haproxy.kill()
        haproxy.start()
        now = {each.name: each for each in states(haproxy)}
        assert now["drained"].uweight == 4 and now["drained"].operational == 0 and now["gone"].uweight == 3
        assert asyncio.run(write_overrides(editor, document, [])) == frozenset()
        assert path.read_text().splitlines() == dump.splitlines()


def test_merged() -> None:
    both = with_lines("1\n# head\nrow\n", ["a\n", "b\n"])
    assert both and both.splitlines()[2:4] == ["a", "b"] and both.endswith("# head\nrow\n")
    assert with_lines(both, ["c\n"]) == both.replace("a\nb\n", "c\n") and with_lines(both, []) == "1\n# head\nrow\n"
    assert with_lines("", ["a\n"]) and with_lines("1", []) == "1\n" and with_lines("2\nrow\n", ["a\n"]) is None


def test_where_it_is() -> None:
    assert state_file_path(Editor(), Document.parse("global\n  server-state-file /a/b\n  server-state-base /c\n")) == Path("/a/b")
    assert (
        state_file_path(Editor(), Document.parse("global\n  server-state-file b\n")) is None
        and state_file_path(Editor(), Document.parse("global\n")) is None
    )


def test_what_cannot_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    written = asyncio.run(write_overrides(Editor(), Document.parse(CONFIG.format(base=tmp_path / "none")), OVERRIDES))
    assert written == frozenset() and "gets overrides after its start" in caplog.text
    (tmp_path / "states").write_text("2\nfuture\n")
    written = asyncio.run(write_overrides(Editor(), Document.parse(CONFIG.format(base=tmp_path)), OVERRIDES))
    assert written == frozenset() and (tmp_path / "states").read_text() == "2\nfuture\n"
