# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import acme_provider


class AcmeProviders(RootModel[list[acme_provider.AcmeProvider]]):
    """All such sections."""

    root: list[acme_provider.AcmeProvider]
