# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import AwareDatetime, Field, StrictBool, StrictInt, StrictStr

from . import weights_additional_property


class Split(Model):
    """How traffic is divided between backends of one mode."""

    name: StrictStr | None = None
    """Name of the split."""
    by: Annotated[
        StrictStr, Field(pattern='^(random|source|(cookie|header):[A-Za-z0-9_.-]+)$')
    ]
    """What distinguishes requests: one with the same key stays with its backend, one without a key is random."""
    weights: dict[str, weights_additional_property.WeightsAdditionalProperty]
    """Weight of each backend by its name, in any sum."""
    shares: dict[str, StrictInt] | None = None
    """Parts of a hundred by backend."""
    since: AwareDatetime | None = None
    """When it was last changed."""
    used_by: list[StrictStr] | None = None
    """Frontends that ask it."""
    file: StrictStr | None = None
    """Path of the map."""
    requests: dict[str, StrictInt] | None = None
    """Requests of each backend since the last change, in mode tcp connections; absent while HAProxy does not answer."""
    complete: StrictBool | None = None
    """Whether requests counts all workers: false where one of them has ended."""
