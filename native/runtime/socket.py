"""One command, one connection: sends a line to a stats or master socket and reads the whole answer.

Commands of one socket run one after another: the master takes few connections, and certificate transactions are global.
A worker is reached through its master's socket as `@1`.
"""

import asyncio
import contextlib
import grp
import os
import pwd
import re
import stat
from collections.abc import Sequence

from native.errors import BadRequest, RuntimeAbsent, RuntimeRefused
from native.runtime import address as addresses
from native.runtime.address import Address

_FORBIDDEN = re.compile(r"[\n\r\0]")
_SEMICOLON = re.compile(r"(?<!\\)(?:\\\\)*;")
_WORD = re.compile(r"(?:[^ \t\\]|\\.)+")
# One more ends the process in 2.6 and 2.8 (measured); later versions refuse it in these words.
MOST_WORDS = 64
TOO_MANY_WORDS = f"Too many arguments. Commands must have at most {MOST_WORDS} arguments."
_NO_WORKER = re.compile(r"Can't find the target (?:PID|CLI|process)", re.IGNORECASE)


class Socket:
    """`worker`: a master's socket, through which the worker is spoken to; `master`: the same, for the master itself."""

    def __init__(self, address: str, *, timeout: float = 30.0, worker: bool = False, master: bool = False) -> None:
        self.address = address
        self.timeout = timeout
        self._prefix = "@1 " if worker else ""
        # A master waits for the next command; only `quit` makes it close.
        self._quit = "quit" if worker or master else ""
        self._may_be_silent = master
        self._one_at_a_time = asyncio.Lock()

    async def send(self, command: str | Sequence[str], payload: str | None = None) -> str:
        """The answer without its last line ends; several commands share a connection, and their answers follow one another.

        Raises RuntimeRefused, unsent, for a command of too many words; RuntimeAbsent with the reason, whose cause is a
        TimeoutError where the command may have been carried out.
        """
        request = self._request([command] if isinstance(command, str) else command, payload)
        async with self._one_at_a_time:
            try:
                async with asyncio.timeout(self.timeout):
                    answer = await self._exchange(request)
            except TimeoutError as error:
                raise RuntimeAbsent(f"{self.address}: no answer within {self.timeout:g} s") from error
            except OSError as error:
                raise RuntimeAbsent(f"{self.address}: {_reason(error, self.address)}") from error
        return self._checked(answer)

    def _request(self, commands: Sequence[str], payload: str | None) -> bytes:
        for command in commands:
            if _FORBIDDEN.search(command) or _SEMICOLON.search(command):
                raise BadRequest(f"a runtime command is one line, without a line break or a bare semicolon: {command!r}")
            if len(_WORD.findall(command)) > MOST_WORDS:
                raise RuntimeRefused(TOO_MANY_WORDS, command)
        line = ";".join(self._prefix + command for command in commands)
        if payload is None:
            return _encoded(f"{line};{self._quit}\n" if self._quit else f"{line}\n")
        # An empty line would end the payload, and what follows be taken for commands.
        kept = "\n".join(text for text in payload.replace("\r\n", "\n").split("\n") if text)
        return _encoded(f"{line} <<\n{kept}\n\n{self._quit}\n" if self._quit else f"{line} <<\n{kept}\n\n")

    async def _exchange(self, request: bytes) -> bytes:
        reader, writer = await self._connect()
        try:
            writer.write(request)
            await writer.drain()
            return await reader.read()
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        place = addresses.parse(self.address)
        if place is None:
            raise RuntimeAbsent(f"{self.address}: no address to connect to")
        if place.path is None:
            return await asyncio.open_connection(place.host, place.port)
        return await asyncio.open_unix_connection(place.path)

    def _checked(self, answer: bytes) -> str:
        text = answer.decode("utf-8", "surrogateescape")
        if not answer and not self._may_be_silent:
            raise RuntimeAbsent(f"{self.address}: closed without an answer")
        if self._prefix and _NO_WORKER.match(text):
            raise RuntimeAbsent(f"{self.address}: {text.strip()}")
        return text.removesuffix("\n> ").strip("\n")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _reason(error: OSError, address: str) -> str:
    place = addresses.parse(address)
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
