# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import http_response_rule


class HttpResponseRules(RootModel[list[http_response_rule.HttpResponseRule]]):
    """All of one section, in order."""

    root: list[http_response_rule.HttpResponseRule]
