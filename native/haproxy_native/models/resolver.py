# Generated from openapi/ by `make generate`; do not edit.

from . import nameserver
from .resolver_base import ResolverBase


class Resolver(ResolverBase):
    nameservers: dict[str, nameserver.Nameserver] | None = None
