# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictBool, StrictStr

from . import haproxy_message, reload_reason, sent_file_plan


class Plan(Model):
    commands: list[StrictStr]
    diff: StrictStr
    files: list[sent_file_plan.SentFilePlan] | None = None
    messages: list[haproxy_message.HaproxyMessage]
    reasons: list[reload_reason.ReloadReason]
    reload: StrictBool
    valid: StrictBool
