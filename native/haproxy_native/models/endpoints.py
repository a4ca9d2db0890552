# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import endpoint


class Endpoints(RootModel[list[endpoint.Endpoint]]):
    """All readable paths one segment below."""

    root: list[endpoint.Endpoint]
