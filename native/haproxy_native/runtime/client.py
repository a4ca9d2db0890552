"""The client of one HAProxy's Runtime API: choose a socket, reconnect if it no longer answers, and raise an error for a refusal.

The client tries sockets in this order: the master's, because it survives reloads, even failed ones; Unix stats sockets in the order of the
file; TCP stats sockets. It uses one socket until that no longer answers, or until `refresh` is called after a reload.

A command that changes something is sent again through another socket only if the first one certainly did not deliver it. A request that
is too long for the master's socket is sent through a stats socket of the same worker.
"""

import asyncio
import logging
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from haproxy_native.errors import RuntimeAbsent, RuntimeRefused, RuntimeUnconfigured
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.capabilities import Capabilities, backend_keywords, server_keywords
from haproxy_native.runtime.master import Master
from haproxy_native.runtime.responses import DENIED, DENIED_TO_USERS, denial_error, refusal_error
from haproxy_native.runtime.server_state import ServerState, server_states
from haproxy_native.runtime.socket import READING, AnswerSink, DumpLock, Pulse, RequestTooLong, Socket, parse_address
from haproxy_native.threads import LARGE, run_in_thread_if

log = logging.getLogger(__name__)
NOT_CONFIGURED = "no master socket and no stats socket is configured"
NEVER_FOUND = "retry - unable to configure runtime client"
# With more commands than this it is faster to choose another socket, or to read one dump of everything instead of many dumps.
MANY = 50
_WHO = "show info float"
# Timeout, in seconds, for the first answer of a socket that is tried.
PATIENCE = 5.0
# Seconds to wait for the successor of a stopping worker, and between two polls for it.
SUCCESSION = 1.0
POLL = 0.02
# Clock 5 is CLOCK_REALTIME_COARSE, which Python does not name. The kernel stamps files with it, and it lags by up to one tick.
_TICK = time.clock_getres(5)
T = TypeVar("T")


@dataclass(frozen=True)
class Worker:
    """One generation of the worker process. Its pid alone does not identify it: in a container, each start may get the same pid."""

    pid: int
    # Unix time when it started, before it read its configuration; whole seconds up to HAProxy 2.6.
    started: float

    def may_have_started_after(self, moment: float) -> bool:
        """Return False only if the worker certainly started before `moment`, a Unix time."""
        return self.started >= (int(moment) if self.started.is_integer() else moment)

    def started_after(self, moment: float) -> bool:
        """Return True only if the worker certainly read its configuration after `moment`, the modification time of a file."""
        return self.started > moment + _TICK


class Runtime:
    """A client of the current worker. Call `connect` first.

    If no socket is in use, each call tries all addresses once, and raises RuntimeAbsent if none answers.
    """

    def __init__(self, *, timeout: float = 30.0) -> None:
        self._timeout = timeout
        self._socket: Socket | None = None
        self._was_found = False
        # Whether the last attempt to connect failed.
        self.is_known_absent = False
        self._dump_lock = DumpLock()
        self._pulse, self._master_pulse = Pulse(), Pulse()
        # Locked while a second version of a list is prepared: HAProxy discards it when another version is committed.
        self.versions = asyncio.Lock()
        # Locked during a change of TLS files: HAProxy has one transaction for all its clients, so two changes would mix.
        self.transaction = asyncio.Lock()
        self.capabilities = Capabilities()
        # How often no socket answered ("absent"), and how often HAProxy refused ("refused"). Polls during one absence count only once.
        self.failures: Counter[str] = Counter()
        self.use(None, ())

    def use(self, master: str | None, stats: Sequence[str]) -> None:
        """Set the addresses to choose from. If the address of the socket in use is among them, the socket stays in use."""
        self._master = master if master and _is_unix(master) else None
        self._stats = tuple(sorted(stats, key=lambda place: not _is_unix(place)))
        if self._socket and self._socket.address not in (self._master, *self._stats):
            self._socket = None

    async def connect(self, master: str | None, stats: Sequence[str], max_wait: float = 30.0, tick: float = 0.5) -> bool:
        """Connect to the first address that answers, and return whether one does.

        Each address is tried for up to `max_wait` seconds, every `tick` seconds.
        """

        self.use(master, stats)
        self._socket = None
        for socket in self.sockets():
            deadline = asyncio.get_running_loop().time() + max_wait
            while reason := await _why_silent(socket):
                if asyncio.get_running_loop().time() + tick > deadline:
                    log.warning("Runtime API: %s", reason)
                    break
                await asyncio.sleep(tick)
            else:
                await self._select(socket)
                return True
        return False

    @property
    def address(self) -> str:
        """The address of the socket in use. If no socket is in use, all addresses, separated by commas."""
        places = [place for place in (self._master, *self._stats) if place]
        return self._socket.address if self._socket else ", ".join(places) or NOT_CONFIGURED

    @property
    def place(self) -> str:
        """The address of the socket in use. If no socket is in use, the address that is tried first; empty if there is no address."""
        return self._socket.address if self._socket else self._master or next(iter(self._stats), "")

    @property
    def worker_place(self) -> str:
        """The worker's address as the API shows it: a master's socket is followed by `@1`."""
        return f"{self.place}@1" if self.place == self._master else self.place

    @property
    def is_configured(self) -> bool:
        return bool(self._master or self._stats)

    @property
    def is_silent(self) -> bool:
        """Whether the last requests to the worker were not answered, although the worker may be running."""
        return self._pulse.is_silent

    def last_opened(self) -> float:
        """Return the Unix time when HAProxy last created a socket file; 0 if there is no file. HAProxy may have exited since then."""
        opened = [0.0]
        for place in map(parse_address, filter(None, (self._master, *self._stats))):
            with suppress(OSError, ValueError):
                opened.append(Path(place.path).lstat().st_mtime if place and place.path else 0.0)
        return max(opened)

    @property
    def stats_places(self) -> Sequence[str]:
        """The addresses of the stats sockets, TCP addresses last."""
        return self._stats

    @property
    def configured_master(self) -> Master | None:
        """The master that the configuration names, whichever socket is in use."""
        return Master(self._master, timeout=self._timeout, pulse=self._master_pulse) if self._master else None

    @property
    def master(self) -> Master | None:
        """The master if its socket is in use; otherwise None."""
        in_use = self._socket and self._socket.address == self._master
        return self.configured_master if in_use else None

    async def send(self, command: str, payload: str | None = None) -> str:
        """Send a command, and return the worker's answer, which may be a refusal.

        Like all methods that send commands, raises RuntimeDenied if the socket's level is too low, and RuntimeRefused if this HAProxy does
        not have the command.
        """
        answer = await self._send_somewhere(lambda socket: socket.send(command, payload), [command])
        self._check_known(answer, command)
        return answer

    async def send_each(self, commands: Sequence[str]) -> list[str]:
        """Send many commands over few connections, and return their answers; each may be a refusal (`answers.refusal`).

        Before 3.2 a master opens a connection to its worker for every single command, so the worker's own socket is ten times as fast.
        """
        if len(commands) > MANY and self.master and not self.capabilities.relays and (socket := await self._find_stats_socket()):
            return await socket.send_each(commands)
        replies = await self._send_somewhere(lambda socket: socket.send_each(commands, relayed=self.capabilities.relays), commands)
        for command, reply in zip(commands, replies, strict=True):
            self._check_known(reply, command)
        return replies

    async def execute(self, command: str, payload: str | None = None) -> str:
        """Make a change, and return HAProxy's answer. Raises RuntimeRefused with HAProxy's message, RuntimeAbsent if no worker answers.

        A worker that is stopping refuses every change, so the command is sent again to its successor. Raises RuntimeAbsent if no successor
        answers within `SUCCESSION` seconds.
        """
        answer = await self.send(command, payload)
        if answers.refusal(answer) == answers.PROXY_STOPPED:
            # The worker is stopping, or the proxy is disabled. A refusal by a worker that is not stopping is final.
            deadline = asyncio.get_running_loop().time() + SUCCESSION
            while True:
                if asyncio.get_running_loop().time() >= deadline:
                    raise RuntimeAbsent(f"{self.address}: the worker is stopping, and no other worker answers")
                if serving := await self._serving_worker():
                    answer = await self.send(command, payload)
                    if answers.refusal(answer) != answers.PROXY_STOPPED or await self._serving_worker() == serving:
                        break
                await asyncio.sleep(POLL)
        if (refusal := answers.refusal(answer)) is not None:
            raise self._refused(refusal, command)
        return answer

    async def read_dump(self, command: str, head: str, sink: AnswerSink | None = None) -> str:
        """Send a command that dumps a list, and return the answer. Raises RuntimeRefused if it neither is empty nor matches `head`.

        `head`: a regular expression for the beginning of the answer.

        With a `sink`, which receives the dump piece by piece, only the beginning of the dump is returned.
        """
        answer = await self._send_once_more(lambda socket: socket.send(command, None, sink), [command])
        self._check_known(answer, command)
        if answer and not re.match(head, answer):
            raise self._refused(answers.first_words(answer), command)
        return answer

    async def worker(self) -> Worker:
        return _worker(answers.info(await self.send(_WHO)))

    async def worker_pid(self) -> int:
        return (await self.worker()).pid

    async def servers(self, backend: str = "") -> list[ServerState]:
        """Return the servers of a backend, or of all backends. Raises RuntimeRefused if the worker does not have the backend."""
        text = await self.read_dump(f"show servers state {argument(backend)}" if backend else "show servers state", r"1\n")
        return await run_in_thread_if(len(text) > LARGE, server_states, text)

    async def refresh(self) -> Capabilities:
        """Choose the socket again after a reload, and return the capabilities of the current worker."""
        await self._reconnect()
        return self.capabilities

    async def _send_somewhere(self, work: Callable[[Socket], Awaitable[T]], commands: Sequence[str]) -> T:
        """Call `_send_once_more`. If the request is too long for a master's socket, send the request through a stats socket."""
        try:
            return await self._send_once_more(work, commands)
        except RequestTooLong:
            if (socket := await self._find_stats_socket()) is None:
                raise
            return await work(socket)

    async def _send_once_more(self, work: Callable[[Socket], Awaitable[T]], commands: Sequence[str]) -> T:
        """Send through the socket in use. If the socket does not answer, send again through another, unless that may repeat a change."""
        asks_who = list(commands) == [_WHO]
        if self._socket is None:
            await self._reconnect(expected=asks_who)
        assert self._socket
        try:
            return await work(self._socket)
        except RuntimeAbsent as error:
            if isinstance(error.__cause__, TimeoutError) or (error.sent and not all(map(READING.match, commands))):
                raise
            await self._reconnect(expected=asks_who)
            return await work(self._socket)

    async def _serving_worker(self) -> Worker | None:
        """Return the worker that answers; None if it is stopping."""
        facts = answers.info(await self.send(_WHO))
        return None if facts.get("Stopping") == "1" else _worker(facts)

    def _refused(self, answer: str, command: str) -> RuntimeRefused:
        self.failures["refused"] += 1
        return refusal_error(answer, command)

    def _check_known(self, answer: str, command: str) -> None:
        """Raise RuntimeDenied if the level is too low, RuntimeRefused for a command that this HAProxy does not have."""
        if answer == DENIED or (answer == DENIED_TO_USERS and self.capabilities.level == "user"):
            self.failures["refused"] += 1
            raise denial_error(self.place, self.capabilities.level, command, of_master=self.place == self._master)
        if answer.startswith(answers.UNKNOWN):
            raise self._refused(answers.first_words(answer), command)

    async def _find_stats_socket(self) -> Socket | None:
        """Return a stats socket of the same worker and level, which accepts longer requests than the master's; None if there is none."""
        pid = await self.worker_pid()
        for place in self._stats:
            socket = Socket(place, timeout=self._timeout, dump_lock=self._dump_lock, pulse=self._pulse)
            with suppress(RuntimeAbsent):
                same = _worker(answers.info(await socket.send("show info"))).pid == pid
                if same and (await socket.send("show cli level")).strip() == self.capabilities.level:
                    return socket
        return None

    def sockets(self) -> Iterator[Socket]:
        """Yield a socket of the worker for each address, in the order in which they are tried."""
        if self._master:
            yield Socket(self._master, timeout=self._timeout, worker=True, dump_lock=self._dump_lock, pulse=self._pulse)
        for place in self._stats:
            yield Socket(place, timeout=self._timeout, dump_lock=self._dump_lock, pulse=self._pulse)

    async def _reconnect(self, *, expected: bool = False) -> None:
        """Select the first address that answers, without waiting. Raises RuntimeAbsent if none answers.

        `expected`: whether the caller polls for HAProxy, so that an absence that is known already is not counted again.
        """
        self._socket, reasons = None, []
        for socket in self.sockets():
            reason = await _why_silent(socket)
            if reason is None:
                return await self._select(socket)
            reasons.append(reason)
        if not (expected and self.is_known_absent):
            self.failures["absent"] += 1
        self.is_known_absent = True
        why = "; ".join(reasons) or NOT_CONFIGURED
        raise RuntimeAbsent(why) if self._was_found else RuntimeUnconfigured(f"{NEVER_FOUND}: {why}")

    async def _select(self, socket: Socket) -> None:
        """Use a socket for the next requests, and query the capabilities of its worker."""
        version = answers.version(answers.info(await socket.send("show info")).get("Version", ""))
        commands = answers.command_words(await socket.send("help"))
        keywords = server_keywords(await socket.send("add server help")) if "add server" in commands else None
        level = (await socket.send("show cli level")).strip()
        # HAProxy answers an unknown keyword with the usage, and creates nothing.
        words = backend_keywords(await socket.send("add backend usage from usage ?")) if "add backend" in commands else frozenset()
        self.capabilities = Capabilities(version, commands, level, keywords, words)
        self._socket, self._was_found, self.is_known_absent = socket, True, False


async def _why_silent(socket: Socket) -> str | None:
    """Query a socket. Return None if a worker answers; otherwise, why none does."""
    try:
        async with asyncio.timeout(PATIENCE):
            answer = await socket.send("show info")
    except RuntimeAbsent as error:
        return error.detail
    except TimeoutError:
        # A master that is starting may accept a connection and drop it.
        return f"{socket.address}: no answer within {PATIENCE:g} s"
    return None if "Pid" in answers.info(answer) else f"{socket.address}: not an answer of HAProxy: {answer[:80]!r}"


def _worker(facts: dict[str, str]) -> Worker:
    try:
        return Worker(int(facts["Pid"]), float(facts.get("Start_time_sec", 0)))
    except (KeyError, ValueError) as error:
        raise RuntimeAbsent("the worker does not report its pid") from error


def _is_unix(text: str) -> bool:
    place = parse_address(text)
    return place is not None and place.path is not None
