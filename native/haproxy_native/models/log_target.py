# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class LogTarget(Model):
    """Where logs go, one log line (HAProxy Configuration Manual, section 4.2)."""

    address: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Address with port, UNIX path, stdout, stderr, fd@ or ring@."""
    facility: Literal['kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news', 'uucp', 'cron', 'auth2', 'ftp', 'ntp', 'audit', 'alert', 'cron2', 'local0', 'local1', 'local2', 'local3', 'local4', 'local5', 'local6', 'local7'] | None = (
        None
    )
    """Facility of syslog."""
    format: Literal['local', 'rfc3164', 'rfc5424', 'priority', 'short', 'timed', 'iso', 'raw'] | None = (
        None
    )
    """Format of the messages."""
    global_: Annotated[StrictBool | None, Field(alias='global')] = None
    """Whether the targets of the global section are meant."""
    length: StrictInt | None = None
    """Bytes of a message at most."""
    level: Literal['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] | None = (
        None
    )
    """Least urgent level that is sent."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    minlevel: Literal['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] | None = (
        None
    )
    """Most urgent level that messages are sent as."""
    nolog: StrictBool | None = None
    """Whether nothing is logged, whatever was inherited."""
    profile: StrictStr | None = None
    """Name of the log-profile section."""
    sample_range: StrictStr | None = None
    """Which of every sample_size messages are sent."""
    sample_size: StrictInt | None = None
    """Number of messages that sample_range counts in."""
