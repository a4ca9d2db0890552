# Generated from openapi/ by `make generate`; do not edit.

from . import server
from .ring_base import RingBase


class Ring(RingBase):
    servers: dict[str, server.Server] | None = None
