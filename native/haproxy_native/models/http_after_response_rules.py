# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import http_after_response_rule


class HttpAfterResponseRules(
    RootModel[list[http_after_response_rule.HttpAfterResponseRule]]
):
    """All of one section, in order."""

    root: list[http_after_response_rule.HttpAfterResponseRule]
