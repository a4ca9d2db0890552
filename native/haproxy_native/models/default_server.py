# Generated from openapi/ by `make generate`; do not edit.

from .server_params import ServerParams


class DefaultServer(ServerParams):
    pass
