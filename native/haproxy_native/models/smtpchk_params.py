# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class SmtpchkParams(Model):
    """Greeting of SMTP health checks (HAProxy Configuration Manual, section 4.2 \"option smtpchk\")."""

    domain: StrictStr | None = None
    """Name that is presented to the mail server."""
    hello: StrictStr | None = None
    """Word of the greeting, as EHLO."""
