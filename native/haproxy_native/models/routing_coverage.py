# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictFloat, StrictInt

from . import explained_line


class RoutingCoverage(Model):
    """Which rules the cases reach."""

    rules: StrictInt
    """So many rules there are."""
    reached: StrictInt
    """So many apply in one case at least."""
    share: StrictFloat | None = None
    """The part that is reached, from 0 to 1; absent where there is no rule."""
    unreached: list[explained_line.ExplainedLine]
    """The others, in the order of their lines."""
