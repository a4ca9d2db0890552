# Generated from openapi/ by `make generate`; do not edit.

from typing import Any

from haproxy_native.models import Model
from pydantic import StrictBool, StrictFloat, StrictStr

from . import explained_rule


class RoutingResult(Model):
    """What became of a case."""

    test: StrictStr | None = None
    """The test that it is in."""
    name: StrictStr
    """What it is called."""
    passed: StrictBool
    """Whether all is as expected."""
    seconds: StrictFloat
    """How long it took."""
    reason: StrictStr | None = None
    """What is not as expected, or why it cannot be asked."""
    request: dict[str, Any]
    """The request."""
    expect: dict[str, Any]
    """What was expected."""
    got: dict[str, Any] | None = None
    """What became of the request, in the members of expect."""
    rules: list[explained_rule.ExplainedRule] | None = None
    """The rules that apply, in their order."""
