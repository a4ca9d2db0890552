# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import endpoint


class Endpoints(RootModel[list[endpoint.Endpoint]]):
    root: list[endpoint.Endpoint]
