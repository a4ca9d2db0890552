# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictStr

from . import explain_question, routing_expectation


class RoutingCase(Model):
    """A request, and what is to become of it."""

    name: Annotated[StrictStr | None, Field(max_length=200)] = None
    """What reports call it; the request without it."""
    request: explain_question.ExplainQuestion
    expect: routing_expectation.RoutingExpectation
