# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class LintFinding(Model):
    """One line that is probably a mistake."""

    id: StrictStr
    """Name of the check, as comments have it that switch it off."""
    severity: Literal['error', 'warning', 'note']
    """How bad it is: an error does not do what it says, a warning fails or is misused one day."""
    object: StrictStr
    """Section or stored file that the line is in."""
    file: StrictStr
    """Path of the file."""
    line: Annotated[StrictInt, Field(ge=1)]
    """Line of the file, from 1."""
    section: StrictStr | None = None
    """Kind and name of the section. Absent for a stored file that no line names."""
    text: StrictStr | None = None
    """The line of the configuration, without secrets. Absent for a stored file that no line names."""
    what: StrictStr
    """What is the matter with it."""
    reason: StrictStr
    """Why that matters."""
    mend: StrictStr
    """What to do."""
    new_line: StrictStr | None = None
    """What may stand in the place of the line."""
