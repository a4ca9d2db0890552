"""Where log lines go: one handler for each entry of `log_targets`, each with its own level, layout and kind of lines.

Server lines go to any logger, access lines to the logger `access` at info level, as a request and its answer, and each target
writes them in its own format. Secrets never reach a logger.
"""

import json
import logging
import sys
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from app import access
from native.origin import origin

ACCESS = "access"
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_NAMES = {logging.DEBUG: "debug", logging.INFO: "info", logging.WARNING: "warning", logging.ERROR: "error", logging.CRITICAL: "fatal"}
IMPLICIT = {"log_to": "stdout", "log_level": "warning", "log_types": ["app", "access"]}

logger = logging.getLogger(__name__)


class Layout(logging.Formatter):
    """`time="..." level=... msg="..." key=value` or the same as one JSON object; fields come in `extra={"fields": {...}}`."""

    def __init__(self, access_format: str, *, as_json: bool) -> None:
        super().__init__()
        self._access, self._as_json = access.compiled(access_format), as_json

    def format(self, record: logging.LogRecord) -> str:
        request = getattr(record, "request", None)
        message = access.line(self._access, *request) if request else record.getMessage()
        if record.exc_info:
            message += "\n" + self.formatException(record.exc_info)
        time = datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="seconds")
        level = _NAMES.get(record.levelno, record.levelname.lower())
        fields: dict[str, Any] = {**origin.get(), **getattr(record, "fields", {})}
        if self._as_json:
            return json.dumps({"level": level, "msg": message, "time": time} | fields)
        shown = "".join(
            f" {key}={json.dumps(value) if isinstance(value, str) and not value.isalnum() else value}" for key, value in fields.items()
        )
        return f'time="{time}" level={level} msg={json.dumps(message, ensure_ascii=False)}{shown}'


def setup(targets: Iterable[Mapping[str, Any]]) -> None:
    """Replaces all handlers; a target that cannot be used is told on standard error and by the others."""
    root = logging.getLogger()
    handlers, troubles = [], []
    for target in list(targets) or [IMPLICIT]:
        try:
            handlers.append(_handler(target))
        except (OSError, ValueError) as error:
            troubles.append(f"log target {target.get('log_to', '')!r} is not used: {error}")
    for old in root.handlers[:]:
        root.removeHandler(old)
        old.close()
    for handler in handlers or [_handler(IMPLICIT)]:
        root.addHandler(handler)
    root.setLevel(min(handler.level for handler in root.handlers))
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    for trouble in troubles:
        print(trouble, file=sys.stderr)
        logger.warning(trouble)


def _handler(target: Mapping[str, Any]) -> logging.Handler:
    kinds = [str(kind) for kind in target.get("log_types") or ["app"]]
    if any(kind not in ("app", ACCESS) for kind in kinds) or len(set(kinds)) != len(kinds):
        raise ValueError(f"log_types {kinds} must be app, access or both")
    handler = _output(target)
    handler.setLevel(LEVELS.get(str(target.get("log_level", "info")).lower(), logging.INFO))
    handler.setFormatter(
        Layout(str(target.get("acl_format") or access.DEFAULT), as_json=str(target.get("log_format", "")).lower() == "json")
    )
    handler.addFilter(lambda record: (ACCESS if record.name == ACCESS else "app") in kinds)
    return handler


def _output(target: Mapping[str, Any]) -> logging.Handler:
    where = target.get("log_to")
    if where == "stdout":
        return logging.StreamHandler(sys.stdout)
    if where == "file":
        path = Path(str(target.get("log_file") or "/var/log/dataplaneapi/dataplaneapi.log"))
        path.parent.mkdir(parents=True, exist_ok=True)
        return logging.FileHandler(path)
    raise ValueError("log_to must be stdout or file" + ("; syslog is not available yet" if where == "syslog" else ""))
