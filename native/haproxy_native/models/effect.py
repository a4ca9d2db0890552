# Generated from openapi/ by `make generate`; do not edit.

from typing import Any

from haproxy_native.models import Model
from pydantic import StrictStr


class Effect(Model):
    """One member of one object that changes, or a whole object that comes or goes."""

    object: StrictStr
    """Kind and name, as in backend/shop/server/web1; a rule has its position. In names, / is %2F, * is %2A and % is %25."""
    member: StrictStr | None = None
    """Member that changes, or lines for what no member expresses. Absent for a whole object."""
    old: Any | None = None
    """Value before the change; absent where there was none."""
    new: Any | None = None
    """Value after the change; absent where there is none."""
