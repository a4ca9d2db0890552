# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import http_check


class HttpChecks(RootModel[list[http_check.HttpCheck]]):
    """All of one section, in order."""

    root: list[http_check.HttpCheck]
