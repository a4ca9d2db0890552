# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class Reference(Model):
    """One place that names an object."""

    object: StrictStr
    """Section or stored file that the place is in; file for another file, whose text is not shown."""
    file: StrictStr
    """Path of the file."""
    line: Annotated[StrictInt, Field(ge=1)]
    """Line of the file, from 1."""
    section: StrictStr | None = None
    """Header of the section that the line stands in."""
    text: StrictStr | None = None
    """The line."""
    how: Literal['definition', 'header', 'line', 'argument', 'pattern', 'condition', 'stick table', 'implicit', 'map', 'map value', 'file', 'its directory', 'script', 'list'] | None = (
        None
    )
    """How it names the object: map is a line that asks a map with such a value, implicit a proxy that takes its defaults from the place."""
    why: StrictStr | None = None
    """Why it cannot be followed."""
