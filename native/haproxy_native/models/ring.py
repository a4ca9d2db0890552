# Generated from openapi/ by `make generate`; do not edit.

from . import server
from .ring_base import RingBase


class Ring(RingBase):
    """A ring section with its servers."""

    servers: dict[str, server.Server] | None = None
    """Servers by name."""
