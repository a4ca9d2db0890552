# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictBool, StrictStr

from . import reload_reason


class SentFilePlan(Model):
    store: StrictStr
    name: StrictStr
    diff: StrictStr | None = None
    commands: list[StrictStr]
    reasons: list[reload_reason.ReloadReason]
    reload: StrictBool
