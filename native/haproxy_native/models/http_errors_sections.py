# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import http_errors_section


class HttpErrorsSections(RootModel[list[http_errors_section.HttpErrorsSection]]):
    """All such sections."""

    root: list[http_errors_section.HttpErrorsSection]
