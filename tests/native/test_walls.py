"""Run code of an attacker in a check and in a shadow: it reaches nothing, and without the sandbox it reaches everything."""

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from haproxy_native import sandbox, seccomp
from haproxy_native.check.check import Checked, CheckSettings, check
from haproxy_native.errors import NoShadow, Refused
from haproxy_native.shadow.process import ClientRequest, start
from haproxy_native.text.document import Document
from tests.haproxy import binaries
from tests.haproxy.process import free_port

pytestmark = pytest.mark.skipif(bool(sandbox.missing_confinement()), reason="this kernel has no Landlock, or no filter of system calls")
VERSIONS = ("2.6", "3.0", "3.2", "3.4")
# By what they are done to. A check may ask name servers by UDP; the last ones not everybody may do anyhow.
NATIVE = {
    "listener": ["unix"],
    "datagrams": ["datagram", "pair"],
    "tcp": ["tcp", "fastopen", "fastopen2", "mptcp", "listen"],
    "udp": ["udp", "udp2"],
    "file": ["chmod", "chown", "utimens", "truncate", "opentruncate", "program"],
    "process": ["spawn", "kill", "tgkill", "sigio", "prlimit", "priority", "affinity"],
}
NOT_EVERYWHERE = {"file": ["fchmodat2", "xattr"], "process": ["netlink", "ptrace", "unshare", "io_uring", "add_key"]}
OF_CHECKS = {"udp", "udp2"}
# What fails without a wall as well: a fast open that the system has not, protocols that it has not.
MAY_FAIL = {"fastopen", "fastopen2", "mptcp"} | {name for names in NOT_EVERYWHERE.values() for name in names}
LUA = """
local outcome = {{}}
local function tried(name, worked) outcome[#outcome + 1] = name .. "=" .. (worked and "0" or "1") end
tried("write", io.open("{file}.written", "w"))
tried("remove", os.remove("{file}.removed"))
tried("execute", os.execute("true"))
local pipe = io.popen("echo started")
tried("popen", pipe and pipe:read() == "started")
local environ = io.open("/proc/{parent}/environ")
tried("environ", environ and environ:read(1))
tried("variable", os.getenv("WALL_SECRET"))
{native}
error("outcome: " .. table.concat(outcome, " ") .. " end")
"""
NATIVE_LUA = """
local call = assert(package.loadlib("{library}", "call"))
for _, each in ipairs({{ {calls} }}) do
    outcome[#outcome + 1] = each[1] .. "=" .. string.format("%d", call(each[1], each[2]))
end
"""
TEXT = """\
global
    lua-load {file}

frontend site
    mode http
    timeout client 5s
    bind :80
    http-request set-header X "${{WALL_SECRET}}"
    http-request return status 200
"""


@dataclass
class Victims:
    """The targets of an attacker, with the code of each attack."""

    directory: Path
    listener: socket.socket
    datagrams: socket.socket
    tcp: socket.socket
    udp: socket.socket
    process: subprocess.Popen[bytes]
    lua: str


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """Compile the machine code of attacks. Without a compiler, all attacks are in Lua."""
    compiler = shutil.which("cc")
    if not compiler:
        return None
    made = tmp_path_factory.mktemp("library") / "attack.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", made, Path(__file__).parent / "attack.c"], check=True)
    return made


@pytest.fixture
def victims(tmp_path: Path, library: Path | None) -> Iterator[Victims]:
    with (
        socket.socket(socket.AF_UNIX) as listener,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        subprocess.Popen([sys.executable, "-S", "-E", "-c", "import time; time.sleep(600)"]) as process,
    ):
        try:
            listener.bind(str(tmp_path / "listener"))
            listener.listen(64)
            datagrams.bind(str(tmp_path / "datagrams"))
            udp.bind(("127.0.0.1", 0))
            for each in (listener, datagrams, tcp, udp):
                each.setblocking(False)
            on = {
                "listener": tmp_path / "listener",
                "datagrams": tmp_path / "datagrams",
                "tcp": tcp.getsockname()[1],
                "udp": udp.getsockname()[1],
                "file": tmp_path / "file",
                "process": process.pid,
            }
            pairs = [(name, on[what]) for table in (NATIVE, NOT_EVERYWHERE) for what, names in table.items() for name in names]
            calls = ", ".join(f'{{ "{name}", "{target}" }}' for name, target in pairs)
            native = NATIVE_LUA.format(library=library, calls=calls) if library else ""
            lua = LUA.format(file=tmp_path / "file", parent=os.getpid(), native=native)
            yield Victims(tmp_path, listener, datagrams, tcp, udp, process, lua)
        finally:
            process.kill()


def outcome(where: str, binary: str, victims: Victims) -> dict[str, int]:
    """Return the error of each attack while HAProxy loaded the program; 0 if the attack succeeded."""
    directory = victims.directory
    for name in ("file", "file.removed"):
        (directory / name).write_text("kept")
        (directory / name).chmod(0o600)
    (directory / "attack.lua").write_text(victims.lua)
    text = TEXT.format(file=directory / "attack.lua").encode()
    sent, in_force = directory / "sent.cfg", directory / "haproxy.cfg"
    sent.write_bytes(text)
    in_force.write_text("global\n")
    if where == "check":
        work: Coroutine[Any, Any, object] = check([Checked(sent, in_force)], CheckSettings(binary))
    else:
        work = start(Document.parse(text), binary, directory, [in_force])
    with pytest.raises((Refused, NoShadow)) as caught:
        asyncio.run(work)
    found = re.search(r"outcome: ([a-z0-9_= ]+) end", str(caught.value))
    assert found, caught.value
    return {name: int(error) for name, error in (pair.split("=") for pair in found[1].split())}


@pytest.mark.parametrize("where", ["check", "shadow"])
@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_is_reached(where: str, version: str, victims: Victims, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = binaries.exactly(version)
    monkeypatch.setenv("WALL_SECRET", "secret")
    tried = outcome(where, binary, victims)
    open_here = OF_CHECKS if where == "check" else set()
    assert {name for name, error in tried.items() if not error} == open_here & set(tried)
    directory = victims.directory
    assert not (directory / "file.written").exists() and (directory / "file.removed").read_text() == "kept"
    assert (directory / "file").read_text() == "kept" and (directory / "file").stat().st_mode & 0o777 == 0o600
    for listener in (victims.listener, victims.tcp):
        with pytest.raises(BlockingIOError):
            listener.accept()
    for receiver in (victims.datagrams, *(() if open_here else (victims.udp,))):
        with pytest.raises(BlockingIOError):
            receiver.recv(1)


@pytest.mark.parametrize("where", ["check", "shadow"])
def test_without_walls_all_is_reached(where: str, victims: Victims, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the other tests would prove nothing."""
    monkeypatch.setenv("WALL_SECRET", "secret")
    monkeypatch.setattr(sandbox, "version", lambda: 0)
    monkeypatch.setattr(seccomp, "install", lambda _: None)
    for module in ("haproxy_native.check.check", "haproxy_native.shadow.process"):
        monkeypatch.setattr(f"{module}.haproxy_environment", lambda environ, _: dict(environ))
    tried = outcome(where, binaries.newest(), victims)
    assert {name for name, error in tried.items() if error} <= MAY_FAIL
    assert (victims.directory / "file.written").exists() and not (victims.directory / "file.removed").exists()


REACHING = """\
core.register_action("call", { "http-req" }, function(txn)
    local reached = {}
    for _, address in ipairs({ "%(path)s", "unix@%(path)s", "ipv4@127.0.0.1:%(port)d" }) do
        local tcp = core.tcp()
        tcp:settimeout(1)
        reached[#reached + 1] = tostring(tcp:connect(address) or nil)
    end
    local tcp = core.tcp()
    tcp:settimeout(1)
    reached[#reached + 1] = tostring(tcp:connect("127.0.0.1", %(port)d) or nil)
    for _, request in ipairs({ { dst = "unix@%(path)s" }, {} }) do
        request.url = "http://127.0.0.1:%(port)d/"
        reached[#reached + 1] = tostring(core.httpclient():get(request).status)
    end
    txn:Info("a line of its own")
    txn:set_var("txn.reached", table.concat(reached, " "))
end)
"""
ASKED = """\
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


def seen(binary: str, directory: Path, directive: str, program: str) -> str:
    """Run a program in Lua, and return the value that it stores in a variable."""
    (directory / "a.lua").write_text(program)

    async def run() -> str:
        shadow = await start(Document.parse(ASKED % (directive, directory / "a.lua")), binary, directory)
        try:
            outcome = await shadow.send_request(ClientRequest(shadow.shadow.listeners[0], b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
            assert outcome
            return outcome.variables["txn.seen"]
        finally:
            await shadow.close()

    return asyncio.run(run())


@pytest.mark.parametrize("directive", ["lua-load", "lua-load-per-thread"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_program_in_lua_connects_to_nobody(version: str, directive: str, victims: Victims, tmp_path: Path) -> None:
    """The program uses HAProxy's own functions to connect, in a running shadow."""
    program = REACHING % {"path": tmp_path / "listener", "port": victims.tcp.getsockname()[1]}
    assert seen(binaries.exactly(version), tmp_path, directive, program) == "nil nil nil nil 503 503"
    for listener in (victims.listener, victims.tcp):
        with pytest.raises(BlockingIOError):
            listener.accept()


# Sections and lines with which HAProxy connects by itself.
CONNECTING = """\
global
    log 127.0.0.1:%(udp)d local0
    log %(datagrams)s local0
resolvers names
    nameserver one 127.0.0.1:%(udp)d
    nameserver two tcp@127.0.0.1:%(tcp)d
peers others
    peer shadow 127.0.0.1:%(free)d
    peer other 127.0.0.1:%(tcp)d
ring lines
    timeout connect 1s
    timeout server 1s
    server one 127.0.0.1:%(tcp)d log-proto octet-count
    server two %(listener)s
defaults
    mode http
    log global
    timeout client 5s
    timeout connect 1s
    timeout server 5s
backend all
    option httpchk
    server one 127.0.0.1:%(tcp)d check inter 10
    server two unix@%(listener)s check inter 10
    server three name.example:80 check resolvers names init-addr none
frontend site
    bind :80
    http-request do-resolve(txn.address,names) str(name.example)
    log ring@lines local0
    default_backend all
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_that_is_configured_connects(version: str, victims: Victims, tmp_path: Path) -> None:
    ports = {"udp": victims.udp.getsockname()[1], "tcp": victims.tcp.getsockname()[1], "free": free_port()}
    text = CONNECTING % {**ports, "listener": tmp_path / "listener", "datagrams": tmp_path / "datagrams"}

    async def run() -> int:
        shadow = await start(Document.parse(text), binaries.exactly(version), tmp_path)
        try:
            answer = await shadow.send_request(ClientRequest(shadow.shadow.listeners[0], b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
            return answer.status if answer else 0
        finally:
            await shadow.close()

    assert asyncio.run(run()) == 200
    for listener in (victims.listener, victims.tcp):
        with pytest.raises(BlockingIOError):
            listener.accept()
    for receiver in (victims.datagrams, victims.udp):
        with pytest.raises(BlockingIOError):
            receiver.recv(1)
