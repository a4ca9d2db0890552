"""Send commands to a stats or master socket, and read the answers (HAProxy Management Guide, section 9.3).

Each request has its own connection, which is read until HAProxy closes it. Requests of one `Socket` run one after another, because a master
accepts few connections, and transactions of certificates are global.

A master's socket reaches the worker with the prefix `@1`, and any process with `@!<pid>`. The master reads the bytes after a request as
the next command, and closes the connection only on `quit`.

An answer of a worker ends in an empty line. If the line is missing, the answer is incomplete, and the outcome of a change is unknown. Only
2.6 omits the empty line after some refusals of a change, which have one line.
"""

import asyncio
import grp
import os
import pwd
import re
import stat
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar, cast

from haproxy_native.errors import BadRequest, RuntimeAbsent, RuntimeRefused
from haproxy_native.threads import run_in_thread_if

# Of a range of ports, HAProxy listens on all; the first is enough to connect to.
_TCP = re.compile(r"(?:(?:ip|ipv[46]|(?:mp)?tcp[46]?)@)?(?:\[(?P<bracketed>[^\]]*)\]|(?P<host>[^@]*)):(?P<port>\d+)(?:-\d+)?")
# HAProxy binds an `abns@` name with NULs up to the end of `sun_path`, and an `abnsz@` name as it is.
_SUN_PATH_BYTES = 108
# `stats socket` may name a wildcard address to listen on; these are the addresses to connect to.
_ANY = {"": "127.0.0.1", "*": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}


@dataclass(frozen=True)
class SocketAddress:
    """Where a Runtime API socket listens: either `path` (an abstract name begins with NUL) or `host` and `port`."""

    path: str | None = None
    host: str = ""
    port: int = 0


def parse_address(text: str) -> SocketAddress | None:
    """Parse an address of the configuration or the settings: a Unix path, an abstract name, or a TCP address, with or without its family.

    Returns None if a client cannot connect to it: an inherited descriptor, or a variable that only HAProxy resolves.
    """
    text = text.removeprefix("stream+")
    kind, sign, rest = text.partition("@")
    if "$" in text or (sign and kind in ("fd", "sockpair")):
        return None
    if sign and kind in ("abns", "abnsz"):
        name = "\0" + rest
        # Its length in bytes, as the kernel sees it.
        return SocketAddress(name + "\0" * (_SUN_PATH_BYTES - len(_encoded(name))) if kind == "abns" else name)
    if sign and kind in ("unix", "uxst"):
        return SocketAddress(rest)
    match = _TCP.fullmatch(text)
    if match and "/" not in text:
        host = match["bracketed"] if match["bracketed"] is not None else match["host"]
        return SocketAddress(host=_ANY.get(host, host), port=int(match["port"]))
    return None if sign else SocketAddress(text)


_DUMP = re.compile(r"show (?:servers|backend|errors)\b")
_DELETION = re.compile(r"del (?:server|backend)\b")
Result = TypeVar("Result")


class DumpLock:
    """A readers-writer lock for all connections to one worker.

    Dumps run together, a deletion runs alone, and new dumps wait for a waiting deletion. HAProxy up to 3.4 may crash when a server or a
    backend is deleted during a dump, and when a dump is cut short. Both bugs are fixed in 3.5; HAProxy does not report whether an older
    patch release has the fixes.

    """

    def __init__(self) -> None:
        self._is_deleting = False
        self._dumps: set[asyncio.Task[Any]] = set()
        self._changed = asyncio.Event()

    async def run(self, commands: Sequence[str], work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Acquire the lock that `commands` need, and return the result of `work`, which sends them.

        A dump runs to its end even if the caller is cancelled.
        """
        is_deletion = any(map(_DELETION.match, commands))
        if not is_deletion and not any(map(_DUMP.match, commands)):
            return await work()
        await self._wait_until(lambda: not self._is_deleting)
        if is_deletion:
            self._is_deleting = True
            try:
                await self._wait_until(lambda: not self._dumps)
                return await work()
            finally:
                self._is_deleting = False
                self._changed.set()

        def end_dump(task: asyncio.Task[Any]) -> None:
            self._dumps.discard(task)
            self._changed.set()
            # The caller may have been cancelled, and asyncio warns of an exception that nobody retrieves.
            task.cancelled() or task.exception()

        task = asyncio.create_task(work())
        self._dumps.add(task)
        task.add_done_callback(end_dump)
        return await asyncio.shield(task)

    async def _wait_until(self, is_free: Callable[[], bool]) -> None:
        while not is_free():
            self._changed.clear()
            await self._changed.wait()


# How long to wait, in seconds, for a process that has been silent for a whole timeout.
SILENT_SECONDS = 0.5


class Pulse:
    """Records how long requests have waited for a process in vain since its last answer, over all connections to it.

    Only the first requests wait for the whole timeout. A process that is stopped, or that hangs, would otherwise delay a change by one
    timeout for each of its commands. Time without a request does not count: a client may cancel a request and send none for an hour.
    """

    def __init__(self) -> None:
        # Event loop times of the last answer and of the last request that ended without one.
        self._last_answer = self._last_miss = 0.0
        # In seconds. Requests that wait at the same time count once.
        self._silence = 0.0

    @property
    def is_silent(self) -> bool:
        """Return whether requests have waited for at least SILENT_SECONDS since the last answer."""
        return self._silence >= SILENT_SECONDS

    def patience(self, timeout: float) -> float:
        """Return how many seconds to wait for the answer to a request: the rest of the timeout, but at least SILENT_SECONDS."""
        return max(min(SILENT_SECONDS, timeout), timeout - self._silence)

    def missed(self, sent: float) -> None:
        """Record that a request ends without an answer, or was cancelled. `sent`: the event loop time when the request was sent."""
        now = asyncio.get_running_loop().time()
        if sent >= self._last_answer:
            self._silence = max(now - sent, self._silence + now - max(sent, self._last_miss))
            self._last_miss = now

    def answered(self) -> None:
        """Record that the process has answered a request, or refused a connection."""
        self._silence, self._last_answer = 0.0, asyncio.get_running_loop().time()


# How many bytes of an answer to store if a sink receives it: enough to recognize a refusal.
BEGINNING = 2000
# The whole answer of a master that does not have the addressed process. It then waits for the client to close the connection.
NO_PROCESS = re.compile(rb"Can't (?:find|connect to) the target (?:PID|CLI|process)", re.IGNORECASE)


class AnswerSink(Protocol):
    """Receives an answer piece by piece while it arrives. `start` is called before every attempt."""

    def start(self) -> None: ...

    def take(self, data: bytes) -> None: ...


class RuntimeExchange(asyncio.Protocol):
    """One request and its answer. The future `closed` is done when nothing more can arrive.

    The client half-closes the connection when the answer begins, because some masters (2.6, 3.0) sometimes leave it open after a long
    answer. It must not do so earlier: a master (2.8 to 3.4) that does not have the addressed process leaks one in twenty connections that
    are already half-closed, and it accepts only ten. With a sink only the beginning and the last two bytes of the answer are stored.
    """

    def __init__(self, request: bytes, *, half_close: bool, sink: AnswerSink | None = None) -> None:
        self._request, self._half_close, self._sink = request, half_close, sink
        self.parts: list[bytes] = []
        self.error: Exception | None = None
        self.closed = asyncio.get_running_loop().create_future()
        if sink:
            sink.start()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports do not derive from asyncio's.
        self._transport = cast(asyncio.WriteTransport, transport)
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        if self._half_close:
            self._half_close = False
            if NO_PROCESS.match(data):
                self.parts.append(data)
                return self._end(None)
            self._transport.write_eof()
        if self._sink is None:
            self.parts.append(data)
            return
        self.parts = [self.parts[0] if self.parts else data[:BEGINNING], (b"".join(self.parts[1:]) + data)[-2:]]
        try:
            self._sink.take(data)
        except Exception as error:  # noqa: BLE001 - raised by `closed`
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
# One word more terminates HAProxy 2.6 and 2.8 (measured); later versions refuse it with the text TOO_MANY_WORDS.
MOST_WORDS = 64
# Encoding this many commands takes a millisecond or more.
MANY = 100
TOO_MANY_WORDS = f"Too many arguments. Commands must have at most {MOST_WORDS} arguments."
# The longest request to a master, in bytes; it executes further bytes as the next request (measured, 2.6 to 3.2).
MASTER_BYTES = 15_360
# About the longest request, in bytes, that a worker accepts with the default of tune.bufsize; 2.6 closes the connection on a longer one.
WORKER_BYTES = 16_000
BATCH_BYTES = 8_000
# The prefix of a message, not of a dump, on a socket with `severity-output`.
_SEVERITY = re.compile(r"\[(?:[0-7]|emerg|alert|crit|err|warning|notice|info|debug)\]: ")
READING = re.compile(r"show |get |help\b")
# Complete answers to `show` without an empty line at their end, in all versions or in 2.6 alone.
_COMPLETE_ANYWAY = re.compile(r"The (?:command|payload)[a-z ]* is too big|wrong CA index after colons in .*!\n")


class RequestTooLong(RuntimeRefused):
    """Raised if a request is too long for a master's socket. It was not sent; the worker's own socket may accept it."""


class Socket:
    """An address that commands are sent to.

    A master's socket reaches the master itself (`master`), the worker in service (`worker`), or a process by its `pid`, which may be a
    worker that has been replaced. All sockets of one worker share its `dump_lock` and its `pulse`.
    """

    def __init__(
        self,
        address: str,
        *,
        timeout: float = 30.0,
        worker: bool = False,
        master: bool = False,
        pid: int = 0,
        dump_lock: DumpLock | None = None,
        pulse: Pulse | None = None,
    ) -> None:
        self.address = address
        self.timeout = timeout
        self._prefix = f"@!{pid} " if pid else "@1 " if worker else ""
        self._is_at_master, self._is_master = bool(self._prefix) or master, master
        self._dump_lock, self._pulse = dump_lock or DumpLock(), pulse or Pulse()
        self._one_at_a_time = asyncio.Lock()

    async def send(self, command: str, payload: str | None = None, sink: AnswerSink | None = None) -> str:
        """Send one command, and return its answer without trailing line feeds. With a `sink`, return only the beginning of the answer.

        Empty lines of a payload are removed, because an empty line ends a payload.

        Before anything is sent, raises BadRequest for more than one command, RuntimeRefused for too many words, and RequestTooLong. Raises
        RuntimeAbsent if there is no answer; after a timeout its cause is a TimeoutError.
        """
        return _without_severity((await self._answer(self._request([command], payload), [command], sink)).strip("\n"))

    async def send_each(self, commands: Sequence[str], *, relayed: bool = False) -> list[str]:
        """Send many commands over few connections, and return one answer for each. No answer may contain an empty line.

        With `relayed` a master connects to its worker once for all commands of a request (`@@1`, HAProxy 3.2), not once for each command.
        """
        result: list[str] = []
        # All commands are encoded before the first is sent: if one is invalid, nothing is sent.
        for batch, request in await run_in_thread_if(len(commands) > MANY, self._requests, commands, relayed=relayed):
            answers = [_without_severity(answer) for answer in _split_answers(await self._answer(request, batch))]
            if len(answers) != len(batch):
                raise RuntimeAbsent(f"{self.address}: {len(answers)} answers to {len(batch)} commands", sent=True)
            result += answers
        return result

    def _requests(self, commands: Sequence[str], *, relayed: bool) -> list[tuple[list[str], bytes]]:
        """Divide commands into batches of about BATCH_BYTES. Return each batch with its request. Raises like `_request`."""
        batches: list[list[str]] = []
        size = 0
        for command in commands:
            length = len(_encoded(self._prefix + command)) + 1
            if not batches or size + length > BATCH_BYTES:
                batches.append([])
                size = 0
            batches[-1].append(command)
            size += length
        return [(batch, self._request(batch, None, relayed=relayed)) for batch in batches]

    def _request(self, commands: Sequence[str], payload: str | None, *, relayed: bool = False) -> bytes:
        for command in commands:
            if _FORBIDDEN.search(command) or _SEMICOLON.search(command):
                raise BadRequest(f"a runtime command is one line, without a line break or a bare semicolon: {command!r}")
            if len(_WORD.findall(command)) > MOST_WORDS:
                raise RuntimeRefused(TOO_MANY_WORDS, command)
        first, each = (f"@{self._prefix}", "") if relayed and self._prefix else ("", self._prefix)
        line = first + ";".join(each + command for command in commands)
        end = "quit" if self._is_at_master else ""
        if payload is None:
            request = _encoded(f"{line};{end}\n" if end else f"{line}\n")
        else:
            lines = "\n".join(text for text in payload.replace("\r\n", "\n").split("\n") if text)
            request = _encoded(f"{line} <<\n{lines}\n\n{end}\n" if end else f"{line} <<\n{lines}\n\n")
        if self._is_at_master and len(request) > MASTER_BYTES:
            text = f"The command is too big: {len(request)} bytes, and a master socket takes {MASTER_BYTES} at once"
            raise RequestTooLong(f"{text}; a stats socket takes more.", _shortened(commands[0]))
        return request

    async def _answer(self, request: bytes, commands: Sequence[str], sink: AnswerSink | None = None) -> str:
        async with self._one_at_a_time:
            sent, patience = asyncio.get_running_loop().time(), self._pulse.patience(self.timeout)
            try:
                async with asyncio.timeout(patience):
                    answer, error = await self._dump_lock.run(commands, partial(self._exchange, request, sink))
            except asyncio.CancelledError:
                self._pulse.missed(sent)
                raise
            except TimeoutError as late:
                self._pulse.missed(sent)
                raise RuntimeAbsent(f"{self.address}: no answer within {patience:.3g} s", sent=True) from late
            except BlockingIOError as full:
                self._pulse.missed(sent)
                raise RuntimeAbsent(f"{self.address}: no answer, and too many connections wait for one") from full
            except OSError as failed:
                self._pulse.answered()
                raise RuntimeAbsent(f"{self.address}: {_why_unreachable(failed, self.address)}") from failed
        self._pulse.answered()
        text = answer.decode("utf-8", "surrogateescape")
        if error and not text and len(request) > WORKER_BYTES:
            raise RuntimeRefused(
                f"HAProxy closed the connection on a command of {len(request)} bytes; see tune.bufsize", _shortened(commands[0])
            )
        self._check_complete(text, commands[0])
        return text

    async def _exchange(self, request: bytes, sink: AnswerSink | None) -> tuple[bytes, Exception | None]:
        """Send a request. Return all bytes of the answer, and the error that ended the connection, or None."""
        place = parse_address(self.address)
        if place is None:
            raise RuntimeAbsent(f"{self.address}: no address to connect to")
        protocol = partial(RuntimeExchange, request, half_close=not self._is_master, sink=sink)
        loop = asyncio.get_running_loop()
        transport: asyncio.Transport
        if place.path is None:
            transport, exchange = await loop.create_connection(protocol, place.host, place.port)
        else:
            transport, exchange = await loop.create_unix_connection(protocol, place.path)
        try:
            await exchange.closed
        finally:
            transport.abort()
        return b"".join(exchange.parts), exchange.error

    def _check_complete(self, text: str, command: str) -> None:
        if self._is_master:
            return
        if not text:
            raise RuntimeAbsent(f"{self.address}: closed without an answer", sent=True)
        if self._prefix and NO_PROCESS.match(text.encode("utf-8", "surrogateescape")):
            raise RuntimeAbsent(f"{self.address}: {text.strip()}")
        one_line = text.endswith("\n") and text.count("\n") == 1
        is_refusal = one_line and not READING.match(command)
        if not (text == "\n" or text.endswith("\n\n") or is_refusal or _COMPLETE_ANYWAY.match(text)):
            raise RuntimeAbsent(f"{self.address}: the answer was cut short after {len(text)} characters", sent=True)


def _split_answers(text: str) -> Iterator[str]:
    """Yield the answers to several commands, each of which ends in an empty line."""
    lines: list[str] = []
    for line in text.split("\n")[:-1]:
        if line:
            lines.append(line)
        else:
            yield "\n".join(lines)
            lines = []


def _without_severity(answer: str) -> str:
    prefix = _SEVERITY.match(answer)
    return answer[prefix.end() :] if prefix else answer


def _shortened(command: str) -> str:
    return command if len(command) <= 200 else f"{command[:200]}..."


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _why_unreachable(error: OSError, address: str) -> str:
    place = parse_address(address)
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(error, PermissionError) and place and place.path:
        try:
            status = os.stat(place.path)
            owner = f"it belongs to {_user_and_group(status.st_uid, status.st_gid)}, mode {stat.S_IMODE(status.st_mode):04o}"
        except OSError:
            owner = "a directory above it is not accessible"
        return f"permission denied: {owner}; this process runs as {_user_and_group(os.geteuid(), os.getegid())}"
    return error.strerror or str(error)


def _user_and_group(uid: int, gid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name}:{grp.getgrgid(gid).gr_name}"
    except KeyError:
        return f"{uid}:{gid}"
