"""The Runtime API of one HAProxy: chooses a socket, reconnects when it is gone, and turns refusals into errors.

Sockets are tried in this order: the master's, since it survives reloads and failed ones; the stats sockets in the order of the file; those
of TCP last. The socket in use stays so until it no longer answers, or until `refresh` after a reload.

A command that changes something is sent again through another socket only if the first one certainly did not deliver it. What HAProxy
cannot be asked through the socket in use, such as a request too long for a master, goes through a stats socket of the same worker.
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

from haproxy_native.beside import LARGE, beside_if
from haproxy_native.errors import RuntimeAbsent, RuntimeRefused, RuntimeUnconfigured
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.capabilities import Capabilities, backend_keywords, server_keywords
from haproxy_native.runtime.master import Master
from haproxy_native.runtime.responses import DENIED, DENIED_TO_USERS, denied, refused
from haproxy_native.runtime.server_state import ServerState, server_states
from haproxy_native.runtime.socket import READING, AnswerSink, DumpLock, RequestTooLong, Socket, parse_address

log = logging.getLogger(__name__)
NOT_CONFIGURED = "no master socket and no stats socket is configured"
NEVER_FOUND = "retry - unable to configure runtime client"
# From so many commands on another socket is worth looking for, or one dump instead of many.
MANY = 50
_WHO = "show info float"
# Seconds that a socket has to say whose it is when it is tried.
PATIENCE = 5.0
# Seconds that another worker has to replace one that is stopping, and between two polls for it.
SUCCESSION = 1.0
POLL = 0.02
# CLOCK_REALTIME_COARSE, the kernel's clock for files, which Python does not name; it lags behind by up to a tick.
_TICK = time.clock_getres(5)
T = TypeVar("T")


@dataclass(frozen=True)
class Worker:
    """One generation of the worker process. Its pid alone does not identify it: in a container every start may give the same one."""

    pid: int
    # Unix time when it began, before it read its configuration; whole seconds up to HAProxy 2.6.
    started: float

    def may_have_started_after(self, moment: float) -> bool:
        """Return False only if it certainly started before."""
        return self.started >= (int(moment) if self.started.is_integer() else moment)

    def started_after(self, moment: float) -> bool:
        """Return True only if it certainly read its configuration after that moment, at which a file was written."""
        return self.started > moment + _TICK


class Runtime:
    """A client of the worker in service. Call `connect` first.

    Without a socket every call tries once to find one, and then raises RuntimeAbsent.
    """

    def __init__(self, *, timeout: float = 30.0) -> None:
        self._timeout = timeout
        self._socket: Socket | None = None
        self._was_found = False
        # Whether the last attempt to connect failed.
        self.is_known_absent = False
        self._dump_lock = DumpLock()
        # Locked while a second version of a list is prepared: HAProxy forgets it when another one is committed.
        self.versions = asyncio.Lock()
        # Locked during a change of TLS files: HAProxy has one transaction for all its clients, so two changes would mix.
        self.transaction = asyncio.Lock()
        self.capabilities = Capabilities()
        # How often no socket answered ("absent") and how often HAProxy refused ("refused"). A watcher that polls for the worker counts
        # an absence once.
        self.failures: Counter[str] = Counter()
        self.use(None, ())

    def use(self, master: str | None, stats: Sequence[str]) -> None:
        """Set the addresses to choose from. The socket in use stays so if it is among them."""
        self._master = master if master and _is_unix(master) else None
        self._stats = tuple(sorted(stats, key=lambda place: not _is_unix(place)))
        if self._socket and self._socket.address not in (self._master, *self._stats):
            self._socket = None

    async def connect(self, master: str | None, stats: Sequence[str], max_wait: float = 30.0, tick: float = 0.5) -> bool:
        """Wait up to `max_wait` seconds for each address in turn, and return whether one answers."""
        self.use(master, stats)
        self._socket = None
        for socket in self.sockets():
            deadline = asyncio.get_running_loop().time() + max_wait
            while reason := await _silence(socket):
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
        """The address of the socket in use; without one, all addresses that are tried."""
        places = [place for place in (self._master, *self._stats) if place]
        return self._socket.address if self._socket else ", ".join(places) or NOT_CONFIGURED

    @property
    def place(self) -> str:
        """The address of the socket in use; without one, the first that is tried."""
        return self._socket.address if self._socket else self._master or next(iter(self._stats), "")

    @property
    def worker_place(self) -> str:
        """The worker's address as the API shows it, with `@1` behind a master's socket."""
        return f"{self.place}@1" if self.place == self._master else self.place

    @property
    def is_configured(self) -> bool:
        return bool(self._master or self._stats)

    def last_opened(self) -> float:
        """Return the Unix time when HAProxy last opened one of its sockets, whether or not it still runs; 0 without a socket."""
        opened = [0.0]
        for place in map(parse_address, filter(None, (self._master, *self._stats))):
            with suppress(OSError, ValueError):
                opened.append(Path(place.path).lstat().st_mtime if place and place.path else 0.0)
        return max(opened)

    @property
    def stats_places(self) -> Sequence[str]:
        """The addresses of stats sockets, those of TCP last."""
        return self._stats

    @property
    def configured_master(self) -> Master | None:
        """The master that the configuration names, whichever socket is in use."""
        return Master(self._master, timeout=self._timeout) if self._master else None

    @property
    def master(self) -> Master | None:
        """The master, if its socket is the one in use."""
        in_use = self._socket and self._socket.address == self._master
        return Master(self._master, timeout=self._timeout) if self._master and in_use else None

    async def send(self, command: str, payload: str | None = None) -> str:
        """Return the worker's answer, which may be a refusal.

        Raises RuntimeDenied if the socket's level is too low, and RuntimeRefused for a command that this HAProxy does not have, as all
        methods that send commands do.
        """
        answer = await self._send_somewhere(lambda socket: socket.send(command, payload), [command])
        self._check_known(answer, command)
        return answer

    async def send_each(self, commands: Sequence[str]) -> list[str]:
        """Send many commands over few connections, and return their answers; each may be a refusal (`answers.refusal`).

        Before 3.2 a master opens a connection to its worker for every single command, so a socket of the worker's own is ten times as fast.
        """
        if len(commands) > MANY and self.master and not self.capabilities.relays and (socket := await self._larger()):
            return await socket.send_each(commands)
        replies = await self._send_somewhere(lambda socket: socket.send_each(commands, relayed=self.capabilities.relays), commands)
        for command, reply in zip(commands, replies, strict=True):
            self._check_known(reply, command)
        return replies

    async def execute(self, command: str, payload: str | None = None) -> str:
        """Make a change, and return HAProxy's answer. Raises RuntimeRefused with HAProxy's words, RuntimeAbsent if no worker serves.

        A worker that is stopping refuses every change, so the command is sent again to its successor.
        """
        answer = await self.send(command, payload)
        if answers.refusal(answer) == answers.PROXY_STOPPED:
            answer = await self._send_to_successor(command, payload)
        if (refusal := answers.refusal(answer)) is not None:
            raise self._refused(refusal, command)
        return answer

    async def read_dump(self, command: str, head: str, sink: AnswerSink | None = None) -> str:
        """Return a dump; one that is not empty begins with the regular expression `head`. Raises RuntimeRefused with any other answer.

        With a `sink`, which receives the dump as it arrives, only its beginning is returned.
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
        """Return the servers of a backend, or all. Raises RuntimeRefused if the worker does not have the backend."""
        text = await self.read_dump(f"show servers state {argument(backend)}" if backend else "show servers state", r"1\n")
        return await beside_if(len(text) > LARGE, server_states, text)

    async def refresh(self) -> Capabilities:
        """Choose the socket again after a reload, and return what the worker in service can do."""
        await self._reconnect()
        return self.capabilities

    async def _send_somewhere(self, work: Callable[[Socket], Awaitable[T]], commands: Sequence[str]) -> T:
        """Send as `_send_once_more`, or through a socket that takes longer requests than the one in use."""
        try:
            return await self._send_once_more(work, commands)
        except RequestTooLong:
            if (socket := await self._larger()) is None:
                raise
            return await work(socket)

    async def _send_once_more(self, work: Callable[[Socket], Awaitable[T]], commands: Sequence[str]) -> T:
        """Send through the socket in use. If it does not answer, send once more through another, unless that may repeat a change."""
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

    async def _send_to_successor(self, command: str, payload: str | None) -> str:
        """Send a command that a worker has refused because it is stopping, or because the proxy is disabled, to one that is not stopping.

        Raises RuntimeAbsent after `SUCCESSION` seconds.
        """
        deadline = asyncio.get_running_loop().time() + SUCCESSION
        while asyncio.get_running_loop().time() < deadline:
            serving = await self._serving_worker()
            if serving:
                answer = await self.send(command, payload)
                if answers.refusal(answer) != answers.PROXY_STOPPED or await self._serving_worker() == serving:
                    return answer
            await asyncio.sleep(POLL)
        raise RuntimeAbsent(f"{self.address}: the worker that answers is stopping, and no other serves")

    async def _serving_worker(self) -> Worker | None:
        """Return the worker that answers; None while it is stopping."""
        facts = answers.info(await self.send(_WHO))
        return None if facts.get("Stopping") == "1" else _worker(facts)

    def _refused(self, answer: str, command: str) -> RuntimeRefused:
        self.failures["refused"] += 1
        return refused(answer, command)

    def _check_known(self, answer: str, command: str) -> None:
        """Raise RuntimeDenied if the level is too low, RuntimeRefused for a command that this HAProxy does not have."""
        if answer == DENIED or (answer == DENIED_TO_USERS and self.capabilities.level == "user"):
            self.failures["refused"] += 1
            raise denied(self.place, self.capabilities.level, command, of_master=self.place == self._master)
        if answer.startswith(answers.UNKNOWN):
            raise self._refused(answers.first_words(answer), command)

    async def _larger(self) -> Socket | None:
        """Return a socket of the worker's own with the same level, which takes longer requests than the master's."""
        pid = await self.worker_pid()
        for place in self._stats:
            socket = Socket(place, timeout=self._timeout, dump_lock=self._dump_lock)
            with suppress(RuntimeAbsent):
                same = _worker(answers.info(await socket.send("show info"))).pid == pid
                if same and (await socket.send("show cli level")).strip() == self.capabilities.level:
                    return socket
        return None

    def sockets(self) -> Iterator[Socket]:
        """Yield a socket of the worker for each address, in the order in which they are tried."""
        if self._master:
            yield Socket(self._master, timeout=self._timeout, worker=True, dump_lock=self._dump_lock)
        for place in self._stats:
            yield Socket(place, timeout=self._timeout, dump_lock=self._dump_lock)

    async def _reconnect(self, *, expected: bool = False) -> None:
        """Select the first address that answers, without waiting. With `expected` an absence that is known is not counted again."""
        self._socket, reasons = None, []
        for socket in self.sockets():
            reason = await _silence(socket)
            if reason is None:
                return await self._select(socket)
            reasons.append(reason)
        if not (expected and self.is_known_absent):
            self.failures["absent"] += 1
        self.is_known_absent = True
        why = "; ".join(reasons) or NOT_CONFIGURED
        raise RuntimeAbsent(why) if self._was_found else RuntimeUnconfigured(f"{NEVER_FOUND}: {why}")

    async def _select(self, socket: Socket) -> None:
        """Use a socket from now on, and query what its worker can do."""
        version = answers.version(answers.info(await socket.send("show info")).get("Version", ""))
        commands = answers.command_words(await socket.send("help"))
        keywords = server_keywords(await socket.send("add server help")) if "add server" in commands else None
        level = (await socket.send("show cli level")).strip()
        # A keyword that does not exist is refused with the usage, and nothing is made.
        words = backend_keywords(await socket.send("add backend usage from usage ?")) if "add backend" in commands else frozenset()
        self.capabilities = Capabilities(version, commands, level, keywords, words)
        self._socket, self._was_found, self.is_known_absent = socket, True, False


async def _silence(socket: Socket) -> str | None:
    """Return why no worker answers at a socket; None if one does."""
    try:
        async with asyncio.timeout(PATIENCE):
            answer = await socket.send("show info")
    except RuntimeAbsent as error:
        return error.detail
    except TimeoutError:
        # A master that starts may take a connection and lose it.
        return f"{socket.address}: no answer within {PATIENCE:g} s"
    return None if "Pid" in answers.info(answer) else f"{socket.address}: no answer of HAProxy's: {answer[:80]!r}"


def _worker(facts: dict[str, str]) -> Worker:
    try:
        return Worker(int(facts["Pid"]), float(facts.get("Start_time_sec", 0)))
    except (KeyError, ValueError) as error:
        raise RuntimeAbsent("the worker does not tell its pid") from error


def _is_unix(text: str) -> bool:
    place = parse_address(text)
    return place is not None and place.path is not None
