"""Run a shadow: HAProxy on a rewritten text, the responder that answers for all its servers, and the log of its decisions.

A shadow answers one request at a time. Before a request, its servers are set to the states and weights that they have in the real HAProxy
(`RuntimeState`). Afterwards its stick tables are cleared. A shadow whose state still depends on the request is spent: it answers no further
request, and the caller starts another shadow.
(HAProxy Management Guide, section 9.3, "set server", "show table", "clear table")
"""

import asyncio
import logging
import os
import re
import ssl
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote

from haproxy_native.check.run import haproxy_environment
from haproxy_native.errors import NoShadow, RuntimeAbsent, Unusable
from haproxy_native.runtime import commands as runtime_commands
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.server_state import ServerState, server_states
from haproxy_native.runtime.socket import Socket
from haproxy_native.scratch import Scratch
from haproxy_native.shadow.files import NONE, Files, with_files
from haproxy_native.shadow.launch import Launched, launch
from haproxy_native.shadow.rewrite import CLI, OWN, FrontendListener, Shadow, identifiers, rewrite_document
from haproxy_native.text.document import Document
from haproxy_native.threads import LARGE, run_in_thread, run_in_thread_if

_USED = re.compile(r"^# table: (\S+), .*\bused:[1-9]", re.MULTILINE)
# The number of servers that take a millisecond or more to compare.
MANY = 1000
# (state, weight) by the names of backend and server.
Conditions = Mapping[tuple[str, str], tuple[str, int]]


def conditions(servers: Iterable[ServerState]) -> Conditions:
    """Return (state, weight) of each server. The state is `ready`, `drain` or `maint`.

    A server that is down counts as in maintenance, because a shadow has no health checks that could set its server down.
    """
    return {
        (server.backend_name, server.name): ("maint" if server.operational_state == "down" else server.admin_state, server.weight)
        for server in servers
    }


def commands(current: Conditions, target: Conditions) -> Iterator[str]:
    """Yield the runtime commands that bring servers from the conditions `current` to the conditions `target`."""
    for name, (state, weight) in target.items():
        has_state, has_weight = current.get(name, (state, weight))
        if state != has_state:
            yield runtime_commands.state(*name, state).text
        if weight != has_weight:
            yield runtime_commands.weight(*name, weight).text


@dataclass
class RuntimeState:
    """Sets the states of a shadow's servers, and clears its stick tables, through its runtime socket."""

    socket: Socket
    _declared: Conditions = field(default_factory=dict)
    _current: Conditions = field(default_factory=dict)

    async def set_servers(self, targets: Conditions) -> None:
        """Set all servers to their states in `targets`, or else to the states that the shadow's text declares. Raises RuntimeAbsent."""
        if not self._current:
            shown = await self.socket.send("show servers state")
            self._declared = self._current = await run_in_thread_if(len(shown) > LARGE, lambda: conditions(server_states(shown)))
        for command in await run_in_thread_if(len(self._declared) > MANY, self._commands_to, targets):
            await self.socket.send(command)

    def _commands_to(self, targets: Conditions) -> list[str]:
        former, self._current = self._current, {name: targets.get(name, state) for name, state in self._declared.items()}
        return list(commands(former, {**self._declared, **targets}))

    async def clear_tables(self) -> bool:
        """Clear the stick tables. Return whether all of them are empty: HAProxy keeps an entry that a stream uses. Raises RuntimeAbsent."""
        if not (tables := await self._filled()):
            return True
        for table in tables:
            await self.socket.send(f"clear table {argument(table)}")
        return not await self._filled()

    async def _filled(self) -> list[str]:
        return _USED.findall(await self.socket.send("show table"))


logger = logging.getLogger(__name__)
Result = TypeVar("Result")
# Seconds to wait for the log line of a request that HAProxy may answer without one.
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
class ClientRequest:
    """A request as a client sends it."""

    listener: FrontendListener
    # Start line and headers.
    head: bytes
    body: bytes = b""
    # Address and port.
    source: tuple[str, int] = ("192.0.2.1", 50_000)
    destination: tuple[str, int] = ("192.0.2.2", 80)
    # The server name that the client sends; None without TLS.
    tls: str | None = None
    alpn: str = ""
    # The only version that the client offers, such as 1.2; empty for all.
    tls_version: str = ""
    # The complete response that the server sends.
    reply: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@dataclass(frozen=True)
class RequestOutcome:
    """What HAProxy did with a request."""

    frontend: str
    backend: str
    server: str
    status: int
    termination: str
    # The identifiers of the marks that were left (rewrite.py), in the order of evaluation.
    marks: list[str]
    # The line number, in the shadow's text, of the last rule that HAProxy evaluated; 0 if the log has none.
    last_line: int
    variables: dict[str, str]
    # What the server received; None if nothing.
    request: bytes | None
    # What the client received; empty if the connection was closed.
    response: bytes


@dataclass
class ShadowProcess:
    """A running shadow. `start` creates it, and the caller has to call `close`."""

    shadow: Shadow
    _scratch: Scratch
    _haproxy: Launched
    _serving: asyncio.Task[None] | None = None
    _sent: ClientRequest | None = None
    _request: bytes | None = None
    # Whether its state depends on an earlier request, so that it answers no further one.
    is_spent: bool = False
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._state = RuntimeState(Socket(str(self._scratch.path / CLI), timeout=ANSWER_SECONDS))

    @property
    def ended(self) -> bool:
        return self._haproxy.ended

    async def send_request(self, sent: ClientRequest, servers: Conditions | None = None) -> RequestOutcome | None:
        """Set the servers to the states `servers`, send a request, and return its outcome. Waits until earlier requests are answered.

        Returns None if the shadow is spent. If HAProxy does not answer, raises NoShadow, and the shadow is spent. The request is completed
        even if the caller is cancelled, because its response could be mistaken for the response to the next request.
        """
        task = asyncio.ensure_future(self._send_request_alone(sent, servers or {}))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(task)

    async def _send_request_alone(self, sent: ClientRequest, servers: Conditions) -> RequestOutcome | None:
        async with self._lock:
            if self.is_spent:
                return None
            self._sent, self._request = sent, None
            # The numbers of the lines by which HAProxy may answer this URI without logging it.
            uri = sent.head.partition(b" ")[2].partition(b" ")[0].decode("utf-8", "replace")
            silent_lines = self.shadow.silent.get(uri, [])
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    await self._state.set_servers(servers)
                    response = await self._exchange(sent)
                    line = await self._read_log(may_be_silent=bool(response and silent_lines))
                    is_new = not self.shadow.has_tables or await self._state.clear_tables()
            except (TimeoutError, OSError, RuntimeAbsent) as error:
                self.is_spent = True
                raise NoShadow(f"the shadow did not answer: {error or 'it took too long'}") from error
            if line:
                outcome = _parse_log(line, self._request, response)
            else:
                own = [number for number in silent_lines if self.shadow.places[number].section == sent.listener.place.section]
                frontend, status = sent.listener.frontend, int(response.split(b" ", 2)[1])
                outcome = RequestOutcome(frontend, frontend, "", status, "PR", [], [*own, *silent_lines][0], {}, None, response)
            self.is_spent = (
                not is_new or not line or any(self.shadow.rules[mark].is_lasting for mark in outcome.marks if mark in self.shadow.rules)
            )
            return outcome

    async def _read_log(self, *, may_be_silent: bool) -> str:
        """Wait for the log line of the request and return it; empty if nothing was logged."""
        try:
            async with asyncio.timeout(SILENT_SECONDS if may_be_silent else None):
                while not (line := await self._haproxy.logged()).startswith(_BEGIN):
                    pass
                return line.decode("utf-8", "replace")
        except TimeoutError:
            if not may_be_silent:
                raise
            return ""

    async def _exchange(self, sent: ClientRequest) -> bytes:
        """Send a request to its listener and return the response; empty if HAProxy closes the connection."""
        reader, writer = await self._connection(str(self._scratch.path / sent.listener.socket))
        (source, source_port), (destination, port) = sent.source, sent.destination
        family = "TCP6" if ":" in source else "TCP4"
        try:
            # PROXY protocol, version 1.
            writer.write(f"PROXY {family} {source} {destination} {source_port} {port}\r\n".encode())
            if sent.tls is not None:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                if sent.alpn:
                    context.set_alpn_protocols(sent.alpn.split(","))
                if sent.tls_version:
                    context.minimum_version = context.maximum_version = ssl.TLSVersion[f"TLSv{sent.tls_version.replace('.', '_')}"]
                await writer.start_tls(context, server_hostname=sent.tls or None)
            writer.write(sent.head + sent.body)
            return await _answer(reader, is_http=sent.listener.mode == "http")
        except (ConnectionError, ssl.SSLError):
            return b""
        finally:
            writer.transport.abort()

    async def _connection(self, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        # HAProxy binds its sockets a moment before it listens on them.
        while True:
            try:
                return await asyncio.open_unix_connection(path)
            except ConnectionRefusedError:
                if self.ended:
                    raise
            await asyncio.sleep(POLL_SECONDS)

    async def wait_until_started(self) -> None:
        """Answer HAProxy's connections to its servers from now on, and wait until HAProxy accepts connections.

        Then remove the listeners for which HAProxy has opened no socket: they are disabled, or in an `.if` block that does not apply.
        Raises NoShadow if HAProxy ends or does not start in time.
        """
        self._serving = asyncio.create_task(self._serve())
        commands_socket = self._scratch.path / CLI
        deadline = asyncio.get_running_loop().time() + START_SECONDS
        while not self.ended:
            if commands_socket.exists():
                with suppress(ConnectionError, RuntimeAbsent):
                    _, writer = await self._connection(str(commands_socket))
                    writer.transport.abort()
                    await self._state.socket.send("show cli level")
                    self.shadow.listeners = [each for each in self.shadow.listeners if (self._scratch.path / each.socket).exists()]
                    return
            if asyncio.get_running_loop().time() > deadline:
                raise NoShadow("the shadow did not start in time")
            await asyncio.sleep(POLL_SECONDS)
        raise NoShadow(f"HAProxy does not start with it: {refusal(await self._haproxy.output(), self.shadow)}")

    async def _serve(self) -> None:
        """Answer HAProxy's connections to its servers, one at a time, so that a shadow uses few descriptors of this process."""
        with suppress(ConnectionError):
            while True:
                try:
                    connection = await self._haproxy.connection()
                    await self._answer(*await asyncio.open_unix_connection(sock=connection))
                except ConnectionError:
                    raise
                except (OSError, ValueError) as error:
                    logger.debug("serving a connection of a shadow failed: %s", error)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent = self._sent
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                is_http = sent is not None and sent.listener.mode == "http"
                self._request = await (reader.readuntil(_HEAD_END) if is_http else reader.read(1))
            writer.write(sent.reply if sent and is_http else b"")
            await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            logger.debug("reading the request of a shadow failed: %s", error)
        finally:
            writer.close()

    async def close(self) -> None:
        """End HAProxy and remove its files."""
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
    directory: Path | None = None,
) -> ShadowProcess:
    """Start a shadow, and return it when it accepts connections.

    The shadow gets the environment variables that the files `in_force` name. It reads `files` instead of the files at their paths
    (`with_files`). `home`: the directory of the main file. `directory`: HAProxy's working directory; None if it is unknown. Raises NoShadow
    if HAProxy does not start, OSError, and Unusable if no temporary file can be written.
    """
    making = asyncio.ensure_future(asyncio.to_thread(Scratch, "shadow"))
    try:
        scratch = await asyncio.shield(making)
    except asyncio.CancelledError:
        with suppress(Unusable):
            (await making).remove()
        raise
    try:
        shadow, directory = await _uncancelled(run_in_thread(_write_text, document, scratch.path, home, files, directory))
        command = [binary, "-f", str(scratch.path / _FILE), "-db", "-m", str(MEMORY_MIB)]
        environment = await run_in_thread(haproxy_environment, environ, in_force)
        haproxy = await launch(command, environment, scratch.path, directory)
    except BaseException:
        scratch.remove()
        raise
    process = ShadowProcess(shadow, scratch, haproxy)
    try:
        await process.wait_until_started()
    except BaseException:
        await process.close()
        raise
    return process


async def _uncancelled(work: Awaitable[Result]) -> Result:
    """Return the result of work in a thread. If the caller is cancelled, wait for the thread, which uses the scratch directory."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _write_text(document: Document, scratch: Path, home: Path, files: Files, directory: Path | None) -> tuple[Shadow, Path | None]:
    """Write the shadow's text. Return (shadow, its working directory). The directory is None for the working directory of this process."""
    shadow = rewrite_document(document, scratch, home)
    if files:
        shadow.text, directory = with_files(document, scratch, home, files, directory or Path.cwd())
    (scratch / _FILE).write_bytes(shadow.text.encode("utf-8", "surrogateescape"))
    return shadow, directory


def refusal(output: str, shadow: Shadow) -> str:
    """Return HAProxy's first alert, and the configuration line to which the alert refers; without an alert, the end of `output`."""
    alert = next((line for line in output.splitlines() if "[ALERT]" in line), output.strip()[-1000:])
    if not (match := _PARSING.search(alert)):
        return alert[:1000]
    source = shadow.places.get(int(match[1]))
    where = f"line {source.line}{f' of {source.file}' if source.file else ''} ({source.text[:200]}): " if source else ""
    return f"{where}{match[2].strip()}"[:1000]


async def _answer(reader: asyncio.StreamReader, *, is_http: bool) -> bytes:
    """Read an HTTP response up to the end of its headers, and skip interim responses such as 103. If `is_http` is False, read all data."""
    answer = b""
    while len(answer) < _LARGEST and not (is_http and _HEAD_END in answer):
        piece = await reader.read(65_536)
        if not piece:
            break
        answer += piece
        while is_http and _INTERIM.match(answer) and _HEAD_END in answer:
            answer = answer.partition(_HEAD_END)[2]
    return answer


def _parse_log(line: str, request: bytes | None, response: bytes) -> RequestOutcome:
    _, frontend, backend, server, status, termination, session, stream, last, *variables = line.rstrip("\n").split("|")
    values = dict(variable.split("=", 1) for variable in variables if "=" in variable)
    return RequestOutcome(
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
