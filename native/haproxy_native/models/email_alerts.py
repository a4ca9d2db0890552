# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import email_alert


class EmailAlerts(RootModel[list[email_alert.EmailAlert]]):
    """Several of them."""

    root: list[email_alert.EmailAlert]
