# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import owner_claims


class Owners(RootModel[list[owner_claims.OwnerClaims]]):
    """All owners."""

    root: list[owner_claims.OwnerClaims]
