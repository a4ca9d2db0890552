"""The Runtime API of one HAProxy: chooses a socket, and reconnects when it is gone.

The master's socket first, since it survives reloads and failed ones; then the stats sockets in the order of the file, those of TCP last.
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
from haproxy_native.runtime.socket import READING, Gate, RequestTooLong, Sink, Socket, parse_address

log = logging.getLogger(__name__)
NOT_CONFIGURED = "no master socket and no stats socket is configured"
NEVER_FOUND = "retry - unable to configure runtime client"
# Commands at once that are worth looking for another socket.
MANY = 50
_WHO = "show info float"
# Seconds within which a socket that is tried says whose it is.
PATIENCE = 5.0
# Seconds within which another worker takes the place of one that is stopping, and between two looks for it.
SUCCESSION = 1.0
POLL = 0.02
# CLOCK_REALTIME_COARSE, the kernel's clock for files, which Python does not name; it lags behind by up to a tick.
_TICK = time.clock_getres(5)
T = TypeVar("T")


@dataclass(frozen=True)
class Worker:
    """Who answers. A pid alone does not tell generations apart: in a container every start may give the same one.

    `started` is when it began, before it read its configuration; HAProxy tells parts of a second to who asks for them.
    """

    pid: int
    started: float

    def may_have_started_after(self, moment: float) -> bool:
        """False only where it certainly started before; up to 2.6 HAProxy tells whole seconds."""
        return self.started >= (int(moment) if self.started.is_integer() else moment)

    def started_after(self, moment: float) -> bool:
        """True only where it certainly read its configuration after that moment, at which a file was written."""
        return self.started > moment + _TICK


class Runtime:
    """`connect` first. Without a socket every call raises RuntimeAbsent, after one attempt to find one again.

    `versions` is held while a second version of a list is prepared: HAProxy forgets it when another one is committed.
    `failures` counts how often none answered (absent), and how often HAProxy said no (refused). Asking again who answers, as a watcher
    does, counts once until one answers again.
    """

    def __init__(self, *, timeout: float = 30.0) -> None:
        self._timeout = timeout
        self._socket: Socket | None = None
        self._was_found = False
        self._is_known_absent = False
        self._gate = Gate()
        self.versions = asyncio.Lock()
        # HAProxy has one for all its clients: two changes of TLS files at a time would mix.
        self.transaction = asyncio.Lock()
        self.capabilities = Capabilities()
        self.failures: Counter[str] = Counter()
        self.use(None, ())

    def use(self, master: str | None, stats: Sequence[str]) -> None:
        """The addresses to choose from, from now on; a socket in use stays so while it is among them."""
        self._master = master if master and _is_unix(master) else None
        self._stats = tuple(sorted(stats, key=lambda place: not _is_unix(place)))
        if self._socket and self._socket.address not in (self._master, *self._stats):
            self._socket = None

    async def connect(self, master: str | None, stats: Sequence[str], max_wait: float = 30.0, tick: float = 0.5) -> bool:
        """Waits up to `max_wait` seconds for each address in turn; whether one answers."""
        self.use(master, stats)
        self._socket = None
        for socket in self.sockets():
            if await self._wait_for(socket, max_wait, tick):
                await self._keep(socket)
                return True
        return False

    @property
    def address(self) -> str:
        """The socket in use, or where one is expected."""
        places = [place for place in (self._master, *self._stats) if place]
        return self._socket.address if self._socket else ", ".join(places) or NOT_CONFIGURED

    @property
    def place(self) -> str:
        """One socket: that in use, or the first to be tried."""
        return self._socket.address if self._socket else self._master or next(iter(self._stats), "")

    @property
    def worker_place(self) -> str:
        """Returns the worker's name in the protocol: behind a master's socket the worker's sign."""
        return f"{self.place}@1" if self.place == self._master else self.place

    @property
    def is_configured(self) -> bool:
        return bool(self._master or self._stats)

    def last_opened(self) -> float:
        """Unix time when HAProxy last opened one of its sockets, whether it runs still or not; 0 where none is there."""
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
        """The master, whichever socket is in use."""
        return Master(self._master, timeout=self._timeout) if self._master else None

    @property
    def master(self) -> Master | None:
        """The master, where its socket is the one in use."""
        in_use = self._socket and self._socket.address == self._master
        return Master(self._master, timeout=self._timeout) if self._master and in_use else None

    async def send(self, command: str, payload: str | None = None) -> str:
        """The worker's answer, which may be a refusal. What a master's socket cannot carry goes through a stats socket of the same worker.

        Raises RuntimeDenied, and RuntimeRefused for an unknown command, as all that send commands.
        """
        answer = await self._carried(lambda socket: socket.send(command, payload), [command])
        self._check_carried_out(answer, command)
        return answer

    async def each(self, commands: Sequence[str]) -> list[str]:
        """The answers to many commands, over few connections; each may be a refusal (`answers.refusal`).

        Before 3.2 a master opens a connection to its worker for every single command, so that a socket of the worker's own is ten times
        as fast.
        """
        if len(commands) > MANY and self.master and not self.capabilities.relays and (socket := await self._larger()):
            return await socket.send_each(commands)
        replies = await self._carried(lambda socket: socket.send_each(commands, relayed=self.capabilities.relays), commands)
        for command, reply in zip(commands, replies, strict=True):
            self._check_carried_out(reply, command)
        return replies

    async def ask(self, command: str, payload: str | None = None) -> str:
        """Carries out a change. Raises RuntimeRefused with HAProxy's words, RuntimeAbsent where no worker serves."""
        answer = await self.send(command, payload)
        if answers.refusal(answer) == answers.PROXY_STOPPED:
            answer = await self._of_the_serving(command, payload)
        if (refusal := answers.refusal(answer)) is not None:
            raise self._refused(refusal, command)
        return answer

    async def read(self, command: str, head: str, sink: Sink | None = None) -> str:
        """A dump: nothing, or a text that begins with the expression `head`; its beginning only, where a `sink` takes it as it comes.

        Raises RuntimeRefused with what HAProxy says instead.
        """
        answer = await self._through(lambda socket: socket.send(command, None, sink), [command])
        self._check_carried_out(answer, command)
        if answer and not re.match(head, answer):
            raise self._refused(answers.first_words(answer), command)
        return answer

    async def worker(self) -> Worker:
        return _worker(answers.info(await self.send(_WHO)))

    async def worker_pid(self) -> int:
        return (await self.worker()).pid

    async def servers(self, backend: str = "") -> list[ServerState]:
        """Returns the servers of a backend, or all. Raises RuntimeRefused if the worker does not have the backend."""
        text = await self.read(f"show servers state {argument(backend)}" if backend else "show servers state", r"1\n")
        return await beside_if(len(text) > LARGE, server_states, text)

    async def refresh(self) -> Capabilities:
        """Chooses the socket again after a reload, the master's first, and asks anew what the worker in service can do."""
        await self._reconnect()
        return self.capabilities

    async def _carried(self, work: Callable[[Socket], Awaitable[T]], commands: Sequence[str]) -> T:
        """Through a larger socket where the one in use is too small."""
        try:
            return await self._through(work, commands)
        except RequestTooLong:
            if (socket := await self._larger()) is None:
                raise
            return await work(socket)

    async def _through(self, work: Callable[[Socket], Awaitable[T]], commands: Sequence[str]) -> T:
        """Sends through the socket in use; through another, or the same again, if it does not answer and nothing can be done twice."""
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

    async def _of_the_serving(self, command: str, payload: str | None) -> str:
        """The answer of a worker that is not stopping; one that may be has refused the command. Raises RuntimeAbsent after `SUCCESSION`."""
        deadline = asyncio.get_running_loop().time() + SUCCESSION
        while asyncio.get_running_loop().time() < deadline:
            serving = await self._serving()
            if serving:
                answer = await self.send(command, payload)
                if answers.refusal(answer) != answers.PROXY_STOPPED or await self._serving() == serving:
                    return answer
            await asyncio.sleep(POLL)
        raise RuntimeAbsent(f"{self.address}: the worker that answers is stopping, and no other serves")

    async def _serving(self) -> Worker | None:
        """The worker that answers; None while it is stopping."""
        facts = answers.info(await self.send(_WHO))
        return None if facts.get("Stopping") == "1" else _worker(facts)

    def _refused(self, answer: str, command: str) -> RuntimeRefused:
        self.failures["refused"] += 1
        return refused(answer, command)

    def _check_carried_out(self, answer: str, command: str) -> None:
        """Raises RuntimeDenied, and RuntimeRefused for a command that this HAProxy does not have: neither answer is data."""
        if answer == DENIED or (answer == DENIED_TO_USERS and self.capabilities.level == "user"):
            self.failures["refused"] += 1
            raise denied(self.place, self.capabilities.level, command, of_master=self.place == self._master)
        if answer.startswith(answers.UNKNOWN):
            raise self._refused(answers.first_words(answer), command)

    async def _larger(self) -> Socket | None:
        """A socket of the worker's own, which takes longer requests than the master's."""
        pid = await self.worker_pid()
        for place in self._stats:
            socket = Socket(place, timeout=self._timeout, gate=self._gate)
            with suppress(RuntimeAbsent):
                same = _worker(answers.info(await socket.send("show info"))).pid == pid
                if same and (await socket.send("show cli level")).strip() == self.capabilities.level:
                    return socket
        return None

    def sockets(self) -> Iterator[Socket]:
        """New connections to the worker, by each address."""
        if self._master:
            yield Socket(self._master, timeout=self._timeout, worker=True, gate=self._gate)
        for place in self._stats:
            yield Socket(place, timeout=self._timeout, gate=self._gate)

    async def _wait_for(self, socket: Socket, max_wait: float, tick: float) -> bool:
        deadline = asyncio.get_running_loop().time() + max_wait
        while True:
            reason = await _silence(socket)
            if reason is None:
                return True
            if asyncio.get_running_loop().time() + tick > deadline:
                log.warning("Runtime API: %s", reason)
                return False
            await asyncio.sleep(tick)

    async def _reconnect(self, *, expected: bool = False) -> None:
        """Once through all addresses, without waiting. `expected`: that none answers is counted only where it is news."""
        self._socket, reasons = None, []
        for socket in self.sockets():
            reason = await _silence(socket)
            if reason is None:
                return await self._keep(socket)
            reasons.append(reason)
        if not (expected and self._is_known_absent):
            self.failures["absent"] += 1
        self._is_known_absent = True
        why = "; ".join(reasons) or NOT_CONFIGURED
        raise RuntimeAbsent(why) if self._was_found else RuntimeUnconfigured(f"{NEVER_FOUND}: {why}")

    async def _keep(self, socket: Socket) -> None:
        version = answers.version(answers.info(await socket.send("show info")).get("Version", ""))
        commands = answers.command_words(await socket.send("help"))
        keywords = server_keywords(await socket.send("add server help")) if "add server" in commands else None
        level = (await socket.send("show cli level")).strip()
        # A keyword that does not exist is refused with the usage, and nothing is made.
        words = backend_keywords(await socket.send("add backend usage from usage ?")) if "add backend" in commands else frozenset()
        self.capabilities = Capabilities(version, commands, level, keywords, words)
        self._socket, self._was_found, self._is_known_absent = socket, True, False


async def _silence(socket: Socket) -> str | None:
    """Why a socket gives no answer of a worker; None when it does."""
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
