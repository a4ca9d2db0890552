# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class LogProfileStep(Model):
    """What is logged at a step, one on line."""

    drop: Literal['enabled', 'disabled'] | None = None
    """Whether nothing is logged."""
    format: StrictStr | None = None
    """Log-format string of the message."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    sd: StrictStr | None = None
    """Log-format string of the structured data."""
    step: Literal['accept', 'any', 'close', 'connect', 'error', 'request', 'response', 'http-req', 'http-res', 'http-after-res', 'quic-init', 'tcp-req-conn', 'tcp-req-cont', 'tcp-req-sess']
    """Step of a stream."""
