# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt

from . import reload_cause


class ReloadAdvice(Model):
    """What the reloads that are remembered were for."""

    advice: list[reload_cause.ReloadCause]
    """The causes, the most frequent first; a reload may have several."""
    reloads: StrictInt
    """How many reloads had a reason."""
