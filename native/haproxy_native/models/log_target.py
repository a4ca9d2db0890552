# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class LogTarget(Model):
    address: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    facility: Literal['kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news', 'uucp', 'cron', 'auth2', 'ftp', 'ntp', 'audit', 'alert', 'cron2', 'local0', 'local1', 'local2', 'local3', 'local4', 'local5', 'local6', 'local7'] | None = (
        None
    )
    format: Literal['local', 'rfc3164', 'rfc5424', 'priority', 'short', 'timed', 'iso', 'raw'] | None = (
        None
    )
    global_: Annotated[StrictBool | None, Field(alias='global')] = None
    length: StrictInt | None = None
    level: Literal['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] | None = (
        None
    )
    metadata: dict[str, Any] | None = None
    minlevel: Literal['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] | None = (
        None
    )
    nolog: StrictBool | None = None
    profile: StrictStr | None = None
    sample_range: StrictStr | None = None
    sample_size: StrictInt | None = None
