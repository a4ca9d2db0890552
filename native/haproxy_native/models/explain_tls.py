# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class ExplainTls(Model):
    """That the client speaks TLS. By the URL without it."""

    version: Literal['1.0', '1.1', '1.2', '1.3'] | None = None
    """The version that it offers; all without it."""
    alpn: list[StrictStr] | None = None
    """The protocols that it offers."""
