# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import acls
from . import event as event_1


class SpoeMessage(Model):
    acl: acls.Acls | None = None
    args: StrictStr | None = None
    event: event_1.Event | None = None
    name: StrictStr
