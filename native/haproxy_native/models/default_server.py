# Generated from openapi/ by `make generate`; do not edit.

from .server_params import ServerParams


class DefaultServer(ServerParams):
    """What servers below it inherit, a default-server line (HAProxy Configuration Manual, section 4.2)."""

    pass
