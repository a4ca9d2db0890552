# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import mailer_entry


class MailerEntries(RootModel[list[mailer_entry.MailerEntry]]):
    """All of one section, in order."""

    root: list[mailer_entry.MailerEntry]
