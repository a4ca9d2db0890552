"""Send log lines to a syslog collector (RFC 5424) over a unix socket, UDP or TCP (octet counting, RFC 6587).

A separate thread sends the lines, so that no request waits for a collector. If the collector fails, the thread retries with the same line
every PAUSE seconds. Up to KEPT lines are queued meanwhile, and further lines are lost and counted.
"""

import contextlib
import errno
import logging
import os
import queue
import re
import select
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

_SEVERITIES = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3, logging.CRITICAL: 2}
_NOTICE = 5
Line = TypeVar("Line")


def severity(record: logging.LogRecord) -> int:
    """Return the syslog severity of a record's level (RFC 5424, section 6.2.1)."""
    return _SEVERITIES.get(record.levelno, _NOTICE)


FACILITIES = (
    "kern user mail daemon auth syslog lpr news uucp cron authpriv ftp ntp security console clock "
    "local0 local1 local2 local3 local4 local5 local6 local7"
).split()
SEVERITIES = ("emergency", "alert", "critical", "error", "warning", "notice", "info", "debug")
_SHORT = {"emerg": "emergency", "panic": "emergency", "crit": "critical", "err": "error", "warn": "warning"}
_FAMILIES = {"": socket.AF_UNSPEC, "4": socket.AF_INET, "6": socket.AF_INET6}
_PROTOCOL = re.compile(r"(?P<kind>tcp|udp)(?P<family>[46]?)|unix|unixgram")
_ADDRESS = re.compile(r"(?P<host>\[[^\]]+\]|[^:]*)(?::(?P<port>\d+))?")
PORT, KEPT, FAILURES = 514, 10_000, 3
# Bytes. A datagram that is too large is truncated to this size, which every collector should accept (RFC 5426, section 3.2).
SHORTEST = 2048
PATIENCE, PAUSE, LAST_SECONDS = 10.0, 1.0, 2.0


def _is_host_and_port(address: str) -> bool:
    """Return whether an address is valid. For an invalid address, `getaddrinfo` raises UnicodeError or truncates the port."""
    if not (match := _ADDRESS.fullmatch(address)):
        return False
    try:
        match["host"].encode("idna")
    except UnicodeError:
        return False
    return int(match["port"] or PORT) < 1 << 16


class Collector:
    """The destination of lines, with a connection that is opened when needed.

    `protocol` is tcp, tcp4, tcp6, udp, udp4, udp6, unix or unixgram. `address` is host:port or the path of a Unix socket.
    """

    def __init__(self, protocol: str, address: str) -> None:
        kind = _PROTOCOL.fullmatch(protocol)
        if kind is None:
            raise ValueError(f"syslog_protocol {protocol!r} must be tcp, tcp4, tcp6, udp, udp4, udp6, unix or unixgram")
        if not address:
            raise ValueError("no address has been declared")
        self.name = f"{protocol}:{address}"
        self._unix = kind["kind"] is None
        self._family = socket.AF_UNIX if self._unix else _FAMILIES[kind["family"]]
        self._stream = protocol == "unix" or kind["kind"] == "tcp"
        self._address = address
        if not self._unix and not _is_host_and_port(address):
            raise ValueError(f"syslog_address {address!r} must be host:port")
        self._socket: socket.socket | None = None

    def send(self, line: bytes) -> None:
        """Send a line. Blocks for at most PATIENCE seconds at a time. Raises OSError, after which the next call reconnects."""
        try:
            if self._socket is None or self._is_closed_by_peer(self._socket):
                self.close()
                self._socket = self._connect()
            if self._stream:
                self._socket.sendall(b"%d %s" % (len(line), line))
                return
            try:
                self._socket.send(line)
            except OSError as error:
                if error.errno != errno.EMSGSIZE:
                    raise
                self._socket.send(line[:SHORTEST])
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _is_closed_by_peer(self, connection: socket.socket) -> bool:
        """Return whether the collector has closed the connection. A line that is sent on such a connection is lost without an error."""
        if not self._stream:
            return False
        poll = select.poll()
        poll.register(connection, select.POLLIN)
        return bool(poll.poll(0)) and connection.recv(1, socket.MSG_PEEK) == b""

    def _connect(self) -> socket.socket:
        if self._unix:
            return self._connect_to(socket.AF_UNIX, self._address)
        kind = socket.SOCK_STREAM if self._stream else socket.SOCK_DGRAM
        host, port = _ADDRESS.fullmatch(self._address).group("host", "port")  # type: ignore[union-attr]
        *others, last = socket.getaddrinfo(host.strip("[]") or "localhost", int(port or PORT), self._family, kind)
        for family, _, _, _, address in others:
            with contextlib.suppress(OSError):
                return self._connect_to(family, address)
        return self._connect_to(last[0], last[4])

    def _connect_to(self, family: int, address: Any) -> socket.socket:
        connection = socket.socket(family, socket.SOCK_STREAM if self._stream else socket.SOCK_DGRAM)
        try:
            connection.settimeout(PATIENCE)
            connection.connect(address)
        except OSError:
            connection.close()
            raise
        return connection


class Syslog(logging.Handler):
    """A log handler that sends records to a collector. It adds the RFC 5424 header to the formatted message.

    Records that are less severe than `threshold`, a syslog severity, are dropped.
    """

    def __init__(self, collector: Collector, facility: int, threshold: int, tag: str) -> None:
        super().__init__()
        self._collector, self._facility, self._threshold = collector, facility, threshold
        self._origin = f"{_header_word(os.uname().nodename, 255)} {_header_word(tag, 48)} {os.getpid()}"
        self._lines: queue.Queue[bytes | None] = queue.Queue(KEPT)
        self._lost, self._failures = 0, 0
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="syslog", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        level = severity(record)
        if level > self._threshold:
            return
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds")
        kind = "access" if record.name == "access" else "app"
        line = f"<{self._facility * 8 + level}>1 {time} {self._origin} {kind} - {self.format(record)}"
        try:
            self._lines.put_nowait(line.encode("utf-8", "replace"))
        except queue.Full:
            self._lost += 1

    def close(self) -> None:
        """Send the queued lines. Blocks for at most LAST_SECONDS."""
        if not self._ending.is_set():
            self._ending.set()
            with contextlib.suppress(queue.Full):
                self._lines.put_nowait(None)
            self._thread.join(LAST_SECONDS)
        super().close()

    def _run(self) -> None:
        with contextlib.closing(self._collector):
            for line in items_until_end(self._lines, self._ending):
                while not self._send_line(line):
                    if self._ending.is_set():
                        return
                    self._ending.wait(PAUSE)

    def _send_line(self, line: bytes) -> bool:
        try:
            self._collector.send(line)
        except OSError as error:
            self._failures += 1
            if self._failures == FAILURES:
                self._print_status(f"cannot be reached and is tried again: {error}")
            return False
        if self._failures >= FAILURES:
            self._print_status(f"is reached again; {self._lost} lines were lost")
            self._lost = 0
        self._failures = 0
        return True

    def _print_status(self, text: str) -> None:
        print(f"syslog {self._collector.name} {text}", file=sys.stdout, flush=True)


def items_until_end(lines: "queue.Queue[Line | None]", ending: threading.Event) -> Iterator[Line]:
    """Yield the items of a queue until `ending` is set and the queue is empty. Blocks while the queue is empty.

    To wake the reader after `ending` is set, put None into the queue. None is not yielded.
    """
    while not (ending.is_set() and lines.empty()):
        if (line := lines.get()) is not None:
            yield line


def handler(target: Mapping[str, Any]) -> Syslog:
    """Return the handler for an entry of `log_targets`. Raises ValueError if a member is missing or invalid."""
    facility, level = (str(target.get(f"syslog_{name}") or "").lower() for name in ("facility", "level"))
    level = _SHORT.get(level, level)
    if facility not in FACILITIES:
        raise ValueError(f"Error configuring Syslog logging: syslog_facility {facility!r} must be one of {', '.join(FACILITIES)}")
    if level not in SEVERITIES:
        raise ValueError(f"Error configuring Syslog logging: syslog_level {level!r} must be one of {', '.join(SEVERITIES)}")
    try:
        collector = Collector(str(target.get("syslog_protocol") or "tcp"), str(target.get("syslog_address") or ""))
    except ValueError as error:
        raise ValueError(f"Error configuring Syslog logging: {error}") from None
    return Syslog(collector, FACILITIES.index(facility), SEVERITIES.index(level), str(target.get("syslog_tag") or "dataplaneapi"))


def _header_word(text: str, length: int) -> str:
    return re.sub(r"[^!-~]", "_", text)[:length] or "-"
