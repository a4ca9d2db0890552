# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import AwareDatetime, Field, StrictBool, StrictInt, StrictStr

from . import reload_change, reload_reason


class ReloadRecord(Model):
    """Everything that is known about one reload."""

    changes: list[reload_change.ReloadChange] | None = None
    """After a failure: the changes of the configuration that HAProxy had not loaded, in their order."""
    continued_in: StrictStr | None = None
    """Id of the reload that does the work of this one, and has its outcome."""
    differences: list[StrictStr] | None = None
    """After a success: what servers do otherwise than the configuration says, since HAProxy has read a server-state file."""
    ended: AwareDatetime | None = None
    """When its outcome was known."""
    error: StrictStr | None = None
    """Why it failed in short."""
    id: Annotated[StrictStr, Field(pattern='^\\d{4}-\\d{2}-\\d{2}-\\d+$')]
    """Date and number of the reload."""
    pid_after: StrictInt | None = None
    """Process id of the worker that answers since."""
    pid_before: StrictInt | None = None
    """Process id of the worker that answered before."""
    reasons: list[reload_reason.ReloadReason]
    """Why it was needed."""
    refused: StrictStr | None = None
    """The configuration that HAProxy did not take; only after a failure."""
    requested: AwareDatetime
    """When it was first asked for."""
    response: StrictStr | None = None
    """What HAProxy said, or what a reload in progress waits for."""
    rest_reload_id: StrictStr | None = None
    """After a failure: id of the reload that loads the changes that were kept, where they need one."""
    restored_version: StrictInt | None = None
    """Version under which the running configuration was put back after a failure, or that without the changes taken back."""
    started: AwareDatetime | None = None
    """When HAProxy was made to read the file."""
    status: Literal['failed', 'in_progress', 'succeeded']
    """How far it is."""
    origins: list[dict[str, StrictStr]] | None = None
    """The requests that asked for it: their ids and, where they were sent, their traces."""
    verified: StrictBool
    """Whether a worker with a new process id was seen to answer."""
    version: StrictInt | None = None
    """Version of the configuration that was loaded."""
