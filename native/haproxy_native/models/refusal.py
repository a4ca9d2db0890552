# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr

from . import alert, ownership_conflict, routing_result, split_plan


class Refusal(Model):
    """What an error may have beside code and message, by its reason."""

    alerts: list[alert.Alert] | None = None
    """What HAProxy says."""
    author: StrictStr | None = None
    """Who has made the change that waits for its confirmation."""
    confirmation: StrictStr | None = None
    """The confirmation that is waited for."""
    conflicts: list[ownership_conflict.OwnershipConflict] | None = None
    """What others have changed or declared as well."""
    deleted: list[StrictStr] | None = None
    """What would be deleted."""
    failed_before: list[StrictStr] | None = None
    """Names of tests that fail without the change as well."""
    failed_tests: list[routing_result.RoutingResult] | None = None
    """Tests that the change breaks."""
    index: StrictInt | None = None
    """Place of the call in the batch."""
    place: dict[str, StrictStr] | None = None
    """Where it is: member, keyword, section and the like."""
    plan: split_plan.SplitPlan | None = None
    reload_id: StrictStr | None = None
    """The reload that failed. The change was rolled back."""
    remedy: StrictStr | None = None
    """What helps."""
    seconds_left: StrictInt | None = None
    """How long the confirmation is waited for."""
