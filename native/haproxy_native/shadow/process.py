"""A shadow that runs: HAProxy on a rewritten text, the one server behind all its backends, and the log of what it has decided."""

import asyncio
import logging
import os
import re
import ssl
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote

from haproxy_native.beside import beside
from haproxy_native.check.environment import for_haproxy
from haproxy_native.errors import NoShadow, RuntimeAbsent, Unusable
from haproxy_native.runtime.socket import Socket
from haproxy_native.scratch import Scratch
from haproxy_native.shadow.files import NONE, Files, with_files
from haproxy_native.shadow.launch import Launched, launch
from haproxy_native.shadow.likeness import Conditions, Likeness
from haproxy_native.shadow.rewrite import CLI, OWN, Listener, Shadow, identifiers, rewritten
from haproxy_native.text.document import Document

logger = logging.getLogger(__name__)
Result = TypeVar("Result")
# What a request waits for the log where it may be answered silently.
SILENT_SECONDS = 0.25
START_SECONDS, ANSWER_SECONDS = 20.0, 10.0
POLL_SECONDS = 0.003
MEMORY_MIB = 512
_FILE = "haproxy.cfg"
_PARSING = re.compile(r"parsing \[.*?:(\d+)\]\s*:\s*(.*)")
_BEGIN = f"{OWN}|".encode()
_HEAD_END = b"\r\n\r\n"
_INTERIM = re.compile(rb"HTTP/1\.1 1\d\d ")
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
    """`start` makes one; `close` ends it. `is_spent`: it remembers something of a request, and answers no other one."""

    shadow: Shadow
    _scratch: Scratch
    _haproxy: Launched
    _serving: asyncio.Task[None] | None = None
    _asked: Asked | None = None
    _request: bytes | None = None
    is_spent: bool = False
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._likeness = Likeness(Socket(str(self._scratch.path / CLI), timeout=ANSWER_SECONDS))

    @property
    def ended(self) -> bool:
        return self._haproxy.ended

    async def ask(self, asked: Asked, servers: Conditions | None = None) -> Seen | None:
        """One request at a time; `servers` as they are to be found. None from one that is spent. Raises NoShadow, after which it is.

        It is asked to the end even if the caller is cancelled: what it says later would be taken for the answer to the next request.
        """
        task = asyncio.ensure_future(self._asked_alone(asked, servers or {}))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(task)

    async def _asked_alone(self, asked: Asked, servers: Conditions) -> Seen | None:
        async with self._lock:
            if self.is_spent:
                return None
            self._asked, self._request = asked, None
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    await self._likeness.of_servers(servers)
                    response = await self._sent(asked)
                    line = await self._logged(may_be_silent=bool(response and self._silent_lines(asked)))
                    is_new = not self.shadow.has_tables or await self._likeness.forget()
            except (TimeoutError, OSError, RuntimeAbsent) as error:
                self.is_spent = True
                raise NoShadow(f"the shadow gave no answer: {error or 'it took too long'}") from error
            seen = _seen(line, self._request, response) if line else self._silently(asked, response)
            self.is_spent = (
                not is_new or not line or any(self.shadow.rules[mark].is_lasting for mark in seen.marks if mark in self.shadow.rules)
            )
            return seen

    async def _logged(self, *, may_be_silent: bool) -> str:
        """Empty where nothing is logged."""
        try:
            async with asyncio.timeout(SILENT_SECONDS if may_be_silent else None):
                while not (line := await self._haproxy.logged()).startswith(_BEGIN):
                    pass
                return line.decode("utf-8", "replace")
        except TimeoutError:
            if not may_be_silent:
                raise
            return ""

    def _silent_lines(self, asked: Asked) -> list[int]:
        """The lines that may have the request answered without a word in the log."""
        _, _, target = asked.head.partition(b" ")
        return self.shadow.silent.get(target.partition(b" ")[0].decode("utf-8", "replace"), [])

    def _silently(self, asked: Asked, response: bytes) -> Seen:
        lines = self._silent_lines(asked)
        own = [number for number in lines if self.shadow.places[number].section == asked.listener.place.section]
        frontend, status = asked.listener.frontend, int(response.split(b" ", 2)[1])
        return Seen(frontend, frontend, "", status, "PR", [], [*own, *lines][0], {}, None, response)

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

    async def listens(self) -> None:
        """Waits until it takes commands, and so connections; listeners that it has not, as those in `.if` and of what is disabled, go.

        Raises ConnectionRefusedError and RuntimeAbsent where it has ended.
        """
        _, writer = await self._connection(str(self._scratch.path / CLI))
        writer.transport.abort()
        await self._likeness.socket.send("show cli level")
        self.shadow.listeners = [each for each in self.shadow.listeners if (self._scratch.path / each.socket).exists()]

    def serve(self) -> None:
        """Begins to answer as the servers."""
        self._serving = asyncio.create_task(self._serve())

    async def output(self) -> str:
        """What HAProxy has written, once it has ended."""
        return await self._haproxy.output()

    async def _serve(self) -> None:
        """One connection after the other, so that what it sends takes few descriptors of ours."""
        with suppress(ConnectionError):
            while True:
                try:
                    connection = await self._haproxy.connection()
                    await self._answer(*await asyncio.open_unix_connection(sock=connection))
                except ConnectionError:
                    raise
                except (OSError, ValueError) as error:
                    logger.debug("what a shadow has sent as a connection: %s", error)

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
        if self._serving:
            self._serving.cancel()
            await asyncio.wait([self._serving])
        await self._haproxy.end()
        await asyncio.to_thread(self._scratch.remove)


async def start(
    document: Document,
    binary: str,
    home: Path,
    in_force: Sequence[Path] = (),
    *,
    environ: Mapping[str, str] = os.environ,
    files: Files = NONE,
) -> ShadowProcess:
    """Start a shadow, which gets the variables that the files `in_force` name.

    `files`: where those stand now that are to be looked for at these paths, None for those that are gone.

    Raises NoShadow where HAProxy does not start with it, and Unusable where nothing temporary can be written.
    """
    making = asyncio.ensure_future(asyncio.to_thread(Scratch, "shadow"))
    try:
        scratch = await asyncio.shield(making)
    except asyncio.CancelledError:
        with suppress(Unusable):
            (await making).remove()
        raise
    try:
        shadow, directory = await _whole(beside(_written, document, scratch.path, home, files))
        command = [binary, "-f", str(scratch.path / _FILE), "-db", "-m", str(MEMORY_MIB)]
        environment = await beside(for_haproxy, environ, in_force)
        haproxy = await launch(command, environment, scratch.path, directory)
    except BaseException:
        scratch.remove()
        raise
    process = ShadowProcess(shadow, scratch, haproxy)
    try:
        process.serve()
        await _started(process, scratch.path)
    except BaseException:
        await process.close()
        raise
    return process


async def _whole(work: Awaitable[Result]) -> Result:
    """Return the result of work in a thread. If the caller is cancelled, it waits for the thread, which uses the directory until then."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _written(document: Document, scratch: Path, home: Path, files: Files) -> tuple[Shadow, Path | None]:
    """The shadow, and where it is to be started."""
    shadow, directory = rewritten(document, scratch, home), None
    if files:
        shadow.text, directory = with_files(document, scratch, home, files)
    (scratch / _FILE).write_bytes(shadow.text.encode("utf-8", "surrogateescape"))
    return shadow, directory


async def _started(process: ShadowProcess, directory: Path) -> None:
    deadline = asyncio.get_running_loop().time() + START_SECONDS
    while not process.ended:
        if (directory / CLI).exists():
            with suppress(ConnectionError, RuntimeAbsent):
                return await process.listens()
        if asyncio.get_running_loop().time() > deadline:
            raise NoShadow("the shadow did not start in time")
        await asyncio.sleep(POLL_SECONDS)
    raise NoShadow(f"HAProxy does not start with it: {refusal(await process.output(), process.shadow)}")


def refusal(output: str, shadow: Shadow) -> str:
    """The first alert, at the line of the configuration that it is about."""
    alert = next((line for line in output.splitlines() if "[ALERT]" in line), output.strip()[-1000:])
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
    """A response as far as its headers and what came with them; not those that precede it, as 103."""
    answer = b""
    while len(answer) < _LARGEST and not (is_http and _HEAD_END in answer):
        piece = await reader.read(65_536)
        if not piece:
            break
        answer += piece
        while is_http and _INTERIM.match(answer) and _HEAD_END in answer:
            answer = answer.partition(_HEAD_END)[2]
    return answer


def _seen(line: str, request: bytes | None, response: bytes) -> Seen:
    _, frontend, backend, server, status, termination, session, stream, last, *variables = line.rstrip("\n").split("|")
    values = dict(variable.split("=", 1) for variable in variables if "=" in variable)
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
