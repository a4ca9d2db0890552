"""Sends commands to a stats or master socket: one connection for each request, read to its end.

Requests of one socket run one after another: the master takes few connections, and certificate transactions are global.
A worker is reached through its master's socket as `@1`. An answer of a worker ends in an empty line, else it was cut short;
only 2.6 forgets it behind some refusals of a change, which are one line.
"""

import asyncio
import grp
import os
import pwd
import re
import stat
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar, cast

from haproxy_native.beside import beside_if
from haproxy_native.errors import BadRequest, RuntimeAbsent, RuntimeRefused

_TCP = re.compile(r"(?:ipv4@|ipv6@|tcp@|tcp4@|tcp6@)?(?:\[(?P<bracketed>[^\]]*)\]|(?P<host>.*)):(?P<port>\d+)")
# `stats socket` takes an address to listen on; this is where to connect to then.
_ANY = {"": "127.0.0.1", "*": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}


@dataclass(frozen=True)
class Address:
    """Where a Runtime API socket listens: either `path` (an abstract name begins with NUL) or `host` and `port`."""

    text: str
    path: str | None = None
    host: str = ""
    port: int = 0

    def __str__(self) -> str:
        return self.text


def parse_address(text: str) -> Address | None:
    """Return an address as the configuration and the settings write it (HAProxy Management Guide, section 9.3).

    A Unix path (bare or behind `unix@`), an abstract name behind `abns@`, or a TCP address. None if it cannot be connected to: an inherited
    descriptor, a variable that only HAProxy resolves.
    """
    kind, sign, rest = text.partition("@")
    if sign and kind == "abns":
        return Address(text, "\0" + rest)
    if sign and kind == "unix":
        return Address(text, rest)
    if "$" in text or (sign and kind in ("fd", "sockpair")):
        return None
    match = _TCP.fullmatch(text)
    if match and "/" not in text:
        host = match["bracketed"] if match["bracketed"] is not None else match["host"]
        return Address(text, host=_ANY.get(host, host), port=int(match["port"]))
    return None if sign else Address(text, text)


_DUMP = re.compile(r"show (?:servers|backend|errors)\b")
_DELETION = re.compile(r"del (?:server|backend)\b")
Result = TypeVar("Result")


class Gate:
    """A gate for all connections to one worker. Dumps pass together, a deletion alone; a waiting deletion is next.

    HAProxy up to 3.4 may crash when a server or a backend is deleted while a dump walks over them, and when a dump is cut short. Both are
    fixed in 3.5; whether an older patch release has the fixes cannot be asked.
    """

    def __init__(self) -> None:
        self._deletes = False
        self._dumps: set[asyncio.Task[Any]] = set()
        self._changed = asyncio.Event()

    async def passed(self, commands: Sequence[str], work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """The result of a request of these commands. A dump goes on to its end when the caller is cancelled or out of time."""
        if any(map(_DELETION.match, commands)):
            async with self._alone():
                return await work()
        if not any(map(_DUMP.match, commands)):
            return await work()
        await self._until(lambda: not self._deletes)
        task = asyncio.create_task(work())
        self._dumps.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        await self._until(lambda: not self._deletes)
        self._deletes = True
        try:
            await self._until(lambda: not self._dumps)
            yield
        finally:
            self._deletes = False
            self._changed.set()

    async def _until(self, is_free: Callable[[], bool]) -> None:
        while not is_free():
            self._changed.clear()
            await self._changed.wait()

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._dumps.discard(task)
        self._changed.set()
        # Looked at, whether or not the caller still waits.
        task.cancelled() or task.exception()


# What is kept of an answer that a sink takes in pieces: enough to recognise a refusal.
BEGINNING = 2000
# The whole answer of a master without such a process; it waits for the client to close the connection.
NO_PROCESS = re.compile(rb"Can't (?:find|connect to) the target (?:PID|CLI|process)", re.IGNORECASE)


class Sink(Protocol):
    """Takes an answer piece by piece while it comes; `start` for every attempt."""

    def start(self) -> None: ...

    def take(self, data: bytes) -> None: ...


class RuntimeExchange(asyncio.Protocol):
    """Sends one request and collects what comes back; `closed` is done when nothing more can come.

    Half-closed when the answer begins, since some masters (2.6, 3.0) else forget now and then to close after a long one. Not before: of
    a connection that is half-closed when it refuses a process, a master (2.8 to 3.4) forgets about every twentieth for good, and it takes
    only ten. With a sink only the beginning and the last two bytes of the answer are kept.
    """

    def __init__(self, request: bytes, *, half_close: bool, sink: Sink | None = None) -> None:
        self._request, self._half_close, self._taker = request, half_close, sink
        self.parts: list[bytes] = []
        self.error: Exception | None = None
        self.closed = asyncio.get_running_loop().create_future()
        if sink:
            sink.start()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are none of asyncio's.
        self._transport = cast(asyncio.WriteTransport, transport)
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        if self._half_close:
            self._half_close = False
            if NO_PROCESS.match(data):
                self.parts.append(data)
                return self._end(None)
            self._transport.write_eof()
        if self._taker is None:
            self.parts.append(data)
            return
        self.parts = [self.parts[0] if self.parts else data[:BEGINNING], (b"".join(self.parts[1:]) + data)[-2:]]
        try:
            self._taker.take(data)
        except Exception as error:  # noqa: BLE001 - raised to those who wait
            self._end(error)
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self.error = error
        self._end(None)

    def _end(self, error: Exception | None) -> None:
        if self.closed.done():
            return
        if error:
            self.closed.set_exception(error)
        else:
            self.closed.set_result(None)


_FORBIDDEN = re.compile(r"[\n\r\0]")
_SEMICOLON = re.compile(r"(?<!\\)(?:\\\\)*;")
_WORD = re.compile(r"(?:[^ \t\\]|\\.)+")
# One more ends the process in 2.6 and 2.8 (measured); later versions refuse it in these words.
MOST_WORDS = 64
# Commands that take a millisecond or more to be made.
MANY = 100
TOO_MANY_WORDS = f"Too many arguments. Commands must have at most {MOST_WORDS} arguments."
# What a request to a master may hold, in bytes; it takes what follows for the next request and carries it out (measured, 2.6 to 3.2).
MASTER_BYTES = 15_360
# What a worker takes at once where tune.bufsize has its default, about; beyond, 2.6 just closes.
WORKER_BYTES = 16_000
BATCH_BYTES = 8_000
# Before a message of a socket with `severity-output`, which dumps do not have.
_SEVERITY = re.compile(r"\[(?:[0-7]|emerg|alert|crit|err|warning|notice|info|debug)\]: ")
READING = re.compile(r"show |get |help\b")
# What no version, or 2.6 alone, ends with an empty line although it was asked to show something.
_WHOLE_ANYWAY = re.compile(r"The (?:command|payload)[a-z ]* is too big|wrong CA index after colons in .*!\n")


class RequestTooLong(RuntimeRefused):
    """Nothing was sent; a socket of the worker's own may take it."""


class Socket:
    """`worker`: a master's socket, through which the worker in service is spoken to, or with `pid` any of its processes, also one that
    has been replaced; `master`: the same, for the master itself. `gate` is that of the worker, which all sockets to it share.
    """

    def __init__(
        self,
        address: str,
        *,
        timeout: float = 30.0,
        worker: bool = False,
        master: bool = False,
        pid: int = 0,
        gate: Gate | None = None,
    ) -> None:
        self.address = address
        self.timeout = timeout
        self._prefix = f"@!{pid} " if pid else "@1 " if worker else ""
        self._is_masters, self._is_master = bool(self._prefix) or master, master
        self._gate = gate or Gate()
        self._one_at_a_time = asyncio.Lock()

    async def send(self, command: str, payload: str | None = None, sink: Sink | None = None) -> str:
        """The answer without its last line ends, or its beginning where a `sink` took it.

        A payload loses its empty lines, which would end it.

        Raises BadRequest for what is more than one command; unsent, RuntimeRefused for one of too many words and RequestTooLong;
        RuntimeAbsent with the reason, whose cause is a TimeoutError when there was no answer in time.
        """
        return _plain((await self._answer(self._request([command], payload), [command], sink)).strip("\n"))

    async def send_each(self, commands: Sequence[str], *, relayed: bool = False) -> list[str]:
        """One answer for each command, over few connections. For commands whose answers hold no empty line: not for servers, see above.

        `relayed`: a master connects to its worker once for all of a request (`@@1`, HAProxy 3.2), not for each command.
        """
        result: list[str] = []
        # All are made before the first is sent: nothing is sent when one of them cannot be.
        for some, request in await beside_if(len(commands) > MANY, self._requests, commands, relayed=relayed):
            answers = list(map(_plain, _divided(await self._answer(request, some))))
            if len(answers) != len(some):
                raise RuntimeAbsent(f"{self.address}: {len(answers)} answers to {len(some)} commands", sent=True)
            result += answers
        return result

    def _requests(self, commands: Sequence[str], *, relayed: bool) -> list[tuple[list[str], bytes]]:
        return [(some, self._request(some, None, relayed=relayed)) for some in self._batches(commands)]

    def _batches(self, commands: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        size = 0
        for command in commands:
            length = len(_encoded(self._prefix + command)) + 1
            if batch and size + length > BATCH_BYTES:
                yield batch
                batch, size = [], 0
            batch.append(command)
            size += length
        if batch:
            yield batch

    def _request(self, commands: Sequence[str], payload: str | None, *, relayed: bool = False) -> bytes:
        for command in commands:
            if _FORBIDDEN.search(command) or _SEMICOLON.search(command):
                raise BadRequest(f"a runtime command is one line, without a line break or a bare semicolon: {command!r}")
            if len(_WORD.findall(command)) > MOST_WORDS:
                raise RuntimeRefused(TOO_MANY_WORDS, command)
        once, text_line = (f"@{self._prefix}", "") if relayed and self._prefix else ("", self._prefix)
        line = once + ";".join(text_line + command for command in commands)
        # A master waits for the next command; only `quit` makes it close.
        end = "quit" if self._is_masters else ""
        if payload is None:
            request = _encoded(f"{line};{end}\n" if end else f"{line}\n")
        else:
            lines = "\n".join(text for text in payload.replace("\r\n", "\n").split("\n") if text)
            request = _encoded(f"{line} <<\n{lines}\n\n{end}\n" if end else f"{line} <<\n{lines}\n\n")
        if self._is_masters and len(request) > MASTER_BYTES:
            text = f"The command is too big: {len(request)} bytes, and a master socket takes {MASTER_BYTES} at once"
            raise RequestTooLong(f"{text}; a stats socket takes more.", _shortened(commands[0]))
        return request

    async def _answer(self, request: bytes, commands: Sequence[str], sink: Sink | None = None) -> str:
        command = commands[0]
        async with self._one_at_a_time:
            try:
                async with asyncio.timeout(self.timeout):
                    answer, error = await self._gate.passed(commands, partial(self._exchange, request, sink))
            except TimeoutError as late:
                raise RuntimeAbsent(f"{self.address}: no answer within {self.timeout:g} s", sent=True) from late
            except OSError as failed:
                raise RuntimeAbsent(f"{self.address}: {_reason(failed, self.address)}") from failed
        text = answer.decode("utf-8", "surrogateescape")
        if error and not text and len(request) > WORKER_BYTES:
            raise RuntimeRefused(
                f"HAProxy closed the connection on a command of {len(request)} bytes; see tune.bufsize", _shortened(command)
            )
        self._check_whole(text, command)
        return text

    async def _exchange(self, request: bytes, sink: Sink | None) -> tuple[bytes, Exception | None]:
        """Everything until the other side closes, and the error it closed with, if any."""
        transport, exchange = await self._connect(lambda: RuntimeExchange(request, half_close=not self._is_master, sink=sink))
        try:
            await exchange.closed
        finally:
            transport.abort()
        return b"".join(exchange.parts), exchange.error

    async def _connect(self, protocol: Callable[[], RuntimeExchange]) -> tuple[asyncio.Transport, RuntimeExchange]:
        place = parse_address(self.address)
        if place is None:
            raise RuntimeAbsent(f"{self.address}: no address to connect to")
        loop = asyncio.get_running_loop()
        if place.path is None:
            return await loop.create_connection(protocol, place.host, place.port)
        return await loop.create_unix_connection(protocol, place.path)

    def _check_whole(self, text: str, command: str) -> None:
        if self._is_master:
            return
        if not text:
            raise RuntimeAbsent(f"{self.address}: closed without an answer", sent=True)
        if self._prefix and NO_PROCESS.match(text.encode("utf-8", "surrogateescape")):
            raise RuntimeAbsent(f"{self.address}: {text.strip()}")
        one_line = text.endswith("\n") and text.count("\n") == 1
        whole = text == "\n" or text.endswith("\n\n") or (one_line and not READING.match(command)) or _WHOLE_ANYWAY.match(text)
        if not whole:
            raise RuntimeAbsent(f"{self.address}: the answer was cut short after {len(text)} characters", sent=True)


def _divided(text: str) -> Iterator[str]:
    """The answers to several commands, each of which ends in an empty line."""
    lines: list[str] = []
    for line in text.split("\n")[:-1]:
        if line:
            lines.append(line)
        else:
            yield "\n".join(lines)
            lines = []


def _plain(answer: str) -> str:
    begin = _SEVERITY.match(answer)
    return answer[begin.end() :] if begin else answer


def _shortened(command: str) -> str:
    return command if len(command) <= 200 else f"{command[:200]}..."


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _reason(error: OSError, address: str) -> str:
    place = parse_address(address)
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(error, PermissionError) and place and place.path:
        return _denied(place)
    return error.strerror or str(error)


def _denied(place: Address) -> str:
    """Who may connect, and who tried."""
    try:
        status = os.stat(place.path or "")
        owner = f"it belongs to {_name(status.st_uid, status.st_gid)}, mode {stat.S_IMODE(status.st_mode):04o}"
    except OSError:
        owner = "a directory above it is closed"
    return f"permission denied: {owner}; this process runs as {_name(os.geteuid(), os.getegid())}"


def _name(uid: int, gid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name}:{grp.getgrgid(gid).gr_name}"
    except KeyError:
        return f"{uid}:{gid}"
