# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import acls
from . import event as event_1


class SpoeMessage(Model):
    """What is sent to an agent and when, one spoe-message section of a SPOE file (SPOE.txt, section 2.3)."""

    acl: acls.Acls | None = None
    """Tests that the condition of the event may name."""
    args: StrictStr | None = None
    """Samples that are sent, with blanks, each may have a name and = in front."""
    event: event_1.Event | None = None
    """The event on which the message is sent."""
    name: StrictStr
    """Name of the message."""
