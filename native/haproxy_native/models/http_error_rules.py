# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import http_error_rule


class HttpErrorRules(RootModel[list[http_error_rule.HttpErrorRule]]):
    """All of one section, in order."""

    root: list[http_error_rule.HttpErrorRule]
