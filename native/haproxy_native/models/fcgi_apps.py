# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import fcgi_app


class FcgiApps(RootModel[list[fcgi_app.FcgiApp]]):
    """All such sections."""

    root: list[fcgi_app.FcgiApp]
