# Generated from openapi/ by `make generate`; do not edit.

from . import nameserver
from .resolver_base import ResolverBase


class Resolver(ResolverBase):
    """A resolvers section with its name servers."""

    nameservers: dict[str, nameserver.Nameserver] | None = None
    """Name servers by name."""
