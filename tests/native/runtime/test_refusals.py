"""Each class of refusals, provoked on a real HAProxy of each version by every command that can do so."""

import asyncio
from collections.abc import Iterator

import pytest

from haproxy_native.errors import RuntimeConflict, RuntimeDenied, RuntimeExists, RuntimeMissing, RuntimeRefused
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.responses import UNKNOWN, denial_error, first_words, refusal_error
from haproxy_native.runtime.socket import Socket
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.tls.pems import made

CONFIG = """\
global
  stats socket {{stats}} mode 600 level admin
  stats socket {directory}/operator level operator
  stats socket {directory}/user level user
  stats socket {directory}/number level admin severity-output number
  stats socket {directory}/string level admin severity-output string
defaults base
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
frontend web from base
  bind 127.0.0.1:{port} ssl crt-list {directory}/list
  acl nets src -f {directory}/nets
  http-request deny if nets
  http-request set-var(txn.x) src,map_ip({directory}/ips)
  http-request set-var(txn.y) path,map_str_int({directory}/ints)
  http-request set-var(txn.z) path,map_reg({directory}/regs)
backend app from base
  server plain 127.0.0.1:1
  server checked 127.0.0.1:2 check inter 1h
  server unix /tmp/none.sock
  server tracking 127.0.0.1:5 track app/checked
backend static from base
  balance static-rr
  server one 127.0.0.1:1
backend referring from base
  use-server kept if TRUE
  server kept 127.0.0.1:1
backend addresses from base
  stick-table type ip size 1k store gpc0
backend full from base
  stick-table type string len 10 size 1 nopurge store gpc0
backend bytes from base
  stick-table type binary len 4 size 10 store gpc0
"""
ONE, TWO = made("a.example.com"), made("b.example.com")
# `D` is the directory of the test's files; what stands behind ` << ` is the payload. Commands that a version does not have are left out.
ROWS: dict[type[RuntimeRefused], list[str]] = {
    RuntimeMissing: [
        "set server ghost/s weight 1",
        "set server app/ghost weight 1",
        "enable health app/ghost",
        "set maxconn frontend ghost 5",
        "add server ghost/x 127.0.0.1:1",
        "del server app/ghost",
        "del server ghost/x",
        "add backend x from nothing",
        "del backend ghost",
        "publish backend ghost",
        "show map D/none",
        "add map D/none a b",
        "get map D/none a",
        "prepare map D/none",
        "clear map D/none",
        "set map D/ints ghost 5",
        "del map D/ints ghost",
        "show acl #99",
        "add acl #99 x",
        "del acl D/nets 1.2.3.4",
        "del acl D/nets #0x1",
        "del acl D/nets #q",
        "prepare acl #99",
        "show table none",
        "set table none key a data.gpc0 1",
        "clear table none",
        "show ssl cert none.pem",
        "set ssl cert none.pem << x",
        "del ssl cert none.pem",
        "show ssl ca-file none",
        "set ssl ca-file none << x",
        "add ssl ca-file none << x",
        "del ssl ca-file none",
        "show ssl crl-file none",
        "set ssl crl-file none << x",
        "del ssl crl-file none",
        "show ssl crt-list -n none",
        "add ssl crt-list none D/a.pem",
        "add ssl crt-list D/list none.pem",
        "del ssl crt-list none D/a.pem",
        "del ssl crt-list D/list none.pem",
        "del ssl crt-list D/list D/a.pem:77",
        "acme renew none.pem",
        "acme renew D/a.pem",
        "shutdown session 0x123",
        "shutdown sessions server app/ghost",
        "get var proc.x",
        "show servers state ghost",
        "show stat ghost 1 -1",
    ],
    RuntimeExists: [
        "add server app/plain 127.0.0.1:1",
        "add server app/x 127.0.0.1:1 id 1",
        "add backend app from base",
        "new ssl cert D/a.pem",
        "new ssl ca-file x >> new ssl ca-file x",
        "new ssl crl-file y >> new ssl crl-file y",
    ],
    RuntimeConflict: [
        "set server static/one weight 5",
        "set server app/tracking health up",
        "set server app/unix addr 127.0.0.1",
        "set server app/plain check-port 5",
        "set server app/plain agent-addr 127.0.0.1",
        "set server app/plain agent-send x",
        "set server app/plain fqdn x",
        "set server app/plain ssl on",
        "enable health app/plain",
        "enable agent app/plain",
        "add server static/x 127.0.0.1:1",
        "del server app/plain",
        "set server app/checked state maint >> del server app/checked",
        "set server referring/kept state maint >> del server referring/kept",
        "del backend app",
        "del backend addresses",
        "commit map @9 D/ints",
        "add map @9 D/ints a 1",
        "commit acl @9 D/nets",
        "add acl @9 D/nets 1.2.3.4",
        "add acl D/ints x",
        "set table full key a data.gpc0 1 >> set table full key b data.gpc0 1",
        "commit ssl cert D/a.pem",
        "abort ssl cert D/a.pem",
        "del ssl cert D/a.pem",
        "new ssl cert e.pem >> add ssl crt-list D/list e.pem",
        "del ssl crt-list D/list D/a.pem",
        "set var proc.x int(1)",
    ],
    RuntimeRefused: [
        "nonsense",
        "set server app weight 1",
        "set server app/plain weight x",
        "set server app/plain weight 5x",
        "set server app/plain weight 257",
        "set server app/plain state x",
        "set server app/plain health x",
        "set server app/plain addr memory",
        "set server app/plain addr /tmp/x",
        "set server app/plain addr",
        "set server app/checked check-port 99999",
        "set maxconn frontend web",
        "set maxconn server app/plain x",
        "add server app/x",
        "add server app/x 127.0.0.1:1 memory",
        "add server app/x 127.0.0.1:1 track app/ghost",
        "add server app/x 127.0.0.1:1 weight 999",
        "add server app/x 127.0.0.1:1 ssl crt none.pem",
        "add server app/x localhost:1 resolvers none",
        "add backend a/b from base",
        "add map D/ips a",
        "add map D/ips memory x",
        "add map D/ips already\\ exists x",
        "add map D/ints k memory",
        "add map D/regs ( x",
        "add acl D/nets memory",
        "set table addresses key 1.2.3.4 data.gpc1 1",
        "set table addresses key 1.2.3.4 data.nonsense 1",
        "set table addresses key 1.2.3.4 data.gpc0 x",
        "set table bytes key a data.gpc0 1",
        "show table addresses data.gpc0 xx 1",
        "show table addresses data.gpc0 gt x",
        "show table addresses data.none gt 1",
        "set ssl cert D/a.pem << garbage",
        "set ssl cert D/a.pem << ONE >> commit ssl cert D/a.pem",
        "new ssl ca-file z >> set ssl ca-file z << garbage",
        "add ssl crt-list D/list << D/b.pem [nonsense 1] x",
        "shutdown session",
    ],
}


@pytest.fixture(scope="module", params=["2.6", "3.0", "3.2", "3.4"])
def haproxy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HAProxy]:
    directory = tmp_path_factory.mktemp("refusals")
    files = {"a.pem": ONE.pem, "b.pem": TWO.pem, "list": f"{directory}/a.pem\n", "nets": "10.0.0.0/8\n", "ips": "10.0.0.1 x\n"}
    for name, text in (files | {"ints": "k 1\n", "regs": "x y\n"}).items():
        (directory / name).write_text(text)
    config = CONFIG.format(directory=directory, port=free_port())
    with HAProxy(directory, config, binary=binaries.exactly(request.param), master=False) as haproxy:
        yield haproxy


def answered(haproxy: HAProxy, row: str) -> tuple[str, str]:
    """The last of the row's commands, and the answer to it."""
    answer = ""
    for step in row.replace("D/", f"{haproxy.directory}/").split(" >> "):
        command, _, payload = step.partition(" << ")
        answer = asyncio.run(Socket(str(haproxy.stats)).send(command, payload.replace("ONE", ONE.cert) or None))
    return command, answer


def test_every_refusal_has_its_class(haproxy: HAProxy) -> None:
    wrong, seen = [], 0
    for kind, rows in ROWS.items():
        for row in rows:
            command, answer = answered(haproxy, row)
            if answer.startswith((UNKNOWN, "Usage: ")) and row != "nonsense":
                continue
            seen += 1
            if not answer or type(refusal_error(first_words(answer), command)) is not kind:
                wrong.append((kind.__name__, row, answer))
    assert (wrong, seen > 100) == ([], True)


@pytest.mark.parametrize("name", ["operator", "user"])
def test_what_the_level_of_the_socket_does_not_permit(haproxy: HAProxy, name: str) -> None:
    """Whoever asks is told the level: no command's answer is made of HAProxy's words."""
    path = haproxy.directory / name

    async def errors() -> list[str]:
        runtime = Runtime(timeout=60)
        assert await runtime.connect(None, [str(path)], 5, 0.02)
        calls = [
            runtime.send("show ssl crt-list"),
            runtime.read_dump("show ssl crt-list -n x", "# "),
            runtime.execute("set server app/plain weight 1"),
            runtime.send_each(["set server app/plain weight 1", "set server app/plain weight 2"]),
        ]
        return [str(error) for error in await asyncio.gather(*calls, return_exceptions=True) if isinstance(error, RuntimeDenied)]

    told = asyncio.run(errors())
    assert len(told) == 4
    assert told[0] == str(denial_error(str(path), name, "show ssl crt-list"))
    assert f'level {name}, and this needs level admin; give it that level with "stats socket {path} level admin"' in told[0]


@pytest.mark.parametrize("name", ["number", "string"])
def test_the_severity_of_a_message_is_no_part_of_it(haproxy: HAProxy, name: str) -> None:
    async def work() -> None:
        runtime = Runtime(timeout=60)
        assert await runtime.connect(None, [str(haproxy.directory / name)], 5, 0.02)
        assert runtime.capabilities.level == "admin"
        assert await runtime.send_each(["set server app/plain weight 1", "set server app/ghost weight 1"]) == ["", "No such server."]
        with pytest.raises(RuntimeMissing, match="^No such server"):
            await runtime.execute("set server app/ghost weight 1")
        await runtime.execute("add server app/added 127.0.0.1:1")
        await runtime.execute("set server app/added state maint")
        await runtime.execute("del server app/added")

    asyncio.run(work())


def test_the_level_that_is_needed() -> None:
    assert "needs level operator" in str(denial_error("/s", "user", "set table t key a data.gpc0 1"))
    assert "needs level operator" in str(denial_error("/s", "user", "show ssl cert"))
    assert "needs level admin" in str(denial_error("/s", "user", "show ssl crt-list"))
    assert "needs level admin" in str(denial_error("/s", "operator", "set table t key a data.gpc0 1"))
    assert '"-S /m,level,admin"' in str(denial_error("/m", "user", "set server a/b weight 1", of_master=True))
