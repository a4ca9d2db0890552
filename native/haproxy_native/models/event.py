# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class Event(Model):
    cond: Literal['if', 'unless'] | None = None
    cond_test: StrictStr | None = None
    name: Literal['on-backend-http-request', 'on-backend-tcp-request', 'on-client-session', 'on-frontend-http-request', 'on-frontend-tcp-request', 'on-http-response', 'on-server-session', 'on-tcp-response']
