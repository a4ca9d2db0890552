"""Set up the log handlers: one for each entry of `log_targets`, with its own level, format and kinds of lines.

Access lines use the logger `access` at the level info. Their records contain the request with its response, which each target writes in its
own format. The lines of all other loggers are server lines. Secrets in warnings and errors are masked.
"""

import json
import logging
import os
import sys
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from dataplaneapi.telemetry import access_log as access
from dataplaneapi.telemetry.syslog import severity
from haproxy_native.request_context import origin

ACCESS = "access"
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_NAMES = {logging.DEBUG: "debug", logging.INFO: "info", logging.WARNING: "warning", logging.ERROR: "error", logging.CRITICAL: "fatal"}
IMPLICIT = {"log_to": "stdout", "log_level": "warning", "log_types": ["app", "access"]}

logger = logging.getLogger(__name__)
_AN_ERROR = logging.makeLogRecord({"name": "app", "levelno": logging.ERROR})


class Layout(logging.Formatter):
    """Formats a record as its message, followed by ` key=value` for each field. Callers pass fields as `extra={"fields": {...}}`."""

    def __init__(self, access_format: str = access.DEFAULT) -> None:
        super().__init__()
        self._access = access.compiled(access_format)

    def format(self, record: logging.LogRecord) -> str:
        return self.message(record) + self.fields_text(record)

    def message(self, record: logging.LogRecord) -> str:
        """Return the message or access line, with the traceback if there is one. Secrets in warnings and errors are masked."""
        request = getattr(record, "request", None)
        message = access.line(self._access, *request) if request else record.getMessage()
        if not request and record.levelno >= logging.WARNING:
            # Imported here, because it imports the large grammar, and most commands of this package log no warning.
            from haproxy_native.editing.secrets import masked_text

            # HAProxy may quote lines of the configuration in a warning or error.
            message = masked_text(message)
        return f"{message}\n{self.formatException(record.exc_info)}" if record.exc_info else message

    def time_and_level(self, record: logging.LogRecord) -> tuple[str, str]:
        """Return the time in ISO 8601 and the name of the level."""
        time = datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="seconds")
        return time, _NAMES.get(record.levelno, record.levelname.lower())

    def fields(self, record: logging.LogRecord) -> dict[str, Any]:
        return {**origin.get(), **getattr(record, "fields", {})}

    def fields_text(self, record: logging.LogRecord) -> str:
        fields = self.fields(record)
        return "".join(
            f" {key}={json.dumps(value) if isinstance(value, str) and not value.isalnum() else value}" for key, value in fields.items()
        )


class Logfmt(Layout):
    """Formats a record as `time="..." level=... msg="..." key=value`."""

    def format(self, record: logging.LogRecord) -> str:
        time, level = self.time_and_level(record)
        return f'time="{time}" level={level} msg={json.dumps(self.message(record), ensure_ascii=False)}{self.fields_text(record)}'


class Json(Layout):
    """Formats a record as a JSON object with the same members. An access line has its content as further members."""

    def format(self, record: logging.LogRecord) -> str:
        time, level = self.time_and_level(record)
        request = getattr(record, "request", None)
        members = access.fields(*request) if request else {}
        return json.dumps({"level": level, "msg": self.message(record), "time": time} | members | self.fields(record))


def setup(targets: Iterable[Mapping[str, Any]]) -> None:
    """Replace all log handlers. Report a target that cannot be used on standard error and to the other targets."""
    root = logging.getLogger()
    handlers: list[logging.Handler] = []
    warnings: list[str] = []
    for target in list(targets) or [IMPLICIT]:
        try:
            handlers.append(_handler(target, warnings))
        except (OSError, ValueError) as error:
            warnings.append(f"log target {target.get('log_to', '')!r} is not used: {error}")
    for old in root.handlers[:]:
        root.removeHandler(old)
        # `close` may block until a collector has received the remaining lines.
        threading.Thread(target=old.close, name="log").start()
    for handler in handlers or [_handler(IMPLICIT, warnings)]:
        root.addHandler(handler)
    root.setLevel(min(handler.level for handler in root.handlers))
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    for warning in warnings:
        print(warning, file=sys.stderr)
        logger.warning(warning)


def is_on_standard_output() -> bool:
    """Return whether a handler writes the server's errors to standard output."""
    streams = [
        handler for handler in logging.getLogger().handlers if isinstance(handler, logging.StreamHandler) and handler.stream is sys.stdout
    ]
    return any(stream.level <= logging.ERROR and stream.filter(_AN_ERROR) for stream in streams)


def _handler(target: Mapping[str, Any], warnings: list[str]) -> logging.Handler:
    """Return the handler of a target. Raises OSError and ValueError. For an invalid `acl_format`, append to `warnings` instead."""
    kinds = [str(kind) for kind in target.get("log_types") or ["app"]]
    if any(kind not in ("app", ACCESS) for kind in kinds) or len(set(kinds)) != len(kinds):
        raise ValueError(f"log_types {kinds} must be app, access or both")
    is_json = str(target.get("log_format", "")).lower() == "json"
    layout_class = Json if is_json else Layout if target.get("log_to") == "syslog" else Logfmt
    try:
        layout = layout_class(str(target.get("acl_format") or access.DEFAULT))
    except ValueError as error:
        warnings.append(f"log target {target.get('log_to', '')!r} gets no access lines: {error}")
        layout, kinds = layout_class(), [kind for kind in kinds if kind != ACCESS]
    handler = _open_output(target)
    handler.setLevel(LEVELS.get(str(target.get("log_level", "info")).lower(), logging.INFO))
    handler.setFormatter(layout)
    handler.addFilter(lambda record: (ACCESS if record.name == ACCESS else "app") in kinds)
    return handler


class ToJournal(logging.StreamHandler):  # type: ignore[type-arg]
    """A handler that prefixes each line with its priority, which the journal removes and stores as the level (sd-daemon(3))."""

    def format(self, record: logging.LogRecord) -> str:
        priority = f"<{severity(record)}>"
        return "\n".join(priority + line for line in super().format(record).splitlines())


def _open_output(target: Mapping[str, Any]) -> logging.Handler:
    where = target.get("log_to")
    if where == "stdout":
        is_journal = False
        with suppress(OSError, ValueError):
            status = os.fstat(sys.stdout.fileno())
            # systemd sets JOURNAL_STREAM to the stream that it has connected to the journal (systemd.exec(5)).
            is_journal = os.environ.get("JOURNAL_STREAM") == f"{status.st_dev}:{status.st_ino}"
        return (ToJournal if is_journal else logging.StreamHandler)(sys.stdout)
    if where == "syslog":
        from dataplaneapi.telemetry import syslog

        return syslog.handler(target)
    if where == "file":
        path = Path(str(target.get("log_file") or "/var/log/dataplaneapi/dataplaneapi.log"))
        path.parent.mkdir(parents=True, exist_ok=True)
        from logging.handlers import WatchedFileHandler

        # This handler reopens the file after logrotate has moved it, without a signal.
        return WatchedFileHandler(path)
    raise ValueError("log_to must be stdout, file or syslog")
