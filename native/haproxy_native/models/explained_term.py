# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import explained_line


class ExplainedTerm(Model):
    """A part of a condition that holds."""

    term: StrictStr
    """The name of an ACL, or an ACL without a name."""
    acl: list[explained_line.ExplainedLine]
    """The lines of that ACL."""
