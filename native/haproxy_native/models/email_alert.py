# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class EmailAlert(Model):
    """What is mailed when servers change their state (HAProxy Configuration Manual, section 3.6 \"mailers\")."""

    from_: Annotated[StrictStr, Field(alias='from', pattern='^\\S+@\\S+$')]
    """Sender of the mails."""
    level: Literal['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] | None = (
        None
    )
    """Least important level that is mailed."""
    mailers: StrictStr
    """Section that names the mail servers."""
    metadata: dict[str, Any] | None = None
    """Accepted and not kept."""
    myhostname: StrictStr | None = None
    """Host name in the greeting of the mail server."""
    to: Annotated[StrictStr, Field(pattern='^\\S+@\\S+$')]
    """Recipients of the mails."""
