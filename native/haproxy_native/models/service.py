# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictInt

from . import bind


class Service(Model):
    http_connection_mode: Literal['http-tunnel', 'httpclose', 'forced-close', 'http-server-close', 'http-keep-alive'] | None = (
        None
    )
    listeners: list[bind.Bind] | None = None
    maxconn: StrictInt | None = None
    mode: Literal['http', 'tcp'] | None = None
