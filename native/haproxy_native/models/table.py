# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class Table(Model):
    """A stick table of a peers section, one table line (HAProxy Configuration Manual 2.6, section 3.5)."""

    expire: Annotated[StrictStr | None, Field(pattern='^\\d+(ms|s|m|h|d)?$')] = None
    """Time after which an unused entry is dropped."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    name: StrictStr
    """Name of the table."""
    no_purge: StrictBool | None = None
    """Whether a full table takes no new entries instead of dropping old ones."""
    recv_only: StrictBool | None = None
    """Whether entries change by what peers send only."""
    size: Annotated[StrictStr | None, Field(pattern='^\\d+(k|K|m|M|g|G)?$')] = None
    """Entries at most."""
    store: StrictStr | None = None
    """Data kept in each entry, with commas."""
    type: Literal['ip', 'integer', 'string', 'binary'] | None = None
    """Type of the keys."""
    type_len: StrictInt | None = None
    """Bytes of a key, for string and binary."""
    write_to: StrictStr | None = None
    """Table to which updates go as well."""
