# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class DriftDifference(Model):
    """One member of one object, or a whole object, that two of the three tell differently; a value that is not there is absent."""

    object: StrictStr
    """Its name, as in backend/shop/server/web1."""
    member: StrictStr | None = None
    """The member, absent for a whole object; content of a map, an ACL or a certificate, whose values are digests."""
    cause: Literal['pending', 'not_loaded', 'override', 'outside', 'state_file']
    """A reload is due; none is; an override; a change by others, in the process or in a stored file; or a value that HAProxy has read from its server-state file."""
    file: Any | None = None
    """Its value in the file."""
    running: Any | None = None
    """Its value in what the worker has loaded."""
    worker: Any | None = None
    """Its value in the worker."""
