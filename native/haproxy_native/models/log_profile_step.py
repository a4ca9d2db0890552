# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class LogProfileStep(Model):
    drop: Literal['enabled', 'disabled'] | None = None
    format: StrictStr | None = None
    metadata: dict[str, Any] | None = None
    sd: StrictStr | None = None
    step: Literal['accept', 'any', 'close', 'connect', 'error', 'request', 'response', 'http-req', 'http-res', 'http-after-res', 'quic-init', 'tcp-req-conn', 'tcp-req-cont', 'tcp-req-sess']
