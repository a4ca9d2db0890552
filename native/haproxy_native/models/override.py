# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictStr


class Override(Model):
    """One member of a server that is not in the process what the configuration says."""

    object: StrictStr
    """Name of the server, as in backend/shop/server/web1."""
    member: Literal['admin_state', 'weight', 'address', 'port']
    """What was changed."""
    value: Any
    """What it is."""
    former: Any
    """What it was before."""
    source: Literal['api', 'outside']
    """Whether this server keeps it over reloads, or others have set it."""
    since: AwareDatetime | None = None
    """When it was changed; absent where others have."""
    in_new_worker: Literal['from_start', 'after_start'] | None = None
    """Whether the next worker begins with it or gets it a moment after its start; absent where others have set it."""
    author: StrictStr | None = None
    """Who has changed it."""
