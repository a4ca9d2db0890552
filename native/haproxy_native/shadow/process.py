"""A shadow that runs: HAProxy on a rewritten text, the one server behind all its backends, and the log of what it has decided."""

import asyncio
import logging
import os
import re
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from haproxy_native.check.environment import for_haproxy
from haproxy_native.check.run import Confinement
from haproxy_native.check.whole_set import WholeSet, home_in, led_into
from haproxy_native.child import Child, read
from haproxy_native.errors import NoShadow
from haproxy_native.scratch import Scratch
from haproxy_native.shadow.isolation import refuse_to_reach_out, without_network
from haproxy_native.shadow.rewrite import ECHO, LOG, Listener, Shadow, identifiers, rewritten
from haproxy_native.text.document import Document

logger = logging.getLogger(__name__)
# Contents by path.
Files = Mapping[Path, Path | None]
NONE: Files = {}
# Bytes.
LARGEST_LIST = 1 << 20
START_SECONDS, ANSWER_SECONDS = 20.0, 10.0
POLL_SECONDS = 0.003
# MiB of one shadow, seconds of the processor's time, and the bytes that are kept of its output.
MEMORY, CPU_SECONDS, MOST_SAID = 512, 60, 20_000
_PARSING = re.compile(r"parsing \[.*?:(\d+)\]\s*:\s*(.*)")
_HEAD_END = b"\r\n\r\n"
_LARGEST = 1 << 20


@dataclass(frozen=True)
class Asked:
    """A request as a client sends it. `head` is its start line and headers; `source` and `destination` are address and port.

    `tls`: the name of the server that it asks for, None without TLS; `tls_version` the one that it offers, as in 1.2, empty for all.
    `reply` is what the server answers, complete.
    """

    listener: Listener
    head: bytes
    body: bytes = b""
    source: tuple[str, int] = ("192.0.2.1", 50_000)
    destination: tuple[str, int] = ("192.0.2.2", 80)
    tls: str | None = None
    alpn: str = ""
    tls_version: str = ""
    reply: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@dataclass(frozen=True)
class Seen:
    """What came of it. `marks` in the order in which they were left. `request` is what the server was sent, None where it was asked
    nothing; `response` what the client got, empty where the connection was closed.

    `last_line`: of the rule that HAProxy calls the last, in the shadow's text; 0 where it names none.
    """

    frontend: str
    backend: str
    server: str
    status: int
    termination: str
    marks: list[str]
    last_line: int
    variables: dict[str, str]
    request: bytes | None
    response: bytes


@dataclass
class ShadowProcess:
    """`start` makes one; `close` ends it."""

    shadow: Shadow
    _scratch: Scratch
    _child: Child
    _log: socket.socket
    _echo: asyncio.Server | None = None
    _asked: Asked | None = None
    _request: bytes | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _output: asyncio.Future[tuple[str, str]] | None = None

    @property
    def ended(self) -> bool:
        return self._child.ended

    async def ask(self, asked: Asked) -> Seen:
        """One request at a time. Raises NoShadow, after which it has ended.

        It is asked to the end even if the caller is cancelled: what it says later would be taken for the answer to the next request.
        """
        task = asyncio.ensure_future(self._asked_alone(asked))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(task)

    async def _asked_alone(self, asked: Asked) -> Seen:
        async with self._lock:
            self._asked, self._request = asked, None
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    response = await self._sent(asked)
                    line = (await asyncio.get_running_loop().sock_recv(self._log, 1 << 17)).decode("utf-8", "replace")
            except (TimeoutError, OSError) as error:
                await self._child.kill()
                raise NoShadow(f"the shadow gave no answer: {error or 'it took too long'}") from error
            return _seen(line, self._request, response)

    async def _sent(self, asked: Asked) -> bytes:
        reader, writer = await self._connection(str(self._scratch.path / asked.listener.socket))
        try:
            writer.write(_proxy_line(asked))
            if asked.tls is not None:
                await writer.start_tls(_context(asked), server_hostname=asked.tls or None)
            writer.write(asked.head + asked.body)
            return await _answer(reader, is_http=asked.listener.mode == "http")
        except (ConnectionError, ssl.SSLError):
            return b""
        finally:
            writer.transport.abort()

    async def _connection(self, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """HAProxy binds its sockets a moment before it listens on them."""
        while True:
            try:
                return await asyncio.open_unix_connection(path)
            except ConnectionRefusedError:
                if self.ended:
                    raise
            await asyncio.sleep(POLL_SECONDS)

    async def serve(self) -> None:
        """Begins to answer as the servers, and to read the output, which would fill its pipes."""
        assert self._child.stderr
        assert self._child.stdout
        self._output = asyncio.gather(read(self._child.stderr, MOST_SAID), read(self._child.stdout, MOST_SAID))
        self._echo = await asyncio.start_unix_server(self._answer, str(self._scratch.path / ECHO))

    async def said(self) -> str:
        """What it has written to its standard error, at its end."""
        assert self._output
        return (await self._output)[0]

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = self._asked
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                is_http = asked is not None and asked.listener.mode == "http"
                self._request = await (reader.readuntil(_HEAD_END) if is_http else reader.read(1))
            writer.write(asked.reply if asked and is_http else b"")
            await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            logger.debug("the request to the server of a shadow: %s", error)
        finally:
            writer.close()

    async def close(self) -> None:
        await self._child.kill()
        if self._echo:
            self._echo.close()
        self._log.close()
        if self._output:
            self._output.cancel()
            await asyncio.wait([self._output])
        self._child.close()
        await asyncio.to_thread(self._scratch.remove)


async def start(document: Document, binary: str, home: Path, environ: Mapping[str, str] = os.environ, files: Files = NONE) -> ShadowProcess:
    """`files`: where those stand now that are to be looked for at these paths, None for those that are gone.

    Raises NoShadow where HAProxy does not start with it, and OSError where nothing temporary can be written.
    """
    isolated = await asyncio.to_thread(without_network)
    scratch = await asyncio.to_thread(Scratch, "shadow")
    try:
        command, alone = [*(isolated or ()), binary], isolated is not None
        process = await asyncio.to_thread(_begun, document, scratch, command, home, environ, files, alone=alone)
    except BaseException:
        scratch.remove()
        raise
    try:
        await process.serve()
        await _started(process, scratch.path)
    except BaseException:
        await process.close()
        raise
    return process


def _begun(
    document: Document, scratch: Scratch, command: list[str], home: Path, environ: Mapping[str, str], files: Files, *, alone: bool
) -> ShadowProcess:
    """`alone`: without a network."""
    shadow, directory = rewritten(document, scratch.path, home), None
    if files:
        shadow.text, directory = _with_files(document, scratch.path, home, files)
    if not alone:
        refuse_to_reach_out(shadow.text)
    path = scratch.path / "haproxy.cfg"
    path.write_bytes(shadow.text.encode("utf-8", "surrogateescape"))
    log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    log.bind(str(scratch.path / LOG))
    words = [*command, "-f", str(path), "-db", "-m", str(MEMORY)]
    child = Confinement(scratch.path, CPU_SECONDS).start(words, for_haproxy(environ, [document.data]), directory, program=command[-1])
    return ShadowProcess(shadow, scratch, child, log)


def _with_files(document: Document, scratch: Path, home: Path, files: Files) -> tuple[str, Path]:
    """The text of the shadow that looks for these files elsewhere, and where it is to be started."""
    tree, there = scratch / "set", {os.path.abspath(path): content for path, content in files.items()}
    contents = {path: content for path, content in there.items() if content}
    # Those that may be lists, which name others.
    lists = [path for path, content in contents.items() if content.stat().st_size <= LARGEST_LIST]
    given = WholeSet({}, contents, lists, [path for path, content in there.items() if content is None], Path.cwd())
    led = Document.parse(led_into(tree, given, document.text).encode("utf-8", "surrogateescape"))
    return rewritten(led, scratch, tree / "root" / str(home).lstrip("/")).text, home_in(tree, given)


async def _started(process: ShadowProcess, directory: Path) -> None:
    names = [each.socket for each in process.shadow.listeners]
    deadline = asyncio.get_running_loop().time() + START_SECONDS
    while not process.ended:
        if all((directory / each).exists() for each in names):
            return
        if asyncio.get_running_loop().time() > deadline:
            raise NoShadow("the shadow did not start in time")
        await asyncio.sleep(POLL_SECONDS)
    raise NoShadow(f"HAProxy does not start with it: {refusal(await process.said(), process.shadow)}")


def refusal(said: str, shadow: Shadow) -> str:
    """The first alert, at the line of the configuration that it is about."""
    alert = next((line for line in said.splitlines() if "[ALERT]" in line), said.strip()[-1000:])
    if not (match := _PARSING.search(alert)):
        return alert[:1000]
    place = shadow.places.get(int(match[1]))
    where = f"line {place.line}{f' of {place.file}' if place.file else ''} ({place.text[:200]}): " if place else ""
    return f"{where}{match[2].strip()}"[:1000]


def _proxy_line(asked: Asked) -> bytes:
    """(PROXY protocol, version 1)"""
    (source, source_port), (destination, port) = asked.source, asked.destination
    family = "TCP6" if ":" in source else "TCP4"
    return f"PROXY {family} {source} {destination} {source_port} {port}\r\n".encode()


def _context(asked: Asked) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if asked.alpn:
        context.set_alpn_protocols(asked.alpn.split(","))
    if asked.tls_version:
        context.minimum_version = context.maximum_version = ssl.TLSVersion[f"TLSv{asked.tls_version.replace('.', '_')}"]
    return context


async def _answer(reader: asyncio.StreamReader, *, is_http: bool) -> bytes:
    """A response as far as its headers and what came with them."""
    answer = b""
    while len(answer) < _LARGEST and not (is_http and _HEAD_END in answer):
        piece = await reader.read(65_536)
        if not piece:
            break
        answer += piece
    return answer


def _seen(line: str, request: bytes | None, response: bytes) -> Seen:
    _, frontend, backend, server, status, termination, session, stream, last, *variables = line.rstrip("\n").split("|")
    values = dict(each.split("=", 1) for each in variables if "=" in each)
    return Seen(
        frontend,
        backend,
        "" if server in ("<NOSRV>", "<STATS>") else server,
        int(status) if status.lstrip("-").isdigit() else -1,
        termination,
        identifiers(f"{session}.{stream}"),
        int(last) if last.isdigit() else 0,
        {name: unquote(value) for name, value in values.items() if value != "-"},
        request,
        response,
    )
