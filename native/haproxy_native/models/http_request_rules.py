# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import http_request_rule


class HttpRequestRules(RootModel[list[http_request_rule.HttpRequestRule]]):
    """All of one section, in order."""

    root: list[http_request_rule.HttpRequestRule]
