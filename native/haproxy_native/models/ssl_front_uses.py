# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import ssl_front_use


class SslFrontUses(RootModel[list[ssl_front_use.SslFrontUse]]):
    """All of one section, in order."""

    root: list[ssl_front_use.SslFrontUse]
