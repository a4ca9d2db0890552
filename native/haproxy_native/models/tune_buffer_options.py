# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictInt


class TuneBufferOptions(Model):
    buffers_limit: StrictInt | None = None
    buffers_reserve: Annotated[StrictInt | None, Field(ge=2)] = None
    bufsize: StrictInt | None = None
    bufsize_large: StrictInt | None = None
    bufsize_small: Annotated[StrictInt | None, Field(ge=1)] = None
    pipesize: StrictInt | None = None
    rcvbuf_backend: StrictInt | None = None
    rcvbuf_client: StrictInt | None = None
    rcvbuf_frontend: StrictInt | None = None
    rcvbuf_server: StrictInt | None = None
    recv_enough: StrictInt | None = None
    sndbuf_backend: StrictInt | None = None
    sndbuf_client: StrictInt | None = None
    sndbuf_frontend: StrictInt | None = None
    sndbuf_server: StrictInt | None = None
