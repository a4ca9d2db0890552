"""Compare checks with and without the sandbox, including warnings, for every file of the corpus and every version of HAProxy."""

import asyncio
import re
import subprocess
from pathlib import Path

import pytest

from haproxy_native import sandbox
from haproxy_native.check.check import Checked, CheckSettings, check
from haproxy_native.check.messages import Message, Origin, parse_messages
from haproxy_native.errors import Refused
from haproxy_native.text.document import Document
from tests.corpus.test_corpus import SOME
from tests.haproxy import binaries

pytestmark = pytest.mark.skipif(not sandbox.version(), reason="this kernel has no Landlock")
NAMED = b"""\
resolvers names
    parse-resolv-conf
defaults d
    mode http
    timeout connect 1s
    timeout client 1s
    timeout server 1s
backend b from d
    server s localhost:80
    server t 127.0.0.1:80 resolvers names
frontend site from d
    bind 127.0.0.1:80
"""
LUA = """\
local file = io.open("{tmp}/written", "w")
if file then file:write("x") file:close() end
os.execute("touch {tmp}/started")
os.remove("{tmp}/kept")
"""


def said(path: Path, binary: str, home: Path) -> list[str] | None:
    """Return HAProxy's messages about a file; None if it refuses the file."""
    try:
        return texts(asyncio.run(check([Checked(path, path)], CheckSettings(binary), home=home)))
    except Refused:
        return None


def said_unconfined(path: Path, binary: str, home: Path) -> list[str] | None:
    done = subprocess.run([binary, "-W", "-f", path, "-c"], capture_output=True, text=True, cwd=home, check=False)
    return texts(parse_messages(done.stderr, {str(path): Origin(str(path))})) if done.returncode == 0 else None


def texts(found: list[Message]) -> list[str]:
    return [f"{message.level} {message.line} {message.text}" for message in found]


def accepted(path: Path, binary: str, home: Path) -> bool:
    return said(path, binary, home) is not None


@pytest.mark.parametrize("path", SOME, ids=lambda path: path.name)
def test_the_verdict_is_the_same(path: Path, tmp_path: Path) -> None:
    for number, binary in enumerate(binaries.installed()):
        confined, free = (tmp_path / f"{number}{kind}" for kind in "cf")
        confined.mkdir()
        free.mkdir()
        assert said(path, binary, confined) == said_unconfined(path, binary, free), binary
        assert list(confined.iterdir()) == []


def test_host_names_are_resolved(tmp_path: Path) -> None:
    (tmp_path / "named.cfg").write_bytes(NAMED)
    for binary in binaries.installed():
        assert accepted(tmp_path / "named.cfg", binary, tmp_path)


def test_lua_changes_nothing(tmp_path: Path) -> None:
    binary = next(each for each in binaries.installed() if re.search(r"\+LUA", version_of(each)))
    (tmp_path / "kept").write_text("x")
    (tmp_path / "load.lua").write_text(LUA.format(tmp=tmp_path))
    (tmp_path / "lua.cfg").write_text(f"global\n    lua-load {tmp_path}/load.lua\n" + NAMED.decode())
    accepted(tmp_path / "lua.cfg", binary, tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["kept", "load.lua", "lua.cfg"]
    said_unconfined(tmp_path / "lua.cfg", binary, tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["load.lua", "lua.cfg", "started", "written"]


def test_variables_that_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_PORT", "8080")
    monkeypatch.setenv("OTHER_SECRET", "secret")
    file, binary = tmp_path / "named.cfg", binaries.exactly("3.2")
    for text in ("bind :${SOME_PORT}", 'bind ":$SOME_PORT"', ".if defined(SOME_PORT)\n bind :80\n .else\n wrong\n .endif"):
        file.write_bytes(NAMED + f"frontend f from d\n {text}\n".encode())
        assert accepted(file, binary, tmp_path) is True
    sent = tmp_path / "sent.cfg"
    sent.write_bytes(NAMED + b"frontend f from d\n bind :${OTHER_SECRET}\n")
    with pytest.raises(
        Refused, match="\nHAProxy's check has 'OTHER_SECRET' only if the configuration in force names it, or the text itself sets it$"
    ):
        asyncio.run(check([Checked(sent, file, Document.parse(sent.read_bytes()))], CheckSettings(binary), home=tmp_path))
    (tmp_path / "load.lua").write_text('if os.getenv("OTHER_SECRET") then error("seen") end')
    file.write_bytes(f"global\n    lua-load {tmp_path}/load.lua\n".encode() + NAMED)
    assert accepted(file, binary, tmp_path) is True


def version_of(binary: str) -> str:
    return subprocess.run([binary, "-vv"], capture_output=True, text=True, check=True).stdout
