"""What a shadow reaches."""

import asyncio
import socket
from pathlib import Path

import pytest

from haproxy_native import sandbox
from haproxy_native.errors import NoShadow
from haproxy_native.shadow import isolation, launch
from haproxy_native.shadow.isolation import refuse_to_reach_out, without_network
from haproxy_native.shadow.process import Asked, start
from haproxy_native.text.document import Document
from tests.haproxy.process import free_port

LUA = """\
core.register_action("call", { "http-req" }, function(txn)
    local tcp = core.tcp()
    tcp:settimeout(1)
    txn:set_var("txn.reached", tostring(tcp:connect("127.0.0.1", %d)))
end)
"""
TEXT = """\
global
    %s %s

frontend site
    mode http
    timeout client 5s
    bind :80
    http-request lua.call
    http-request set-var(txn.seen) var(txn.reached)
    http-request return status 200
"""


def asked(binary: str, directory: Path, program: str, directive: str = "lua-load") -> str:
    """What a program in Lua leaves in a variable."""
    (directory / "a.lua").write_text(program)

    async def run() -> str:
        shadow = await start(Document.parse(TEXT % (directive, directory / "a.lua")), binary, directory)
        try:
            seen = await shadow.ask(Asked(shadow.shadow.listeners[0], b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
            return seen.variables["txn.seen"]
        finally:
            await shadow.close()

    return asyncio.run(run())


WRITER = """\
core.register_action("call", { "http-req" }, function(txn)
    txn:set_var("txn.reached", tostring(io.open("%s", "w")))
end)
"""


@pytest.mark.skipif(not sandbox.version(), reason="this kernel has no Landlock")
@pytest.mark.skipif(without_network() is None, reason="no namespaces of its own here")
def test_a_program_in_lua_writes_nothing_outside(haproxy_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(haproxy_binary, tmp_path, WRITER % (tmp_path / "written")) == "nil"
    assert not (tmp_path / "written").exists()
    monkeypatch.setattr(sandbox, "version", lambda: 0)
    asked(haproxy_binary, tmp_path, WRITER % (tmp_path / "written"))
    assert (tmp_path / "written").exists()


@pytest.mark.skipif(without_network() is None, reason="no namespaces of its own here")
def test_a_program_in_lua_reaches_nothing(haproxy_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert asked(haproxy_binary, tmp_path, LUA % port) == "nil"
        monkeypatch.setattr(launch, "without_network", lambda: ())
        assert asked(haproxy_binary, tmp_path, LUA % port) == "1"


SOCKETS = """\
core.register_action("call", { "http-req" }, function(txn)
    local first, second = core.tcp(), core.httpclient()
    first:connect("%(path)s")
    core.tcp():connect("unix@%(path)s")
    local answer = second:get{ url = "http://127.0.0.1:%(port)d/", dst = "unix@%(path)s" }
    local away = core.httpclient():get{ url = "http://127.0.0.1:%(port)d/" }
    txn:Info("a line of its own")
    os.execute("echo > %(path)s.executed")
    txn:set_var("txn.reached", answer.status .. " " .. away.status .. " " .. tostring(io.popen("id")))
end)
"""


@pytest.mark.parametrize("directive", ["lua-load", "lua-load-per-thread"])
def test_a_program_in_lua_reaches_no_socket_of_the_file_system(
    haproxy_binaries: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, directive: str
) -> None:
    """Not even where nothing else keeps it from that."""
    monkeypatch.setattr(launch, "without_network", lambda: ())
    monkeypatch.setattr(sandbox, "version", lambda: 0)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()
        server.setblocking(False)
        program = SOCKETS % {"path": tmp_path / "s", "port": free_port()}
        assert asked(haproxy_binaries, tmp_path, program, directive) == "503 503 nil"
        with pytest.raises(BlockingIOError):
            server.accept()
    assert not (tmp_path / "s.executed").exists()


def test_where_there_is_a_network_it_is_refused(haproxy_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "without_network", lambda: None)
    with pytest.raises(NoShadow, match="a shadow of what has 'lua-load' could reach others"):
        asked(haproxy_binary, tmp_path, LUA % 1)


def test_what_may_reach_others() -> None:
    refuse_to_reach_out("frontend a\n    bind :443 ssl crt /a.pem\n    http-request deny\n")
    for line in ("    lua-load-per-thread /a.lua", "    bind unix@/a ssl crt-list /a.txt"):
        with pytest.raises(NoShadow):
            refuse_to_reach_out(f"global\n{line}\n")


def test_no_way_where_none_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_WAYS", (("/nosuch",), ("false",)))
    without_network.cache_clear()
    try:
        assert without_network() is None
    finally:
        without_network.cache_clear()
